#include "solvers/rank/skew.h"

#include "common/base/memory.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

double skew_rounding(size_t n) {
    return 2 * ((double)n + 4) * (double)LDBL_EPSILON;
}

static long double kernel_of(const struct skew *skew, size_t i, size_t j) {
    size_t at = i * skew->n + j;
    return (long double)skew->K[at] + (long double)(skew->off ? skew->off[at] : 0);
}

struct task {
    const struct skew *skew;
    const double *b;
    double *s;
    struct skew_pair *used; /* the pairs with b != 0, ... */
    double *weight;         /* ... and that */
    size_t n_used;
    long double *line; /* (workers, n) work */
    uint32_t *touched; /* (workers, n) work */
};

/* Row i of K S, then its products with the columns of K that i has pairs with. */
static void multiply_row(void *argument, size_t i, size_t worker) {
    const struct task *task = argument;
    const struct skew *skew = task->skew;
    size_t n = skew->n, n_touched = 0;
    long double *line = task->line + worker * n;
    uint32_t *touched = task->touched + worker * n;
    if (skew->first[i] == skew->first[i + 1]) {
        return;
    }
    memset(line, 0, n * sizeof *line);
    for (size_t p = 0; p < task->n_used; p++) {
        struct skew_pair pair = task->used[p];
        line[pair.low] += task->weight[p] * kernel_of(skew, i, pair.high);
        line[pair.high] -= task->weight[p] * kernel_of(skew, i, pair.low);
    }
    for (size_t v = 0; v < n; v++) {
        if (line[v] != 0) {
            touched[n_touched++] = (uint32_t)v;
        }
    }
    for (size_t p = skew->first[i]; p < skew->first[i + 1]; p++) {
        long double sum = 0;
        for (size_t t = 0; t < n_touched; t++) {
            sum += line[touched[t]] * kernel_of(skew, skew->pair[p].low, touched[t]);
        }
        task->s[p] = (double)(2 * sum);
    }
}

int skew_margins(const struct skew *skew, const double *b, double *s, struct error *err) {
    size_t n = skew->n, n_pairs = skew->first[n], workers = threads_count(skew->threads);
    const char *what = "a certificate";
    struct task task = {.skew = skew, .b = b, .s = s};
    task.used = memory_array(n_pairs, sizeof *task.used, what, err);
    task.weight = memory_array(n_pairs, sizeof *task.weight, what, err);
    task.line = memory_array(workers, n * sizeof *task.line, what, err);
    task.touched = memory_array(workers, n * sizeof *task.touched, what, err);
    int status = task.used && task.weight && task.line && task.touched ? 0 : -1;
    for (size_t p = 0; status == 0 && p < n_pairs; p++) {
        if (b[p] != 0) {
            task.weight[task.n_used] = b[p];
            task.used[task.n_used++] = skew->pair[p];
        }
    }
    if (status == 0) {
        threads_run(skew->threads, n, multiply_row, &task);
    }
    free(task.used);
    free(task.weight);
    free(task.line);
    free(task.touched);
    return status;
}
