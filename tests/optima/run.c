#define _POSIX_C_SOURCE 200809L /* fork, alarm */

#include "tests/optima/run.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT = 30, NAME = 500, WORDS = 100 }; /* seconds; no trial needs a tenth of one */
#define OBEYED "15"                           /* seconds, --max-time of a chosen solver */

static void read_file(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, size - 1, file) : 0;
    text[length] = '\0';
    if (file) {
        fclose(file);
    }
}

/* Splits the command into words, in place. */
static void split(char *text, char **words) {
    char *rest, *word = strtok_r(text, " \n", &rest);
    size_t n = 0;
    for (; word && n + 1 < WORDS; word = strtok_r(NULL, " \n", &rest)) {
        words[n++] = word;
    }
    words[n] = NULL;
}

static void become(const char *bin, char **words, const char *folder) {
    char program[NAME], out[NAME], err[NAME];
    snprintf(program, sizeof program, "%s/%s", bin, words[0]);
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(err, sizeof err, "%s/err", folder);
    int files[3] = {open("/dev/null", O_RDONLY), open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600),
                    open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600)};
    for (int f = 0; f < 3; f++) {
        if (files[f] < 0 || dup2(files[f], f) < 0) {
            _exit(126);
        }
    }
    alarm(LIMIT);
    execv(program, words);
    _exit(127);
}

/* ---- the model ---- */

static bool starts(const char *line, const char *key) {
    return strncmp(line, key, strlen(key)) == 0;
}

static void read_header(struct answer *answer, const char *line) {
    if (starts(line, "primal ")) {
        answer->primal = strtod(line + 7, NULL);
    } else if (starts(line, "dual ")) {
        answer->dual = strtod(line + 5, NULL);
    } else if (starts(line, "gap ")) {
        answer->gap = starts(line, "gap none") ? NAN : strtod(line + 4, NULL);
    } else if (starts(line, "certified ")) {
        answer->certified = starts(line, "certified yes");
    } else if (starts(line, "bias ")) {
        const char *at = line + 5;
        for (size_t c = 0; c < MAX_LABELS; c++) {
            char *end;
            answer->bias[c] = strtod(at, &end);
            answer->outputs += end != at;
            at = end;
        }
    }
}

/* The row of the trial that equals a support vector: the first one that is not yet used, since sums
 * of coefficients would be rounded; if there is none, the first, which gives the same function.
 * taken (MAX_ROWS): used rows; may be NULL. */
static size_t find_row(const struct trial *trial, const char *text, const bool *taken) {
    double x[MAX_FEATURES] = {0};
    char *end;
    while (*text && *text != '\n') {
        size_t j = strtoul(text, &end, 10);
        double value = *end == ':' ? (double)strtof(end + 1, &end) : NAN;
        if (trial_is(trial, KERNEL, PRECOMPUTED)) {
            return (size_t)value - 1;
        }
        if (end == text || j < 1 || j > MAX_FEATURES) {
            break;
        }
        x[j - 1] = value;
        text = end + strspn(end, " ");
    }
    size_t first = MAX_ROWS;
    for (size_t i = 0; i < trial->n; i++) {
        size_t j = 0;
        while (j < trial->n_features && x[j] == trial->x[i][j]) {
            j++;
        }
        if (j == trial->n_features && !(taken && taken[i])) {
            return i;
        }
        first = j == trial->n_features && first == MAX_ROWS ? i : first;
    }
    return first;
}

/* Reads the body of a model. Its numbers are shortest decimal representations of doubles. */
static void read_body(const struct trial *trial, struct answer *answer, FILE *file) {
    char line[4096];
    size_t row = 0, k = 0;
    bool taken[MAX_ROWS] = {false};
    while (fgets(line, sizeof line, file) && !starts(line, "end ")) {
        real value[MAX_LABELS];
        char *at = line, *end;
        for (k = 0; k < MAX_LABELS; k++) {
            value[k] = strtod(at, &end);
            if (end == at || *end == ':') {
                break;
            }
            at = end;
        }
        at += strspn(at, " ");
        size_t i = answer->weights ? row : find_row(trial, at, taken);
        if (k == 0 || i >= MAX_ROWS) {
            return;
        }
        for (size_t c = 0; c < k; c++) {
            answer->value[i * k + c] += value[c];
        }
        answer->outputs = k;
        taken[i] = true;
        row++;
    }
    answer->complete = true;
}

/* Reads a model of pairs: support vectors, a line `pairs`, and a line of two row numbers and a
 * coefficient per pair. */
static void read_pairs(const struct trial *trial, struct answer *answer, FILE *file) {
    char line[4096];
    size_t row[MAX_ROWS * MAX_ROWS], n = 0;
    while (fgets(line, sizeof line, file) && !starts(line, "pairs") && n < MAX_ROWS * MAX_ROWS) {
        row[n++] = find_row(trial, line, NULL);
    }
    while (fgets(line, sizeof line, file) && !starts(line, "end ")) {
        size_t u, v;
        double value;
        if (sscanf(line, "%zu %zu %lf", &u, &v, &value) == 3 && u - 1 < n && v - 1 < n &&
            answer->n_pairs < MAX_ROWS * MAX_ROWS) {
            size_t p = answer->n_pairs++;
            answer->pair[p].u = row[u - 1];
            answer->pair[p].v = row[v - 1];
            answer->pair[p].value = value;
        }
    }
}

static void read_model(const struct trial *trial, const char *path, struct answer *answer) {
    char line[4096];
    FILE *file = fopen(path, "r");
    answer->model = file;
    while (file && fgets(line, sizeof line, file)) {
        if (starts(line, "w\n") || starts(line, "SV\n")) {
            answer->weights = line[0] == 'w';
            read_body(trial, answer, file);
            break;
        }
        if (starts(line, "SV pairs")) {
            read_pairs(trial, answer, file);
            break;
        }
        read_header(answer, line);
    }
    if (file) {
        fclose(file);
    }
}

/* ---- the run ---- */

static int wait_for(pid_t child) {
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        return 126;
    }
    if (WIFSIGNALED(status)) {
        return WTERMSIG(status) == SIGALRM ? -2 : -1;
    }
    return WEXITSTATUS(status);
}

static void write_weights(const struct trial *trial, const char *path) {
    FILE *file = fopen(path, "w");
    for (size_t i = 0; file && i < trial->n; i++) {
        fprintf(file, "%.17g\n", trial->weight[i]);
    }
    if (file) {
        fclose(file);
    }
}

/* Conditional gradient stores no dual point. */
static bool has_proof(const struct trial *trial) {
    return trial->family == SMM || trial->family == ML || !trial->given[SOLVER] ||
           trial_option(trial, SOLVER) != 3;
}

static int run(const char *bin, char **words, const char *folder) {
    pid_t child = fork();
    if (child == 0) {
        become(bin, words, folder);
    }
    return wait_for(child);
}

static void check_proof(const char *bin, const char *folder, char *rows, char *model, char *proof,
                        struct answer *answer) {
    char path[NAME], report[1000], *words[] = {"svm-check", rows, model, proof, NULL};
    snprintf(path, sizeof path, "%s/svm-check", bin);
    if (access(proof, F_OK) < 0 || access(path, X_OK) < 0) {
        return;
    }
    answer->check = run(bin, words, folder);
    snprintf(path, sizeof path, "%s/out", folder);
    read_file(path, report, sizeof report);
    size_t end = strcspn(report, "\n");
    while (report[end] && report[end + 1]) {
        memmove(report, report + end + 1, strlen(report + end + 1) + 1);
        end = strcspn(report, "\n");
    }
    snprintf(answer->verdict, sizeof answer->verdict, "%.*s", (int)end, report);
}

void run_program(const struct trial *trial, const char *bin, const char *folder,
                 struct answer *answer) {
    char rows[NAME], weights[NAME], model[NAME], proof[NAME], path[NAME], command[4096];
    char *text[WORDS] = {NULL}, *words[WORDS + 5] = {NULL};
    size_t n = 0;
    snprintf(rows, sizeof rows, "%s/rows", folder);
    snprintf(weights, sizeof weights, "%s/weights", folder);
    snprintf(model, sizeof model, "%s/model", folder);
    snprintf(proof, sizeof proof, "%s/proof", folder);
    *answer = (struct answer){.primal = NAN, .dual = NAN, .gap = NAN};
    trial_write(trial, rows);
    write_weights(trial, weights);
    unlink(model);
    unlink(proof);
    FILE *file = fmemopen(command, sizeof command, "w");
    trial_command(trial, rows, weights, file);
    fprintf(file, " %s", model);
    fclose(file);
    split(command, text);
    words[n++] = text[0];
    if (has_proof(trial)) {
        words[n++] = "--proof";
        words[n++] = proof;
    }
    /* A chosen solver runs as long as its dual increases, possibly for hours, so it gets a time
     * limit. The default policy always ends. */
    if (trial->given[SOLVER]) {
        words[n++] = "--max-time";
        words[n++] = OBEYED;
    }
    memcpy(words + n, text + 1, (WORDS - 1) * sizeof *text);
    answer->exit = run(bin, words, folder);
    snprintf(path, sizeof path, "%s/out", folder);
    read_file(path, answer->report, sizeof answer->report);
    snprintf(path, sizeof path, "%s/err", folder);
    read_file(path, answer->said, sizeof answer->said);
    read_model(trial, model, answer);
    check_proof(bin, folder, rows, model, proof, answer);
}
