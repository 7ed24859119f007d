/* The innermost loops of kernel values and matrix products, with sums held in vector registers.
 * Compilers do not do that for arrays of accumulators (gcc 12 stores and reloads them in each step,
 * 7 times slower). The loops are written once (vector_loops.h), compiled for each vector length of
 * the architecture, and selected at run time.
 *
 * A *panel* is a block of rows, transposed: (slots, lanes), where a lane is a row and a slot one of
 * its columns. The values of all lanes in a slot are adjacent, so a nonzero value of another row in
 * that column (a *hit* on the slot) is combined with all lanes by one vector operation. */
#ifndef COMMON_BASE_VECTOR_H
#define COMMON_BASE_VECTOR_H

#include <stddef.h>
#include <stdint.h>

enum {
    VECTOR_PANEL_BYTES = 256,                /* bytes of one slot; panels are aligned to 64 bytes */
    VECTOR_FLOATS = VECTOR_PANEL_BYTES / 4,  /* lanes of a panel of floats */
    VECTOR_DOUBLES = VECTOR_PANEL_BYTES / 8, /* lanes of a panel of doubles */
    VECTOR_ROWS = 4,                         /* rows of one call of dot, axpy, both */
    VECTOR_OUTPUTS = 2                       /* dots and axpys take a multiple of these */
};

struct vector_hit_float {
    uint32_t slot;
    float value;
};

struct vector_hit_double {
    uint32_t slot;
    double value;
};

/* The loops for one type and vector length; all of them add to their results.
 *
 * product, minimum, overlap: hits (n); panel (n_panels, slots, lanes), size = slots * lanes; sum
 * (n_panels, lanes). With v = hits[i].value and z = panel[p][hits[i].slot][l], sum[p][l] gets the
 * sum over i of
 *   product: v z
 *   minimum: min(v, z)
 *   overlap: min(|v|, |z|) if v and z have the same sign, else 0
 *
 * dot, axpy, both: row (VECTOR_ROWS, n); b and out (n), weight and dot (VECTOR_ROWS), in double.
 *   dot:  dot[k] += sum over c of row[k][c] b[c]
 *   axpy: out[c] += sum over k of weight[k] row[k][c]
 *   both: dot and axpy in one pass over the rows
 *
 * dots, axpys: products of a tile (m, n) with k outputs, in the type of the values. Rows of the
 * tile are `stride` apart, those of b (k, n) b_stride, of w (k, m) w_stride, of axpys' out (k, n)
 * out_stride. These three have rows for k rounded up to a multiple of VECTOR_OUTPUTS. No alignment
 * is needed.
 *   dots:  out[i][o] += sum over c < n of tile[i][c] b[o][c]; out (m, k)
 *   axpys: out[o][c] += sum over i < m of w[o][i] tile[i][c] */
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
        void (*dots)(const REAL *tile, size_t stride, size_t m, size_t n, const REAL *b,           \
                     size_t b_stride, size_t k, REAL *out);                                        \
        void (*axpys)(const REAL *tile, size_t stride, size_t m, size_t n, const REAL *w,          \
                      size_t w_stride, size_t k, REAL *out, size_t out_stride);                    \
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
