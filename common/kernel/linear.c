/* Products with X and its transpose. Each costs one multiply-add for each stored value and output.
 */
#include "common/kernel/linear.h"

#include "common/base/dispatch.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/base/vector.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* rows of a task of scores: with COLUMNS, they stay in cache for all outputs */
    TASK_ROWS = 256,
    COLUMNS = 512,
    MAX_SHORT_ROW = 64, /* features of a short dense row */
    LANES = VECTOR_BYTES / sizeof(double),
    /* from so many outputs on, short dense rows are multiplied row by row, as sparse ones */
    MIN_OUTPUTS_BY_ROW = 8,
    VECTORS = 4,     /* vectors of scores of a row, in registers */
    PREFETCH = 8,    /* the weights of features so far ahead in a sparse row are prefetched */
    TOGETHER = 4,    /* features of a sparse row that are added to few scores at a time */
    MAX_CHUNKS = 64, /* maximum number of chunks of a transposed product */
    MIN_CHUNK_VALUES = 1 << 15 /* minimum number of stored values of a chunk */
};

/* ---- scores ---- */

struct scores {
    const struct data *x;
    const double *w;
    size_t n_weights, n_outputs;
    double *scores;
    bool sizes; /* |X| is multiplied, not X; one output */
    /* (n_rows) the rows whose scores are computed, one output; NULL: all rows of x */
    const uint32_t *at;
    size_t n_rows;
};

static size_t row_of(const struct scores *s, size_t i) {
    return s->at ? s->at[i] : i;
}

/* The magnitudes of a block of values. */
typedef float block_sizes[VECTOR_ROWS][COLUMNS];

/* Replaces the rows by the magnitudes of their first n <= COLUMNS values. */
DISPATCH static void take_sizes(const float **row, size_t n, block_sizes room) {
    for (size_t k = 0; k < VECTOR_ROWS; k++) {
        for (size_t c = 0; c < n; c++) {
            room[k][c] = fabsf(row[k][c]);
        }
        row[k] = room[k];
    }
}

/* scores[i * stride] += columns first..first + n of dense row i times w (n), for rows begin..end; n
 * <= COLUMNS for magnitudes. A last block of fewer rows is padded with copies of its first row, so
 * that every row is summed in the same order whatever its neighbours. */
static void dense_block(const struct scores *s, size_t begin, size_t end, size_t first, size_t n,
                        const double *w, double *scores, size_t stride) {
    const struct vector_float *vector = vector_float();
    block_sizes room;
    for (size_t i = begin; i < end; i += VECTOR_ROWS) {
        const float *row[VECTOR_ROWS];
        double dot[VECTOR_ROWS] = {0};
        size_t rows = smaller(VECTOR_ROWS, end - i);
        for (size_t k = 0; k < VECTOR_ROWS; k++) {
            row[k] = s->x->value + row_of(s, i + (k < rows ? k : 0)) * s->x->n_features + first;
        }
        if (s->sizes) {
            take_sizes(row, n, room);
        }
        vector->dot(row, n, w, dot);
        for (size_t k = 0; k < rows; k++) {
            scores[(i + k) * stride] += dot[k];
        }
    }
}

typedef double lanes __attribute__((vector_size(VECTOR_BYTES)));
typedef double unaligned __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(8)));

/* out (m) = the values of a row times the weights of m outputs, for a constant number of vectors;
 * the weights of a feature are n_outputs apart. The last vector ends with the last output: outputs
 * that two vectors cover get the same value from both. */
static inline __attribute__((always_inline)) void score_vectors(struct stored_row x,
                                                                const double *w, size_t n_outputs,
                                                                size_t m, size_t vectors,
                                                                double *out) {
    lanes sum[VECTORS] = {{0}};
    size_t from[VECTORS];
    for (size_t v = 0; v < vectors; v++) {
        from[v] = v + 1 < vectors ? v * LANES : m - LANES;
    }
    for (size_t t = 0; t < x.n; t++) {
        const double *of = w + (x.column ? x.column[t] : t) * n_outputs;
        for (size_t v = 0; x.column && t + PREFETCH < x.n && v < vectors; v++) {
            __builtin_prefetch(w + x.column[t + PREFETCH] * n_outputs + from[v]);
        }
        for (size_t v = 0; v < vectors; v++) {
            sum[v] += (double)x.value[t] * *(const unaligned *)(of + from[v]);
        }
    }
    for (size_t v = 0; v < vectors; v++) {
        *(unaligned *)(out + from[v]) = sum[v];
    }
}

/* The same for fewer than LANES outputs and a sparse row. */
static inline __attribute__((always_inline)) void score_few(struct stored_row x, const double *w,
                                                            size_t n_outputs, double *out) {
    size_t t = 0;
    memset(out, 0, n_outputs * sizeof *out);
    for (; t + TOGETHER <= x.n; t += TOGETHER) {
        const double *of[TOGETHER];
        for (size_t j = 0; j < TOGETHER; j++) {
            of[j] = w + x.column[t + j] * n_outputs;
        }
        for (size_t o = 0; o < n_outputs; o++) {
            for (size_t j = 0; j < TOGETHER; j++) {
                out[o] += (double)x.value[t + j] * of[j][o];
            }
        }
    }
    for (; t < x.n; t++) {
        const double *of = w + x.column[t] * n_outputs;
        for (size_t o = 0; o < n_outputs; o++) {
            out[o] += (double)x.value[t] * of[o];
        }
    }
}

/* out (n_outputs) = the values of a row times the weights of their features, rows of w. */
DISPATCH static void score_row(struct stored_row x, const double *w, size_t n_outputs,
                               double *restrict out) {
    if (n_outputs < LANES) {
        score_few(x, w, n_outputs, out);
        return;
    }
    for (size_t o = 0; o < n_outputs; o += VECTORS * LANES) {
        size_t m = smaller(n_outputs - o, VECTORS * LANES);
        size_t first = m < LANES ? n_outputs - LANES : o;
        switch ((m + LANES - 1) / LANES) {
        case 1:
            score_vectors(x, w + first, n_outputs, larger(m, LANES), 1, out + first);
            break;
        case 2:
            score_vectors(x, w + o, n_outputs, m, 2, out + o);
            break;
        case 3:
            score_vectors(x, w + o, n_outputs, m, 3, out + o);
            break;
        default:
            score_vectors(x, w + o, n_outputs, m, VECTORS, out + o);
        }
    }
}

static void dense_scores(const struct scores *s, size_t begin, size_t end) {
    size_t n = smaller(s->x->n_features, s->n_weights), m = s->n_outputs;
    if (m == 1) {
        memset(s->scores + begin, 0, (end - begin) * sizeof *s->scores);
        for (size_t c = 0, columns; c < n; c += columns) {
            columns = s->sizes ? smaller(COLUMNS, n - c) : n;
            dense_block(s, begin, end, c, columns, s->w + c, s->scores, 1);
        }
        return;
    }
    if (n < MAX_SHORT_ROW && m >= MIN_OUTPUTS_BY_ROW) {
        for (size_t i = begin; i < end; i++) {
            struct stored_row row = {s->x->value + i * s->x->n_features, NULL, n};
            score_row(row, s->w, m, s->scores + i * m);
        }
        return;
    }
    memset(s->scores + begin * m, 0, (end - begin) * m * sizeof *s->scores);
    double w[COLUMNS]; /* of one output */
    for (size_t c = 0; c < n; c += COLUMNS) {
        size_t columns = smaller(COLUMNS, n - c);
        for (size_t o = 0; o < m; o++) {
            for (size_t k = 0; k < columns; k++) {
                w[k] = s->w[(c + k) * m + o];
            }
            dense_block(s, begin, end, c, columns, w, s->scores + o, m);
        }
    }
}

/* w'x for the stored values at .. stop of a row. */
static double sparse_dot(const struct data *x, uint64_t at, uint64_t stop, const double *w) {
    double even = 0, odd = 0; /* two independent chains of additions */
    for (; at + 2 <= stop; at += 2) {
        even += (double)x->value[at] * w[x->column[at]];
        odd += (double)x->value[at + 1] * w[x->column[at + 1]];
    }
    if (at < stop) {
        even += (double)x->value[at] * w[x->column[at]];
    }
    return even + odd;
}

/* The same with the magnitudes of the values. */
static double sparse_size(const struct data *x, uint64_t at, uint64_t stop, const double *w) {
    double part[TOGETHER] = {0};
    for (; at + TOGETHER <= stop; at += TOGETHER) {
        for (size_t j = 0; j < TOGETHER; j++) {
            part[j] += fabs((double)x->value[at + j]) * w[x->column[at + j]];
        }
    }
    for (; at < stop; at++) {
        part[0] += fabs((double)x->value[at]) * w[x->column[at]];
    }
    return (part[0] + part[1]) + (part[2] + part[3]);
}

/* The end of the columns below n_weights of a row. */
static uint64_t sparse_end(const struct data *x, size_t row, size_t n_weights) {
    uint64_t at = x->row_start[row], stop = x->row_start[row + 1];
    while (stop > at && x->column[stop - 1] >= n_weights) {
        stop--;
    }
    return stop;
}

static void sparse_scores(const struct scores *s, size_t first, size_t end) {
    const struct data *x = s->x;
    for (size_t i = first; i < end; i++) {
        size_t number = row_of(s, i);
        uint64_t at = x->row_start[number], stop = sparse_end(x, number, s->n_weights);
        if (s->n_outputs == 1) {
            s->scores[i] =
                s->sizes ? sparse_size(x, at, stop, s->w) : sparse_dot(x, at, stop, s->w);
            continue;
        }
        struct stored_row row = {x->value + at, x->column + at, (size_t)(stop - at)};
        score_row(row, s->w, s->n_outputs, s->scores + i * s->n_outputs);
    }
}

static void scores_task(void *argument, size_t task, size_t worker) {
    const struct scores *s = argument;
    size_t first = task * TASK_ROWS, end = smaller(s->n_rows, first + TASK_ROWS);
    (void)worker;
    if (s->x->row_start) {
        sparse_scores(s, first, end);
    } else {
        dense_scores(s, first, end);
    }
}

static void run_scores(struct scores s, struct threads *threads) {
    threads_run(threads, (s.n_rows + TASK_ROWS - 1) / TASK_ROWS, scores_task, &s);
}

void linear_scores(const struct data *x, const double *w, size_t n_weights, size_t n_outputs,
                   double *scores, struct threads *threads) {
    run_scores((struct scores){x, w, n_weights, n_outputs, scores, false, NULL, x->n_rows},
               threads);
}

void linear_sizes(const struct data *x, const double *w, size_t n_weights, double *scores,
                  struct threads *threads) {
    run_scores((struct scores){x, w, n_weights, 1, scores, true, NULL, x->n_rows}, threads);
}

void linear_scores_at(const struct data *x, const double *w, size_t n_weights, const uint32_t *at,
                      size_t n_at, double *scores, struct threads *threads) {
    run_scores((struct scores){x, w, n_weights, 1, scores, false, at, n_at}, threads);
}

/* ---- the transposed product ---- */

struct adjoint {
    const struct data *x;
    const double *r;
    bool sizes; /* |X| is multiplied, not X */
    size_t n_chunks;
    double *partial;  /* (n_chunks, n_features) */
    const double *v;  /* not NULL: r is multiplied by X v */
    double *products; /* (n_rows) the result */
};

/* The first row of a chunk: chunks have about equal numbers of stored values. */
static size_t chunk_start(const struct adjoint *a, size_t chunk) {
    size_t n = a->x->n_rows;
    if (!a->x->row_start) {
        return n / a->n_chunks * chunk + n % a->n_chunks * chunk / a->n_chunks;
    }
    uint64_t values = a->x->row_start[n];
    uint64_t wanted = values / a->n_chunks * chunk + values % a->n_chunks * chunk / a->n_chunks;
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a->x->row_start[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return chunk == a->n_chunks ? n : low;
}

/* w += VECTOR_ROWS dense rows times their weights. */
static void add_rows(const struct adjoint *a, const float *const *row, const double *weight,
                     double *w) {
    const struct vector_float *vector = vector_float();
    size_t width = a->x->n_features;
    block_sizes room;
    if (!a->sizes) {
        vector->axpy(row, width, weight, w);
        return;
    }
    for (size_t c = 0; c < width; c += COLUMNS) {
        const float *part[VECTOR_ROWS];
        size_t columns = smaller(COLUMNS, width - c);
        for (size_t k = 0; k < VECTOR_ROWS; k++) {
            part[k] = row[k] + c;
        }
        take_sizes(part, columns, room);
        vector->axpy(part, columns, weight, w + c);
    }
}

/* Multiplies the weights of dense rows by their scores. */
static void multiply_weights(const struct adjoint *a, const float *const *row, const size_t *number,
                             size_t rows, double *weight) {
    double dot[VECTOR_ROWS] = {0};
    vector_float()->dot(row, a->x->n_features, a->v, dot);
    for (size_t k = 0; k < rows; k++) {
        weight[k] *= dot[k];
        a->products[number[k]] = weight[k];
    }
}

/* Rows with r = 0 are skipped: the others are added VECTOR_ROWS at a time. */
static void dense_adjoint(const struct adjoint *a, size_t first, size_t end, double *w) {
    size_t width = a->x->n_features, n = 0;
    const float *row[VECTOR_ROWS];
    double weight[VECTOR_ROWS];
    size_t number[VECTOR_ROWS];
    for (size_t i = first; i < end; i++) {
        if (a->r[i] != 0) {
            row[n] = a->x->value + i * width;
            number[n] = i;
            weight[n++] = a->r[i];
        }
        if (n == VECTOR_ROWS || (n > 0 && i + 1 == end)) {
            size_t rows = n;
            for (; n < VECTOR_ROWS; n++) {
                row[n] = row[0];
                weight[n] = 0;
            }
            if (a->v) {
                multiply_weights(a, row, number, rows, weight);
            }
            add_rows(a, row, weight, w);
            n = 0;
        }
    }
}

static void sparse_adjoint(const struct adjoint *a, size_t first, size_t end, double *w) {
    const struct data *x = a->x;
    for (size_t i = first; i < end; i++) {
        double r = a->r[i];
        if (r != 0) {
            if (a->v) {
                r *= sparse_dot(x, x->row_start[i], x->row_start[i + 1], a->v);
                a->products[i] = r;
            }
            for (uint64_t at = x->row_start[i]; at < x->row_start[i + 1]; at++) {
                double value = (double)x->value[at];
                w[x->column[at]] += r * (a->sizes ? fabs(value) : value);
            }
        }
    }
}

static void adjoint_task(void *argument, size_t chunk, size_t worker) {
    const struct adjoint *a = argument;
    double *w = a->partial + chunk * a->x->n_features;
    size_t first = chunk_start(a, chunk), end = chunk_start(a, chunk + 1);
    (void)worker;
    memset(w, 0, a->x->n_features * sizeof *w);
    if (a->x->row_start) {
        sparse_adjoint(a, first, end, w);
    } else {
        dense_adjoint(a, first, end, w);
    }
}

/* The partial sums take at most 4 bytes for each stored value, or 1 MiB. They are added by one
 * thread, so the number of chunks is that which minimises values / chunks + chunks * width, the
 * time with as many threads. */
static size_t choose_chunks(const struct data *x) {
    size_t values = data_values(x), width = x->n_features;
    size_t room = values / 2 > (1 << 17) ? values / 2 : 1 << 17; /* in doubles */
    size_t chunks = smaller(values / MIN_CHUNK_VALUES, width ? room / width : 1);
    chunks = smaller(chunks, smaller(x->n_rows, MAX_CHUNKS));
    while (chunks > 1 && (double)chunks * (double)chunks * (double)width > (double)values) {
        chunks--;
    }
    return chunks ? chunks : 1;
}

/* w = the product that `a` describes. */
static int multiply(struct adjoint a, double *w, struct threads *threads, struct error *err) {
    size_t width = a.x->n_features;
    a.n_chunks = choose_chunks(a.x);
    a.partial = w;
    if (a.n_chunks == 1) {
        adjoint_task(&a, 0, 0);
        return 0;
    }
    a.partial = memory_array(a.n_chunks * width, sizeof *a.partial, "sums of columns", err);
    if (!a.partial) {
        return -1;
    }
    threads_run(threads, a.n_chunks, adjoint_task, &a);
    memcpy(w, a.partial, width * sizeof *w);
    for (size_t chunk = 1; chunk < a.n_chunks; chunk++) {
        const double *partial = a.partial + chunk * width;
        for (size_t c = 0; c < width; c++) {
            w[c] += partial[c];
        }
    }
    free(a.partial);
    return 0;
}

int linear_adjoint(const struct data *x, const double *r, double *w, struct threads *threads,
                   struct error *err) {
    return multiply((struct adjoint){.x = x, .r = r}, w, threads, err);
}

int linear_normal(const struct data *x, const double *r, const double *v, double *products,
                  double *w, struct threads *threads, struct error *err) {
    return multiply((struct adjoint){.x = x, .r = r, .v = v, .products = products}, w, threads,
                    err);
}

int linear_adjoint_sizes(const struct data *x, const double *r, double *w, struct threads *threads,
                         struct error *err) {
    return multiply((struct adjoint){.x = x, .r = r, .sizes = true}, w, threads, err);
}
