/* measure RUNS FOLDER COMMAND... [::: COMMAND...]
 *
 * Runs commands in turn, RUNS rounds of all of them, so that a noisy minute meets each alike.
 * Prints a line for each: median wall seconds, median user seconds, largest peak memory in MiB,
 * exit status of the worst run. Output of command N goes to FOLDER/N.out (of the last round). Last
 * commands whose name is empty are left out. */
#define _GNU_SOURCE /* wait4 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_COMMANDS = 16, MOST_RUNS = 100 };

struct command {
    char **argv;
    double wall[MOST_RUNS], user[MOST_RUNS];
    double peak;
    int status;
};

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, compare);
    return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In the child: never returns. */
static void execute(char **argv, const char *output) {
    int in = open("/dev/null", O_RDONLY);
    int out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (in >= 0 && out >= 0 && dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(out, 2) >= 0) {
        execvp(argv[0], argv);
        fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
    }
    _exit(127);
}

static int run(struct command *command, int round, const char *output) {
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        execute(command->argv, output);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("measure");
        return -1;
    }
    command->wall[round] = now() - start;
    command->user[round] = (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
    double peak = (double)usage.ru_maxrss / 1024;
    command->peak = peak > command->peak ? peak : command->peak;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    command->status = code > command->status ? code : command->status;
    return 0;
}

int main(int argc, char **argv) {
    static struct command commands[MOST_COMMANDS];
    char *end = NULL;
    long runs = argc > 3 ? strtol(argv[1], &end, 10) : 0;
    if (runs < 1 || runs > MOST_RUNS || *end != '\0') {
        fprintf(stderr, "usage: measure RUNS FOLDER COMMAND... [::: COMMAND...]\n");
        return 2;
    }
    int n = 0;
    commands[n++].argv = argv + 3;
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], ":::") == 0) {
            if (n == MOST_COMMANDS || i + 1 == argc) {
                fprintf(stderr, "measure: at most %d commands, none empty\n", MOST_COMMANDS);
                return 2;
            }
            argv[i] = NULL;
            commands[n++].argv = argv + i + 1;
        }
    }
    while (n > 0 && commands[n - 1].argv[0][0] == '\0') {
        n--;
    }
    for (int round = 0; round < runs; round++) {
        for (int i = 0; i < n; i++) {
            char output[4096];
            if (snprintf(output, sizeof output, "%s/%d.out", argv[2], i + 1) >=
                    (int)sizeof output ||
                run(&commands[i], round, output)) {
                return 1;
            }
        }
    }
    for (int i = 0; i < n; i++) {
        printf("%.3f %.3f %.1f %d\n", median(commands[i].wall, (int)runs),
               median(commands[i].user, (int)runs), commands[i].peak, commands[i].status);
    }
    return 0;
}
