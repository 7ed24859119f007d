/* vector.c includes this file once for each type and vector length, with these defined: REAL (type
 * of the values), BYTES (of a vector), TARGET (attribute of the functions), MINIMUM(a, b) and
 * MAXIMUM(a, b) of two vectors, and WIDEN(p): the values from p on as a vector of doubles. NAME(x)
 * is the name of x for this type and length. What product, minimum, overlap, dot, axpy and both
 * compute, and the shapes of their arguments, is described in vector.h; finish_dot and finish_axpy
 * compute their last columns. */

typedef REAL NAME(lanes) __attribute__((vector_size(BYTES), may_alias));
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
    NAME(table) = {NAME(product), NAME(minimum), NAME(overlap), NAME(dot), NAME(axpy), NAME(both)};

#undef REAL
#undef BYTES
#undef TARGET
#undef MINIMUM
#undef MAXIMUM
#undef WIDEN
