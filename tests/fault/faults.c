/* Runs commands with the k-th call of a kind failing, k = 1, 2, 3 ... until nothing is left to
 * fail, and looks at what is left behind. Each time there must be
 *   - exit code 0 and the outputs of a run without a fault, or
 *   - exit code 1, one line on standard error that begins with the program's name (and is no
 *     warning), and every output file as it was before;
 * and in both cases no other file. Where a rename fails, what was renamed before it may be new.
 * What a call may fail with and be survived (EINTR, a short read) must end with 0.
 *
 *   faults MODES SHIM [every | SEED SAMPLE]
 *
 * MODES: a command a line, with blanks between its words; `#` begins a comment. A word that begins
 * with `out.` is an output, `>FILE` one that no word names, `<FILE` standard input, and standard
 * output is one output more; of a file *.log and of the table of a sweep the column of seconds does
 * not count. It runs in the current folder, where the inputs are. SHIM: the library to preload, or
 * `-`: the programs have it in them, which know memory and threads only. With a sample, one of so
 * many faults is tried. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 64, OUTPUTS = 8, LINE = 4096, SECONDS = 60 };

struct fault {
    const char *call, *how; /* as the shim wants them */
    bool onwards;           /* also: from then on */
    bool survived;          /* exit code 0 is demanded */
};

static const struct fault faults[] = {
    {"memory", "12", false, false},  {"memory", "12", true, false},  {"thread", "11", false, false},
    {"thread", "11", true, false},   {"map", "12", true, false},     {"read", "5", false, false},
    {"read", "4", false, true},      {"read", "short", false, true}, {"read", "short", true, true},
    {"write", "5", false, false},    {"write", "28", true, false},   {"write", "4", false, true},
    {"write", "short", false, true}, {"write", "short", true, true}, {"open", "24", false, false},
    {"open", "24", true, false},     {"close", "5", false, false},   {"sync", "5", true, false},
    {"rename", "5", false, false},   {"link", "28", true, false},    {"link", "95", true, true}};

enum { N_FAULTS = sizeof faults / sizeof faults[0], OWN_FAULTS = 4 };

struct mode {
    char line[LINE], text[LINE];
    char *word[WORDS + 1];
    size_t n_words;
    const char *input;           /* NULL: none */
    const char *output[OUTPUTS]; /* files; standard output stands behind them */
    size_t n_outputs;
    char *expected[OUTPUTS + 1]; /* what each holds after a run without a fault */
};

static const char OLD[] = "what was there before\n", STANDARD[] = "stdout", SAID[] = "stderr",
                  FIRED[] = "fired";

static void die(const char *what) {
    fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* A file's bytes with a zero behind them, malloc'd; NULL where there is no file. */
static char *contents(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    size_t used = 0, room = 1 << 16, n;
    char *text = malloc(room + 1);
    while (text && (n = fread(text + used, 1, room - used, file)) > 0) {
        used += n;
        if (used == room) {
            text = realloc(text, 2 * room + 1);
            room *= 2;
        }
    }
    fclose(file);
    if (!text) {
        die(path);
    }
    text[used] = '\0';
    return text;
}

/* Takes the column of seconds out of a log, the second, or that behind the point and the fold. */
static void forget_seconds(char *text) {
    char *to = text;
    int column = 0, seconds = strncmp(text, "point\t", 6) == 0 ? 3 : 1;
    for (const char *from = text; *from; from++) {
        column = *from == '\n' ? 0 : column + (*from == '\t');
        if (column != seconds || *from == '\t') {
            *to++ = *from;
        }
    }
    *to = '\0';
}

/* The same of the table of a sweep, where it is the last but one, if the text begins with one. */
static void forget_table_seconds(char *text) {
    for (char *line = text; strncmp(text, "point\t", 6) == 0 && *line;) {
        char *end = line + strcspn(line, "\n"), *run = end;
        while (run > line && *run != '\t') {
            run--;
        }
        for (char *at = run - 1; at > line && *at != '\t'; at--) {
            *at = '-';
        }
        line = *end ? end + 1 : end;
    }
}

static bool is_log(const char *path) {
    return strlen(path) > 4 && strcmp(path + strlen(path) - 4, ".log") == 0;
}

static bool is_output(const struct mode *mode, const char *name) {
    for (size_t i = 0; i < mode->n_outputs; i++) {
        if (strcmp(name, mode->output[i]) == 0) {
            return true;
        }
    }
    return strcmp(name, STANDARD) == 0 || strcmp(name, SAID) == 0;
}

/* Removes files of a run that left them where it should not; counts them. */
static int strays(const struct mode *mode) {
    DIR *folder = opendir(".");
    int n = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        bool known = entry->d_name[0] != '.'
                         ? strncmp(entry->d_name, "out.", 4) != 0 || is_output(mode, entry->d_name)
                         : strncmp(entry->d_name, ".dualsvm", 8) != 0;
        if (!known) {
            unlink(entry->d_name);
            n++;
        }
    }
    closedir(folder);
    return n;
}

static bool parse(struct mode *mode, const char *line) {
    snprintf(mode->line, sizeof mode->line, "%s", line);
    snprintf(mode->text, sizeof mode->text, "%s", line);
    char *place = NULL;
    for (char *word = strtok_r(mode->text, " \n", &place); word && *word != '#';
         word = strtok_r(NULL, " \n", &place)) {
        if (*word == '<') {
            mode->input = word + 1;
            continue;
        }
        if (*word == '>') {
            mode->output[mode->n_outputs++] = word + 1;
            continue;
        }
        if (strncmp(word, "out.", 4) == 0) {
            mode->output[mode->n_outputs++] = word;
        }
        mode->word[mode->n_words++] = word;
    }
    mode->line[strcspn(mode->line, "\n")] = '\0';
    return mode->n_words > 0;
}

static void set(const char *name, const char *value) {
    if (value ? setenv(name, value, 1) : unsetenv(name)) {
        die(name);
    }
}

static void in_child(const struct mode *mode, const char *shim, const struct fault *fault,
                     unsigned long at, bool onwards) {
    char text[32];
    snprintf(text, sizeof text, "%lu", at);
    if (fault) {
        set("FAULT_CALL", fault->call);
        set("FAULT_HOW", fault->how);
        set("FAULT_AT", text);
        set("FAULT_ON", onwards ? "1" : "0");
        set("FAULT_FILE", FIRED);
        if (shim) {
            set("LD_PRELOAD", shim);
        }
    }
    int in = open(mode->input ? mode->input : "/dev/null", O_RDONLY);
    int out = open(STANDARD, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int said = open(SAID, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (in < 0 || out < 0 || said < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(said, 2) < 0) {
        _exit(126);
    }
    close(in);
    close(out);
    close(said);
    alarm(SECONDS);
    execvp(mode->word[0], mode->word);
    _exit(127);
}

/* Runs the command with all outputs as they were before; returns what waitpid gives. */
static int run(const struct mode *mode, const char *shim, const struct fault *fault,
               unsigned long at, bool onwards) {
    unlink(FIRED);
    for (size_t i = 0; i < mode->n_outputs; i++) {
        FILE *file = fopen(mode->output[i], "w");
        if (!file || fputs(OLD, file) < 0 || fclose(file) != 0) {
            die(mode->output[i]);
        }
    }
    pid_t child = fork();
    if (child == 0) {
        in_child(mode, shim, fault, at, onwards);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        die("fork");
    }
    return status;
}

static char *output_text(const struct mode *mode, size_t i) {
    const char *path = i < mode->n_outputs ? mode->output[i] : STANDARD;
    char *text = contents(path);
    if (text && is_log(path)) {
        forget_seconds(text);
    } else if (text) {
        forget_table_seconds(text);
    }
    return text;
}

/* Lines on standard error that are no warnings; -1: one does not begin with the program's name. */
static int diagnoses(const struct mode *mode) {
    size_t length = strlen(mode->word[0]);
    char *said = contents(SAID), *place = NULL;
    int n = 0;
    for (char *line = said ? strtok_r(said, "\n", &place) : NULL; line && n >= 0;
         line = strtok_r(NULL, "\n", &place)) {
        bool named = strncmp(line, mode->word[0], length) == 0 && line[length] == ':';
        n = named ? n + (strncmp(line + length, ": warning: ", 11) != 0) : -1;
    }
    free(said);
    return n;
}

/* What is wrong with what a run has left, or NULL. */
static const char *judge(struct mode *mode, int status, bool must_survive, bool renaming) {
    if (!WIFEXITED(status)) {
        return WTERMSIG(status) == SIGALRM ? "a hang" : "a signal";
    }
    if (strays(mode) > 0) {
        return "a file that is nobody's";
    }
    int code = WEXITSTATUS(status);
    if (code != 0 && (code != 1 || must_survive)) {
        return "the exit code";
    }
    for (size_t i = 0; i <= mode->n_outputs; i++) {
        char *text = output_text(mode, i);
        bool stream = i == mode->n_outputs;
        bool new = text &&strcmp(text, mode->expected[i]) == 0;
        bool right = new && (code == 0 || renaming);
        right |= code != 0 && (stream || (text && strcmp(text, OLD) == 0));
        free(text);
        if (!right) {
            return stream ? "standard output" : mode->output[i];
        }
    }
    return code == 0 || diagnoses(mode) == 1 ? NULL : "not one line of diagnosis";
}

/* A number from 0 on, the same for the same seed (splitmix64). */
static uint64_t draw(uint64_t *seed) {
    uint64_t z = *seed += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

struct tally {
    unsigned long tried, fired, survived, violations;
};

static void report(const struct mode *mode, const struct fault *fault, unsigned long at,
                   bool onwards, int status, const char *what) {
    char *said = contents(SAID);
    printf("violation: %s: %s %s number %lu%s: %s (status %d): %.300s\n", mode->line, fault->call,
           fault->how, at, onwards ? " and on" : "", what, status, said ? said : "");
    free(said);
}

/* All k of one fault, or one of `sample` of them. Stops where a number of calls in turn was not
 * reached: threads make their order, not their number, differ from run to run. */
static void try_fault(struct mode *mode, const char *shim, const struct fault *fault,
                      uint64_t *seed, uint64_t sample, struct tally *tally) {
    for (unsigned long at = 1 + (sample > 1 ? draw(seed) % sample : 0);;
         at += sample > 1 ? 1 + draw(seed) % (2 * sample - 1) : 1) {
        int status = run(mode, shim, fault, at, fault->onwards);
        bool fired = access(FIRED, F_OK) == 0;
        const char *wrong =
            judge(mode, status, fault->survived || !fired, strcmp(fault->call, "rename") == 0);
        tally->tried++;
        tally->fired += fired;
        tally->survived += fired && status == 0;
        if (wrong) {
            tally->violations++;
            report(mode, fault, at, fault->onwards, status, wrong);
        }
        if (!fired) {
            return;
        }
    }
}

static int learn(struct mode *mode) {
    strays(mode); /* outputs of the mode before */
    int status = run(mode, NULL, NULL, 0, false);
    for (size_t i = 0; i <= mode->n_outputs; i++) {
        mode->expected[i] = output_text(mode, i);
    }
    if (status != 0 || strays(mode) > 0) {
        char *said = contents(SAID);
        printf("violation: %s: without a fault it ends with %d: %s\n", mode->line, status,
               said ? said : "");
        free(said);
        return -1;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3 && argc != 5) {
        fprintf(stderr, "Usage: faults MODES SHIM [SEED SAMPLE]\n");
        return 2;
    }
    FILE *modes = fopen(argv[1], "r");
    if (!modes) {
        die(argv[1]);
    }
    const char *shim = strcmp(argv[2], "-") == 0 ? NULL : argv[2];
    uint64_t seed = argc == 5 ? strtoull(argv[3], NULL, 10) : 0;
    uint64_t sample = argc == 5 ? strtoull(argv[4], NULL, 10) : 1;
    struct tally tally = {0};
    unsigned long n_modes = 0;
    char line[LINE];
    while (fgets(line, sizeof line, modes)) {
        struct mode mode = {.n_words = 0};
        if (!parse(&mode, line)) {
            continue;
        }
        n_modes++;
        if (learn(&mode) < 0) {
            tally.violations++;
            continue;
        }
        for (size_t f = 0; f < (shim ? N_FAULTS : OWN_FAULTS); f++) {
            try_fault(&mode, shim, &faults[f], &seed, sample, &tally);
        }
        for (size_t i = 0; i <= mode.n_outputs; i++) {
            free(mode.expected[i]);
        }
    }
    fclose(modes);
    printf("%lu modes, %lu runs, %lu faults, of which %lu were survived; %lu violations\n", n_modes,
           tally.tried, tally.fired, tally.survived, tally.violations);
    return tally.violations > 0 || n_modes == 0;
}
