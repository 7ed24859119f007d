/* The innermost loops, with vectors held in registers across the loop. Compilers do not do that for
 * arrays of accumulators (gcc 12 stores and reloads them in each step, 7 times slower). Written
 * once (vector_loops.h), compiled for each vector length, and selected at run time.
 *
 * A *panel* holds a block of rows transposed: (slots, lanes), the lanes of one slot side by side,
 * so that a non-zero value of a row of the other side (a *hit* on a slot) is multiplied with all
 * lanes at once. */
#ifndef COMMON_BASE_VECTOR_H
#define COMMON_BASE_VECTOR_H

#include <stddef.h>
#include <stdint.h>

enum {
    VECTOR_PANEL_BYTES = 256, /* bytes of one slot; panels are aligned to 64 bytes */
    VECTOR_FLOATS = VECTOR_PANEL_BYTES / 4,
    VECTOR_DOUBLES = VECTOR_PANEL_BYTES / 8,
    VECTOR_ROWS = 4 /* rows of one call of dot, axpy, both */
};

struct vector_hit_float {
    uint32_t slot;
    float value;
};

struct vector_hit_double {
    uint32_t slot;
    double value;
};

/* Panels are n_panels pieces of `size` values each (size = slots * lanes); sum (n_panels, lanes).
 *   product: sum[p][l] += sum over hits of value * panel[p][slot][l]
 *   minimum: sum[p][l] += sum over hits of min(value, panel[p][slot][l])
 *   overlap: the same of their absolute values, where the two have one sign; else 0
 * dot, axpy, both work on columns 0..n of VECTOR_ROWS rows; b and out (n) are double:
 *   dot:  dot[k] += sum over c of row[k][c] b[c]
 *   axpy: out[c] += sum over k of weight[k] row[k][c]
 *   both: one pass for the two. */
#define VECTOR_TABLE(REAL)                                                                         \
    struct vector_##REAL {                                                                         \
        void (*product)(const struct vector_hit_##REAL *hits, size_t n, const REAL *panel,         \
                        size_t n_panels, size_t size, REAL *sum);                                  \
        void (*minimum)(const struct vector_hit_##REAL *hits, size_t n, const REAL *panel,         \
                        size_t n_panels, size_t size, REAL *sum);                                  \
        void (*overlap)(const struct vector_hit_##REAL *hits, size_t n, const REAL *panel,         \
                        size_t n_panels, size_t size, REAL *sum);                                  \
        void (*dot)(const REAL *const *row, size_t n, const double *b, double *dot);               \
        void (*axpy)(const REAL *const *row, size_t n, const double *weight, double *out);         \
        void (*both)(const REAL *const *row, size_t n, const double *b, const double *weight,      \
                     double *dot, double *out);                                                    \
    }
VECTOR_TABLE(float);
VECTOR_TABLE(double);
#undef VECTOR_TABLE

/* The loops for this processor; static storage. */
const struct vector_float *vector_float(void);
const struct vector_double *vector_double(void);

/* All versions that this processor supports, longest vectors last, for the tests. Returns their
 * number; at most VECTOR_VERSIONS are written. */
enum { VECTOR_VERSIONS = 3 };
size_t vector_versions(const struct vector_float **floats, const struct vector_double **doubles);

#endif
