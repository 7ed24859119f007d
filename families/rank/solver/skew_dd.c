/* F = 2 K S K in double-double, one pass per row that occurs in a pair (skew_dd.h). */
#include "families/rank/solver/skew_dd.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/double_double/dd.h"

#include <stdlib.h>
#include <string.h>

double skew_rounding(size_t n) {
    const double unit = 0x1p-106;
    return 8 * ((double)n + 4) * unit; /* 3 units for a sum, 5 for a product: at most 6 n + 4 */
}

/* The exponent e of the largest |x|: it is between 2^e and 2^(e+1). Scaling by it keeps the errors
 * of small products from underflowing. */
static int exponent_of(const double *x, size_t n) {
    const int max_exponent = 1000; /* 2^-1000 and 2^1000 are both finite and normal */
    double largest = array_largest(x, n);
    int exponent = largest > 0 && isfinite(largest) ? ilogb(largest) : 0;
    return exponent < -max_exponent  ? -max_exponent
           : exponent > max_exponent ? max_exponent
                                     : exponent;
}

struct task {
    const struct skew *skew;
    double *s;
    double scale;           /* K times scale is about 1 */
    int exponent;           /* margins are scaled back by 2^exponent */
    struct skew_pair *used; /* the pairs with b != 0 */
    double *weight;         /* their b, scaled */
    size_t n_used;
    struct dd *line;   /* (workers, n) work */
    uint32_t *touched; /* (workers, n) work */
};

static struct dd kernel_of(const struct task *task, size_t i, size_t j) {
    const struct skew *skew = task->skew;
    size_t at = i * skew->n + j;
    return (struct dd){task->scale * skew->K[at], skew->K_low ? task->scale * skew->K_low[at] : 0};
}

/* Computes row i of K S, then its products with the columns of K of the pairs (i, j). */
static void multiply_row(void *argument, size_t i, size_t worker) {
    const struct task *task = argument;
    const struct skew *skew = task->skew;
    size_t n = skew->n, n_touched = 0;
    struct dd *line = task->line + worker * n;
    uint32_t *touched = task->touched + worker * n;
    if (skew->first[i] == skew->first[i + 1]) {
        return;
    }
    memset(line, 0, n * sizeof *line);
    for (size_t p = 0; p < task->n_used; p++) {
        struct skew_pair pair = task->used[p];
        struct dd b = {task->weight[p], 0};
        struct dd low = dd_multiply(b, kernel_of(task, i, pair.high));
        struct dd high = dd_multiply(b, kernel_of(task, i, pair.low));
        line[pair.low] = dd_add(line[pair.low], low);
        line[pair.high] = dd_add(line[pair.high], dd_negative(high));
    }
    for (size_t v = 0; v < n; v++) {
        if (line[v].hi != 0) {
            touched[n_touched++] = (uint32_t)v;
        }
    }
    for (size_t p = skew->first[i]; p < skew->first[i + 1]; p++) {
        struct dd sum = {0, 0};
        for (size_t t = 0; t < n_touched; t++) {
            struct dd value = kernel_of(task, skew->pair[p].low, touched[t]);
            sum = dd_add(sum, dd_multiply(line[touched[t]], value));
        }
        task->s[p] = ldexp(2 * sum.hi, task->exponent);
    }
}

int skew_margins(const struct skew *skew, const double *b, double *s, struct error *err) {
    size_t n = skew->n, n_pairs = skew->first[n], workers = threads_count(skew->threads);
    int of_b = exponent_of(b, n_pairs), of_K = exponent_of(skew->K, n * n);
    double scale = ldexp(1, -of_b);
    struct task task = {
        .skew = skew, .s = s, .scale = ldexp(1, -of_K), .exponent = of_b + 2 * of_K};
    void *block = ARRAYS_CREATE("a certificate", err, ARRAYS(n_pairs, struct skew_pair, &task.used),
                                ARRAYS(n_pairs, double, &task.weight),
                                ARRAYS(workers * n, struct dd, &task.line),
                                ARRAYS(workers * n, uint32_t, &task.touched));
    for (size_t p = 0; block && p < n_pairs; p++) {
        if (b[p] != 0) {
            task.weight[task.n_used] = scale * b[p];
            task.used[task.n_used++] = skew->pair[p];
        }
    }
    if (!block) {
        return -1;
    }
    threads_run(skew->threads, n, multiply_row, &task);
    free(block);
    return 0;
}
