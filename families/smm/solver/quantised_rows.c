/* Rows of bytes and their products (quantised_rows.h). */
#include "families/smm/solver/quantised_rows.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/dispatch.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    BITS = 8,           /* of a value */
    VALUES = 32 / BITS, /* of a word */
    LANES = 16,         /* words of a group; word l has values l, LANES + l, 2 LANES + l, ... */
    GROUP = VALUES * LANES,
    ROWS = 8,                        /* rows that are multiplied together */
    LARGEST = (1 << (BITS - 1)) - 1, /* |q| */
    MIN_CHUNK_ROWS = 64,             /* of a chunk */
    MAX_CHUNKS = 32
};

/* Stored values from which on rows do not fit into a cache: 16 MiB of floats. */
static const size_t MIN_VALUES = (size_t)1 << 22;

struct quantised_rows {
    const struct data *x;
    struct threads *threads;
    size_t n, width;      /* rows; features */
    size_t words, padded; /* of a row: words; values, rounded up to whole groups */
    size_t n_chunks;
    uint32_t *word;       /* (n, words) */
    float *row_scale;     /* (n) r / 127 of units of expand(); 0: the row is zero */
    float *column_scale;  /* (padded) s; 0: the column is zero */
    float *column_factor; /* (padded) 1 / s, or 0 */
    float *v;             /* (padded) s v, divided by its largest magnitude */
    float *partial;       /* (n_chunks, padded) */
    const double *r;      /* of the present product */
    double r_largest, v_largest;
    double *products; /* NULL: of X'r */
    void *block;
};

static size_t chunk_start(const struct quantised_rows *rows, size_t chunk) {
    return rows->n / rows->n_chunks * chunk + rows->n % rows->n_chunks * chunk / rows->n_chunks;
}

/* ---- rounding ---- */

/* partial: the largest magnitudes in the columns of a chunk. */
DISPATCH static void find_largest(void *argument, size_t chunk, size_t worker) {
    const struct quantised_rows *rows = argument;
    float *largest = rows->partial + chunk * rows->padded;
    (void)worker;
    memset(largest, 0, rows->padded * sizeof *largest);
    for (size_t i = chunk_start(rows, chunk); i < chunk_start(rows, chunk + 1); i++) {
        const float *x = rows->x->value + i * rows->width;
        for (size_t j = 0; j < rows->width; j++) {
            float size = fabsf(x[j]);
            largest[j] = size > largest[j] ? size : largest[j];
        }
    }
}

/* 1 / x, or 0 where LARGEST / x overflows. */
static float inverse(float x) {
    return x >= LARGEST * FLT_MIN ? 1 / x : 0;
}

/* room (padded): the rounded values, in the order of the row. */
DISPATCH static void round_row(struct quantised_rows *rows, size_t i, float *room) {
    const float *x = rows->x->value + i * rows->width;
    float largest = 0;
    for (size_t j = 0; j < rows->width; j++) {
        room[j] = x[j] * rows->column_factor[j];
    }
    for (size_t j = 0; j < rows->width; j++) {
        float size = fabsf(room[j]);
        largest = size > largest ? size : largest;
    }
    float factor = LARGEST * inverse(largest);
    rows->row_scale[i] = factor > 0 ? largest / LARGEST / (1u << (32 - BITS)) : 0;
    uint32_t *word = rows->word + i * rows->words;
    for (size_t at = 0; at < rows->words; at += LANES) {
        const float *value = room + VALUES * at;
        for (size_t l = 0; l < LANES; l++) {
            uint32_t packed = 0;
            for (int k = 0; k < VALUES; k++) {
                /* of which expand() makes a fraction of q */
                float below = (float)packed * ldexpf(1, -BITS * k);
                int32_t q = (int32_t)rintf(value[k * LANES + (int)l] * factor - below);
                packed |= ((uint32_t)q & ((1u << BITS) - 1)) << BITS * k;
            }
            word[at + l] = packed;
        }
    }
}

static void round_chunk(void *argument, size_t chunk, size_t worker) {
    struct quantised_rows *rows = argument;
    float *room = rows->partial + chunk * rows->padded;
    (void)worker;
    memset(room, 0, rows->padded * sizeof *room);
    for (size_t i = chunk_start(rows, chunk); i < chunk_start(rows, chunk + 1); i++) {
        round_row(rows, i, room);
    }
}

static void round_rows(struct quantised_rows *rows) {
    threads_run(rows->threads, rows->n_chunks, find_largest, rows);
    for (size_t j = 0; j < rows->padded; j++) {
        float largest = 0;
        for (size_t chunk = 0; chunk < rows->n_chunks; chunk++) {
            largest = fmaxf(largest, rows->partial[chunk * rows->padded + j]);
        }
        rows->column_factor[j] = inverse(largest);
        rows->column_scale[j] = rows->column_factor[j] > 0 ? largest : 0;
    }
    threads_run(rows->threads, rows->n_chunks, round_chunk, rows);
}

bool quantised_rows_pay(const struct data *x) {
    return !x->row_start && data_values(x) >= MIN_VALUES;
}

int quantised_rows_create(struct quantised_rows **rows, const struct data *x,
                          struct threads *threads, struct error *err) {
    struct quantised_rows *made = memory_zeros(1, sizeof *made, "rounded rows", err);
    if (!made) {
        return -1;
    }
    made->x = x;
    made->threads = threads;
    made->n = x->n_rows;
    made->width = x->n_features;
    made->words = (x->n_features + GROUP - 1) / GROUP * LANES;
    made->n_chunks = smaller(MAX_CHUNKS, (made->n + MIN_CHUNK_ROWS - 1) / MIN_CHUNK_ROWS);
    made->padded = VALUES * made->words;
    made->block = ARRAYS_CREATE(
        "rounded rows", err, ARRAYS(made->n, float, &made->row_scale),
        ARRAYS(made->padded, float, &made->column_scale, &made->column_factor, &made->v),
        ARRAYS(made->n_chunks * made->padded, float, &made->partial));
    made->word = memory_array(made->n, made->words * sizeof *made->word, "rounded rows", err);
    if (!made->block || !made->word) {
        quantised_rows_free(made);
        return -1;
    }
    round_rows(made);
    *rows = made;
    return 0;
}

void quantised_rows_free(struct quantised_rows *rows) {
    if (rows) {
        free(rows->block);
        free(rows->word);
        free(rows);
    }
}

/* ---- products ---- */

typedef float lanes __attribute__((vector_size(VECTOR_BYTES)));
typedef float unaligned __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(4)));
typedef int32_t integers __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t words __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t unaligned_words __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(4)));
enum { VECTOR = VECTOR_BYTES / sizeof(float) };

/* The values in byte k of words, in units of 2^(BITS - 32). The bytes below are not removed: they
 * add a fraction, which rounding took into account. */
static inline __attribute__((always_inline)) lanes expand(words packed, int k) {
    return __builtin_convertvector((integers)(packed << (32 - BITS - BITS * k)), lanes);
}

/* dot[k] = row k times v, for ROWS rows of words. */
DISPATCH static void dot_rows(const uint32_t *const *row, size_t n_words, const float *v,
                              float *dot) {
    lanes sum[ROWS] = {{0}};
    for (size_t at = 0; at < n_words; at += LANES) {
        for (size_t l = 0; l < LANES; l += VECTOR) {
            for (int part = 0; part < VALUES; part++) {
                lanes of = *(const unaligned *)(v + VALUES * at + (size_t)part * LANES + l);
                for (size_t k = 0; k < ROWS; k++) {
                    sum[k] += expand(*(const unaligned_words *)(row[k] + at + l), part) * of;
                }
            }
        }
    }
    for (size_t k = 0; k < ROWS; k++) {
        dot[k] = 0;
        for (size_t l = 0; l < VECTOR; l++) {
            dot[k] += sum[k][l];
        }
    }
}

/* out += the sum of weight[k] times row k. */
DISPATCH static void add_rows(const uint32_t *const *row, size_t n_words, const float *weight,
                              float *out) {
    for (size_t at = 0; at < n_words; at += LANES) {
        for (size_t l = 0; l < LANES; l += VECTOR) {
            for (int part = 0; part < VALUES; part++) {
                unaligned *to = (unaligned *)(out + VALUES * at + (size_t)part * LANES + l);
                lanes sum = *to;
                for (size_t k = 0; k < ROWS; k++) {
                    sum += expand(*(const unaligned_words *)(row[k] + at + l), part) * weight[k];
                }
                *to = sum;
            }
        }
    }
}

static void multiply_chunk(void *argument, size_t chunk, size_t worker) {
    struct quantised_rows *rows = argument;
    float *sum = rows->partial + chunk * rows->padded;
    const uint32_t *row[ROWS];
    size_t number[ROWS], n = 0, end = chunk_start(rows, chunk + 1);
    (void)worker;
    memset(sum, 0, rows->padded * sizeof *sum);
    for (size_t i = chunk_start(rows, chunk); i < end; i++) {
        if (rows->r[i] != 0) {
            row[n] = rows->word + i * rows->words;
            number[n++] = i;
        }
        if (n < ROWS && !(n > 0 && i + 1 == end)) {
            continue;
        }
        float weight[ROWS] = {0}, dot[ROWS];
        for (size_t k = n; k < ROWS; k++) {
            row[k] = row[0];
        }
        if (rows->products) {
            dot_rows(row, rows->words, rows->v, dot);
        }
        for (size_t k = 0; k < n; k++) {
            double scale = (double)rows->row_scale[number[k]];
            double r = rows->r[number[k]] / rows->r_largest;
            if (rows->products) {
                r *= scale * (double)dot[k];
                rows->products[number[k]] = r * rows->r_largest * rows->v_largest;
            }
            weight[k] = (float)(r * scale);
        }
        add_rows(row, rows->words, weight, sum);
        n = 0;
    }
}

/* The product of the present r. */
static void multiply(struct quantised_rows *rows, double *w) {
    rows->r_largest = array_largest(rows->r, rows->n);
    if (!(rows->r_largest * rows->v_largest > 0)) {
        memset(w, 0, rows->width * sizeof *w);
        for (size_t i = 0; rows->products && i < rows->n; i++) {
            rows->products[i] = 0;
        }
        return;
    }
    threads_run(rows->threads, rows->n_chunks, multiply_chunk, rows);
    for (size_t j = 0; j < rows->width; j++) {
        double sum = 0;
        for (size_t chunk = 0; chunk < rows->n_chunks; chunk++) {
            sum += (double)rows->partial[chunk * rows->padded + j];
        }
        w[j] = sum * (double)rows->column_scale[j] * rows->r_largest * rows->v_largest;
    }
}

void quantised_rows_adjoint(struct quantised_rows *rows, const double *r, double *w) {
    rows->r = r;
    rows->products = NULL;
    rows->v_largest = 1;
    multiply(rows, w);
}

void quantised_rows_normal(struct quantised_rows *rows, const double *r, const double *v,
                           double *products, double *w) {
    rows->r = r;
    rows->products = products;
    rows->v_largest = 0;
    for (size_t j = 0; j < rows->width; j++) {
        rows->v_largest = fmax(rows->v_largest, fabs(v[j] * (double)rows->column_scale[j]));
    }
    double factor = rows->v_largest >= DBL_MIN ? 1 / rows->v_largest : 0;
    for (size_t j = 0; j < rows->width; j++) {
        rows->v[j] = (float)(v[j] * (double)rows->column_scale[j] * factor);
    }
    multiply(rows, w);
}
