#include "tests/optima/wide/proof.h"

#include "tests/optima/bracket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The variable of number A of a row; m: a number that follows from others or belongs to another
 * problem. */
static size_t variable_of(const struct task *task, size_t number, size_t row, size_t a) {
    const struct trial *trial = task->trial;
    if (trial->family == SMM) {
        return a == number + 1 ? row : task->m;
    }
    if (trial->family == MC) {
        return mc_variable(task, row, a - 1);
    }
    for (size_t p = 0; trial->family == RANK && p < task->n_pairs; p++) {
        if (task->pair[p].better == row && task->pair[p].worse == a - 1) {
            return p;
        }
    }
    for (size_t i = 0; trial->family == TOP && a == 1 && i < task->n_positive; i++) {
        if (task->positive[i] == row) {
            return i;
        }
    }
    for (size_t j = 0; trial->family == TOP && a == 2 && j < task->n_top; j++) {
        if (task->top[j] == row && task->n_positive + j < task->m) {
            return task->n_positive + j;
        }
    }
    return task->m;
}

/* Reads the line of a row: `ROW A:VALUE ...`. */
static void read_row(const struct task *task, size_t number, const char *line, num *a) {
    char *end;
    size_t row = strtoul(line, &end, 10) - 1;
    for (const char *at = end; row < task->trial->n && *at == ' '; at = end) {
        size_t variable = variable_of(task, number, row, strtoul(at, &end, 10));
        double value = *end == ':' ? strtod(end + 1, &end) : 0;
        if (variable < task->m) {
            a[variable] = n_of(value);
        }
    }
}

/* top: sets the variable on which caps depend, the sum of the alphas. */
static void set_level(const struct task *task, num *a) {
    num sum = n_of(0);
    for (size_t i = 0; i < task->n_positive; i++) {
        sum = n_add(sum, a[i]);
    }
    if (task->trial->family == TOP && task->level > 0) {
        a[task->level] = sum;
    }
}

/* Reads a (m), the task's dual variables of problem `number` of the trial. False if there are
 * none. */
static bool read_point(const struct task *task, size_t number, const char *path, num *a) {
    const struct trial *trial = task->trial;
    bool scores = trial->family == RANK && !trial_is(trial, PAIR_FEATURES, 1), body = false;
    FILE *file = trial->family == ML || scores ? NULL : fopen(path, "r");
    char line[4096];
    while (file && fgets(line, sizeof line, file) && strncmp(line, "end ", 4) != 0) {
        if (body) {
            read_row(task, number, line, a);
        }
        body = body || strcmp(line, "dual\n") == 0;
    }
    if (file) {
        fclose(file);
        set_level(task, a);
    }
    return body;
}

num proof_bound(const struct trial *trial, const char *path) {
    num sum = n_of(0);
    for (size_t number = 0; number < task_count(trial); number++) {
        struct task *task = task_create(trial, number);
        num *a = task ? n_zeros(task->m) : NULL;
        bool read = task && read_point(task, number, path, a);
        sum = read ? n_add(sum, bracket_of_point(task, a)) : sum;
        free(a);
        task_free(task);
    }
    return sum;
}
