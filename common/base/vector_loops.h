/* vector.c includes this file once for each type and vector length, with these defined: REAL (type
 * of the values), BYTES (of a vector), TARGET (attribute of the functions), MINIMUM(a, b) and
 * MAXIMUM(a, b) of two vectors, and WIDEN(p): the values from p on as a vector of doubles. NAME(x)
 * is the name of x for this type and length. What product, minimum, overlap, dot, axpy and both
 * compute, and the shapes of their arguments, is described in vector.h; finish_dot and finish_axpy
 * compute their last columns. */

typedef REAL NAME(lanes) __attribute__((vector_size(BYTES), may_alias));
typedef REAL NAME(near) __attribute__((vector_size(BYTES), may_alias, aligned(sizeof(REAL))));
typedef double NAME(doubles) __attribute__((vector_size(BYTES)));
typedef double NAME(loose) __attribute__((vector_size(BYTES), may_alias, aligned(8)));

enum {
    NAME(LANES) = VECTOR_PANEL_BYTES / sizeof(REAL), /* of a panel */
    NAME(VECTOR) = BYTES / sizeof(REAL),
    /* With short vectors a panel takes several passes, so that the sums fit into 16 registers. */
    NAME(SUMS) = BYTES == 64 ? 4 : 8,
    NAME(DOUBLES) = BYTES / 8
};

/* product, minimum and overlap of vector.h: sum (n_panels, LANES) += the term of a hit's value and
 * the vectors slot[k] of its slot, over n hits. prepare: declarations that the term uses. */
#ifndef VECTOR_PANELS
#define VECTOR_PANELS(name, prepare, term)                                                         \
    TARGET static void NAME(name)(const STRUCT(vector_hit_, REAL) * hits, size_t n,                \
                                  const REAL *panel, size_t n_panels, size_t size, REAL *sum) {    \
        const NAME(lanes) zero = {0};                                                              \
        (void)zero;                                                                                \
        for (size_t p = 0; p < n_panels; p++) {                                                    \
            for (size_t l = 0; l < NAME(LANES); l += NAME(SUMS) * NAME(VECTOR)) {                  \
                const REAL *piece = panel + p * size + l;                                          \
                REAL *out = sum + p * NAME(LANES) + l;                                             \
                NAME(lanes) s[NAME(SUMS)];                                                         \
                memcpy(s, out, sizeof s);                                                          \
                for (size_t i = 0; i < n; i++) {                                                   \
                    const NAME(lanes) *slot =                                                      \
                        (const NAME(lanes) *)(piece + (size_t)hits[i].slot * NAME(LANES));         \
                    REAL value = hits[i].value;                                                    \
                    prepare;                                                                       \
                    for (int k = 0; k < NAME(SUMS); k++) {                                         \
                        s[k] += term;                                                              \
                    }                                                                              \
                }                                                                                  \
                memcpy(out, s, sizeof s);                                                          \
            }                                                                                      \
        }                                                                                          \
    }
#endif

/* `product` and `minimum` of struct vector_float and vector_double (vector.h). */
VECTOR_PANELS(product, , (value)*slot[k])

VECTOR_PANELS(minimum, NAME(lanes) values = value - zero, MINIMUM(slot[k], values))

/* The overlap of a value v and a lane z is z clipped to the interval between 0 and v, times the
 * sign of v. */
VECTOR_PANELS(overlap, REAL sign = value < 0 ? -1 : 1;
              NAME(lanes) low = (value < 0 ? value : 0) + zero;
              NAME(lanes) high = (value < 0 ? 0 : value) + zero,
              (sign)*MAXIMUM(MINIMUM(slot[k], high), low))

/* The remaining columns of dot: dot[k] += the sum of the lanes of sums[k] (VECTOR_ROWS), and of
 * row[k][c] b[c] over columns first..n. */
TARGET static void NAME(finish_dot)(const NAME(doubles) * sums, const REAL *const *row,
                                    size_t first, size_t n, const double *b, double *dot) {
    for (int k = 0; k < VECTOR_ROWS; k++) {
        double total = 0;
        for (int l = 0; l < NAME(DOUBLES); l++) {
            total += sums[k][l];
        }
        for (size_t c = first; c < n; c++) {
            total += b[c] * (double)row[k][c];
        }
        dot[k] += total;
    }
}

/* The remaining columns of axpy: out[c] += sum over k of weight[k] row[k][c], in columns first..n.
 */
TARGET static void NAME(finish_axpy)(const REAL *const *row, size_t first, size_t n,
                                     const double *weight, double *out) {
    for (size_t c = first; c < n; c++) {
        for (int k = 0; k < VECTOR_ROWS; k++) {
            out[c] += weight[k] * (double)row[k][c];
        }
    }
}

/* dot of vector.h, (VECTOR_ROWS) += over n columns. Here and below, pointers and weights are copied
 * to local variables: otherwise the compiler would assume that a store to `out` may change them,
 * and reload them in each step. */
TARGET static void NAME(dot)(const REAL *const *row, size_t n, const double *b, double *dot) {
    const REAL *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];
    NAME(doubles) s[VECTOR_ROWS] = {{0}};
    size_t c = 0;
    for (; c + NAME(DOUBLES) <= n; c += NAME(DOUBLES)) {
        NAME(doubles) factor = *(const NAME(loose) *)(b + c);
        s[0] += factor * WIDEN(r0 + c);
        s[1] += factor * WIDEN(r1 + c);
        s[2] += factor * WIDEN(r2 + c);
        s[3] += factor * WIDEN(r3 + c);
    }
    NAME(finish_dot)(s, row, c, n, b, dot);
}

/* axpy of vector.h, out (n) +=. */
TARGET static void NAME(axpy)(const REAL *const *row, size_t n, const double *weight, double *out) {
    const REAL *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];
    double w0 = weight[0], w1 = weight[1], w2 = weight[2], w3 = weight[3];
    size_t c = 0;
    for (; c + NAME(DOUBLES) <= n; c += NAME(DOUBLES)) {
        NAME(loose) *target = (NAME(loose) *)(out + c);
        *target = ((*target + w0 * WIDEN(r0 + c)) + w1 * WIDEN(r1 + c)) +
                  (w2 * WIDEN(r2 + c) + w3 * WIDEN(r3 + c));
    }
    NAME(finish_axpy)(row, c, n, weight, out);
}

/* sum (VECTOR_OUTPUTS, VECTOR_ROWS) = the sums of dots of vector.h for these rows and two outputs,
 * whose columns b and c are. */
TARGET static void NAME(pair_dots)(const REAL *const *row, size_t n, const REAL *b, const REAL *c,
                                   REAL *sum) {
    const REAL *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];
    NAME(lanes) s[VECTOR_OUTPUTS * VECTOR_ROWS] = {{0}};
    size_t i = 0;
    for (; i + NAME(VECTOR) <= n; i += NAME(VECTOR)) {
        NAME(lanes) x = *(const NAME(near) *)(b + i), y = *(const NAME(near) *)(c + i);
        NAME(lanes) v0 = *(const NAME(near) *)(r0 + i), v1 = *(const NAME(near) *)(r1 + i);
        NAME(lanes) v2 = *(const NAME(near) *)(r2 + i), v3 = *(const NAME(near) *)(r3 + i);
        s[0] += v0 * x;
        s[1] += v1 * x;
        s[2] += v2 * x;
        s[3] += v3 * x;
        s[4] += v0 * y;
        s[5] += v1 * y;
        s[6] += v2 * y;
        s[7] += v3 * y;
    }
    for (int k = 0; k < VECTOR_OUTPUTS * VECTOR_ROWS; k++) {
        const REAL *of_row = row[k % VECTOR_ROWS], *of_output = k < VECTOR_ROWS ? b : c;
        REAL total = 0;
        for (int l = 0; l < NAME(VECTOR); l++) {
            total += s[k][l];
        }
        for (size_t j = i; j < n; j++) {
            total += of_row[j] * of_output[j];
        }
        sum[k] = total;
    }
}

/* dots of vector.h: rows beyond the last repeat it. */
TARGET static void NAME(dots)(const REAL *tile, size_t stride, size_t m, size_t n, const REAL *b,
                              size_t b_stride, size_t k, REAL *out) {
    for (size_t i = 0; i < m; i += VECTOR_ROWS) {
        const REAL *row[VECTOR_ROWS];
        REAL sum[VECTOR_OUTPUTS * VECTOR_ROWS];
        for (size_t r = 0; r < VECTOR_ROWS; r++) {
            row[r] = tile + (i + r < m ? i + r : m - 1) * stride;
        }
        for (size_t o = 0; o < k; o += VECTOR_OUTPUTS) {
            NAME(pair_dots)(row, n, b + o * b_stride, b + (o + 1) * b_stride, sum);
            for (size_t r = 0; r < VECTOR_ROWS && i + r < m; r++) {
                for (size_t p = 0; p < VECTOR_OUTPUTS && o + p < k; p++) {
                    out[(i + r) * k + o + p] += sum[p * VECTOR_ROWS + r];
                }
            }
        }
    }
}

/* axpys of vector.h for two outputs with weights v and w: out and more. */
TARGET static void NAME(pair_axpys)(const REAL *tile, size_t stride, size_t m, size_t n,
                                    const REAL *v, const REAL *w, REAL *out, REAL *more) {
    enum { WIDTH = 4 };
    size_t c = 0;
    for (; c + WIDTH * NAME(VECTOR) <= n; c += WIDTH * NAME(VECTOR)) {
        NAME(lanes) s[VECTOR_OUTPUTS * WIDTH];
        const REAL *at = tile + c;
        memcpy(s, out + c, sizeof s / VECTOR_OUTPUTS);
        memcpy(s + WIDTH, more + c, sizeof s / VECTOR_OUTPUTS);
        for (size_t i = 0; i < m; i++, at += stride) {
            const NAME(near) *x = (const NAME(near) *)at;
            REAL a = v[i], b = w[i];
            for (int l = 0; l < WIDTH; l++) {
                s[l] += a * x[l];
                s[WIDTH + l] += b * x[l];
            }
        }
        memcpy(out + c, s, sizeof s / VECTOR_OUTPUTS);
        memcpy(more + c, s + WIDTH, sizeof s / VECTOR_OUTPUTS);
    }
    for (size_t i = 0; i < m; i++) {
        for (size_t j = c; j < n; j++) {
            out[j] += v[i] * tile[i * stride + j];
            more[j] += w[i] * tile[i * stride + j];
        }
    }
}

/* axpys of vector.h. */
TARGET static void NAME(axpys)(const REAL *tile, size_t stride, size_t m, size_t n, const REAL *w,
                               size_t w_stride, size_t k, REAL *out, size_t out_stride) {
    for (size_t o = 0; o < k; o += VECTOR_OUTPUTS) {
        NAME(pair_axpys)
        (tile, stride, m, n, w + o * w_stride, w + (o + 1) * w_stride, out + o * out_stride,
         out + (o + 1) * out_stride);
    }
}

/* both of vector.h: dot and axpy in one pass. */
TARGET static void NAME(both)(const REAL *const *row, size_t n, const double *b,
                              const double *weight, double *dot, double *out) {
    const REAL *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];
    double w0 = weight[0], w1 = weight[1], w2 = weight[2], w3 = weight[3];
    NAME(doubles) s[VECTOR_ROWS] = {{0}};
    size_t c = 0;
    for (; c + NAME(DOUBLES) <= n; c += NAME(DOUBLES)) {
        NAME(doubles) factor = *(const NAME(loose) *)(b + c);
        NAME(doubles) v0 = WIDEN(r0 + c), v1 = WIDEN(r1 + c);
        NAME(doubles) v2 = WIDEN(r2 + c), v3 = WIDEN(r3 + c);
        NAME(loose) *target = (NAME(loose) *)(out + c);
        s[0] += factor * v0;
        s[1] += factor * v1;
        s[2] += factor * v2;
        s[3] += factor * v3;
        *target = ((*target + w0 * v0) + w1 * v1) + (w2 * v2 + w3 * v3);
    }
    NAME(finish_dot)(s, row, c, n, b, dot);
    NAME(finish_axpy)(row, c, n, weight, out);
}

static const STRUCT(vector_, REAL)
    NAME(table) = {NAME(product), NAME(minimum), NAME(overlap), NAME(dot),
                   NAME(axpy),    NAME(both),    NAME(dots),    NAME(axpys)};

#undef REAL
#undef BYTES
#undef TARGET
#undef MINIMUM
#undef MAXIMUM
#undef WIDEN
