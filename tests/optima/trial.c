#define _POSIX_C_SOURCE 200809L /* strtok_r */

/* Reading, writing and reduction of trials. */
#include "tests/optima/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const family_name[FAMILIES] = {"rank", "top", "mc", "ml", "smm"};

/* Names in the order of the options; GAP_HIGH has no name of its own. */
static const char *const name[OPTIONS] = {
    "formulation", "cost",          "lambda",    "loss",    "kernel", "degree", "gamma",
    "coef0",       "bias",          "free-bias", "epsilon", "solver", "cache",  "threads",
    "max-iter",    "seed",          "shrinking", "top-k",   "tau",    "theta",  "margin-scale",
    "cost-per",    "pair-features", "step",      "rank-gap"};

size_t trial_width(const struct trial *trial) {
    size_t width = 0;
    for (size_t i = 0; i < trial->n; i++) {
        for (size_t j = 0; j < trial->n_features; j++) {
            width = trial->x[i][j] != 0 && j + 1 > width ? j + 1 : width;
        }
    }
    return width;
}

double trial_option(const struct trial *trial, enum option option) {
    static const double initial[OPTIONS] = {
        [COST] = 1,       [THETA] = 1,  [MARGIN_SCALE] = 1, [GAP_LOW] = 1,
        [EPSILON] = 1e-3, [DEGREE] = 3, [TOP_K] = 5,        [GAP_HIGH] = (double)INFINITY};
    size_t width = option == GAMMA && !trial->given[GAMMA] ? trial_width(trial) : 0;
    return trial->given[option] ? trial->option[option]
           : option == TAU      ? (trial->family == TOP ? 0.05 : 1)
           : option == GAMMA    ? 1 / (double)(width ? width : 1)
                                : initial[option];
}

bool trial_is(const struct trial *trial, enum option option, double value) {
    return trial_option(trial, option) == value;
}

/* The text of a label. */
static const char *label_text(const struct trial *trial, unsigned label) {
    static const char *const binary[] = {"-1", "1"};
    static const char *const many[] = {"1", "2", "3", "4", "5", "6"};
    return trial->family == TOP ? binary[label] : many[label];
}

/* ---- writing ---- */

void trial_command(const struct trial *trial, const char *rows, const char *weights, FILE *file) {
    fprintf(file, "svm-%s-train -q", family_name[trial->family]);
    for (int o = 0; o < OPTIONS; o++) {
        if (!trial->given[o] || o == GAP_HIGH) {
            continue;
        }
        fprintf(file, " --%s", name[o]);
        if (o == GAP_LOW) {
            fprintf(file, " %g:%g", trial->option[o], trial_option(trial, GAP_HIGH));
        } else if (o != FREE_BIAS) {
            fprintf(file, " %.17g", trial->option[o]);
        }
    }
    for (unsigned label = 0; label < MAX_LABELS; label++) {
        if (trial->weighted[label]) {
            fprintf(file, " --weight %s:%.17g", label_text(trial, label),
                    trial->label_weight[label]);
        }
    }
    if (trial->family == SMM) {
        fprintf(file, " --shape %zux%zu", trial->matrix_rows,
                trial->n_features / trial->matrix_rows);
    }
    if (trial->row_weights) {
        fprintf(file, " --row-weights %s", weights);
    }
    fprintf(file, " %s\n", rows);
}

static void write_label(const struct trial *trial, size_t i, FILE *file) {
    if (trial->family == RANK) {
        fprintf(file, "%.17g qid:%u", trial->target[i], trial->query[i] + 1);
    } else if (trial->family != ML) {
        fputs(label_text(trial, trial->label[i]), file);
    }
    const char *between = "";
    for (unsigned label = 0; trial->family == ML && label < MAX_LABELS; label++) {
        if (trial->label[i] >> label & 1) {
            fprintf(file, "%s%s", between, label_text(trial, label));
            between = ",";
        }
    }
}

int trial_write(const struct trial *trial, const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) {
        return -1;
    }
    fputs("# ", file);
    trial_command(trial, "ROWS", "WEIGHTS", file);
    for (size_t i = 0; i < trial->n; i++) {
        write_label(trial, i, file);
        if (trial_is(trial, KERNEL, PRECOMPUTED)) {
            fprintf(file, " 0:%zu", i + 1);
        }
        /* a line without labels and values would be no row */
        bool unlabelled = trial->family == ML && trial->label[i] == 0;
        for (size_t j = 0; j < trial->n_features; j++) {
            if (trial->x[i][j] != 0 || trial_is(trial, KERNEL, PRECOMPUTED) ||
                (unlabelled && j == 0)) {
                fprintf(file, " %zu:%.9g", j + 1, trial->x[i][j]);
            }
        }
        if (trial->row_weights) {
            fprintf(file, " # %.17g", trial->weight[i]);
        }
        fputc('\n', file);
    }
    return fclose(file);
}

/* ---- reading ---- */

/* Reads the label at the start of a text, up to its end or a colon. */
static bool read_label_number(const struct trial *trial, const char *text, unsigned *number) {
    for (unsigned label = 0; label < (trial->family == TOP ? 2 : MAX_LABELS); label++) {
        const char *known = label_text(trial, label);
        size_t length = strcspn(text, ":");
        if (length == strlen(known) && strncmp(text, known, length) == 0) {
            *number = label;
            return true;
        }
    }
    return false;
}

static bool read_option(struct trial *trial, const char *word, const char *value) {
    unsigned label;
    if (strcmp(word, "weight") == 0) {
        const char *colon = strchr(value, ':');
        if (!colon || !read_label_number(trial, value, &label)) {
            return false;
        }
        trial->weighted[label] = true;
        trial->label_weight[label] = strtod(colon + 1, NULL);
        return true;
    }
    if (strcmp(word, "shape") == 0) {
        char *end;
        trial->matrix_rows = strtoul(value, &end, 10);
        trial->n_features = *end == 'x' ? trial->matrix_rows * strtoul(end + 1, NULL, 10) : 0;
        return trial->matrix_rows > 0 && trial->n_features <= MAX_FEATURES;
    }
    if (strcmp(word, "row-weights") == 0) {
        trial->row_weights = true;
        return true;
    }
    for (int o = 0; o < OPTIONS; o++) {
        if (o != GAP_HIGH && strcmp(word, name[o]) == 0) {
            char *end;
            trial->given[o] = true;
            trial->option[o] = o == FREE_BIAS ? 1 : strtod(value, &end);
            if (o == GAP_LOW && *end == ':') {
                trial->given[GAP_HIGH] = true;
                trial->option[GAP_HIGH] = strtod(end + 1, NULL);
            }
            return true;
        }
    }
    return false;
}

static bool read_command(struct trial *trial, char *line) {
    char *rest, *word = strtok_r(line, " \n", &rest);
    word = word ? strtok_r(NULL, " \n", &rest) : NULL; /* after the # */
    bool known = false;
    for (int f = 0; word && f < FAMILIES; f++) {
        if (strncmp(word, "svm-", 4) == 0 &&
            strncmp(word + 4, family_name[f], strlen(family_name[f])) == 0) {
            trial->family = (enum family)f;
            known = true;
        }
    }
    while (known && (word = strtok_r(NULL, " \n", &rest))) {
        if (strncmp(word, "--", 2) != 0) {
            continue; /* -q and the file */
        }
        char *value = strcmp(word, "--free-bias") == 0 ? word : strtok_r(NULL, " \n", &rest);
        if (!value || !read_option(trial, word + 2, value)) {
            return false;
        }
    }
    return known;
}

static bool read_row(struct trial *trial, char *line) {
    size_t i = trial->n++;
    char *comment = strchr(line, '#');
    trial->weight[i] = comment && trial->row_weights ? strtod(comment + 1, NULL) : 1;
    if (comment) {
        *comment = '\0';
    }
    bool first = line[0] != ' ';
    char *rest, *word = strtok_r(line, " \n", &rest);
    for (; word; word = strtok_r(NULL, " \n", &rest)) {
        char *colon = strchr(word, ':');
        if (!colon && first && trial->family == RANK) {
            trial->target[i] = strtod(word, NULL);
        } else if (!colon && first) {
            char *comma, *one = strtok_r(word, ",", &comma);
            for (; one; one = strtok_r(NULL, ",", &comma)) {
                unsigned label;
                if (!read_label_number(trial, one, &label)) {
                    return false;
                }
                trial->label[i] = trial->family == ML ? trial->label[i] | 1u << label : label;
            }
        } else if (colon && strncmp(word, "qid:", 4) == 0) {
            trial->query[i] = (unsigned)strtoul(colon + 1, NULL, 10) - 1;
        } else if (colon && strncmp(word, "0:", 2) != 0) {
            size_t j = strtoul(word, NULL, 10);
            if (j < 1 || j > MAX_FEATURES) {
                return false;
            }
            trial->x[i][j - 1] = (double)strtof(colon + 1, NULL);
            trial->n_features = j > trial->n_features ? j : trial->n_features;
        }
        first = false;
    }
    return true;
}

bool trial_read(struct trial *trial, const char *path) {
    FILE *file = fopen(path, "r");
    char line[4096];
    *trial = (struct trial){0};
    bool good = file && fgets(line, sizeof line, file) && read_command(trial, line);
    while (good && fgets(line, sizeof line, file)) {
        good = trial->n < MAX_ROWS && read_row(trial, line);
    }
    if (file) {
        fclose(file);
    }
    if (!good) {
        fprintf(stderr, "%s: not a trial\n", path);
    }
    return good;
}

/* ---- reduction ---- */

void trial_drop_row(struct trial *trial, size_t i) {
    size_t left = trial->n - i - 1;
    memmove(trial->x[i], trial->x[i + 1], left * sizeof trial->x[0]);
    memmove(trial->target + i, trial->target + i + 1, left * sizeof trial->target[0]);
    memmove(trial->label + i, trial->label + i + 1, left * sizeof trial->label[0]);
    memmove(trial->query + i, trial->query + i + 1, left * sizeof trial->query[0]);
    memmove(trial->weight + i, trial->weight + i + 1, left * sizeof trial->weight[0]);
    trial->n--;
    if (trial_is(trial, KERNEL, PRECOMPUTED)) {
        trial_drop_feature(trial, i);
    }
}

void trial_drop_feature(struct trial *trial, size_t j) {
    for (size_t i = 0; i < trial->n; i++) {
        memmove(trial->x[i] + j, trial->x[i] + j + 1,
                (trial->n_features - j - 1) * sizeof trial->x[0][0]);
    }
    trial->n_features--;
}
