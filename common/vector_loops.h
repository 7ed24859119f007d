/* Included by vector.c once for each type and vector length, with these defined: REAL, HIT and
 * TABLE (type of the values, of the hits, of the table), BYTES (of a vector), TARGET (attribute of
 * the functions), MINIMUM(a, b) of two vectors, NAME(x). Not a header for anybody else. */

typedef REAL NAME(lanes) __attribute__((vector_size(BYTES), may_alias));
typedef double NAME(doubles) __attribute__((vector_size(BYTES)));
typedef double NAME(loose) __attribute__((vector_size(BYTES), may_alias, aligned(8)));
typedef REAL NAME(part)
    __attribute__((vector_size(BYTES / 8 * sizeof(REAL)), may_alias, aligned(sizeof(REAL))));

enum {
    NAME(LANES) = VECTOR_PANEL_BYTES / sizeof(REAL), /* of a panel */
    NAME(VECTOR) = BYTES / sizeof(REAL),
    /* Short vectors: a panel takes several passes, so that the sums fit into 16 registers. */
    NAME(SUMS) = BYTES == 64 ? 4 : 8,
    NAME(DOUBLES) = BYTES / 8
};

TARGET static void NAME(product)(const HIT *hits, size_t n, const REAL *panel, size_t n_panels,
                                 size_t size, REAL *sum) {
    for (size_t p = 0; p < n_panels; p++) {
        for (size_t l = 0; l < NAME(LANES); l += NAME(SUMS) * NAME(VECTOR)) {
            const REAL *piece = panel + p * size + l;
            REAL *out = sum + p * NAME(LANES) + l;
            NAME(lanes) s[NAME(SUMS)];
            memcpy(s, out, sizeof s);
            for (size_t i = 0; i < n; i++) {
                const NAME(lanes) *slot =
                    (const NAME(lanes) *)(piece + (size_t)hits[i].slot * NAME(LANES));
                REAL value = hits[i].value;
                for (int k = 0; k < NAME(SUMS); k++) {
                    s[k] += value * slot[k];
                }
            }
            memcpy(out, s, sizeof s);
        }
    }
}

TARGET static void NAME(minimum)(const HIT *hits, size_t n, const REAL *panel, size_t n_panels,
                                 size_t size, REAL *sum) {
    for (size_t p = 0; p < n_panels; p++) {
        for (size_t l = 0; l < NAME(LANES); l += NAME(SUMS) * NAME(VECTOR)) {
            const REAL *piece = panel + p * size + l;
            REAL *out = sum + p * NAME(LANES) + l;
            NAME(lanes) s[NAME(SUMS)];
            memcpy(s, out, sizeof s);
            for (size_t i = 0; i < n; i++) {
                const NAME(lanes) *slot =
                    (const NAME(lanes) *)(piece + (size_t)hits[i].slot * NAME(LANES));
                NAME(lanes) value = hits[i].value - (NAME(lanes)){0};
                for (int k = 0; k < NAME(SUMS); k++) {
                    s[k] += MINIMUM(slot[k], value);
                }
            }
            memcpy(out, s, sizeof s);
        }
    }
}

TARGET static void NAME(dot)(const REAL *const *row, size_t n, const double *b, double *dot) {
    NAME(doubles) s[VECTOR_ROWS] = {{0}};
    size_t c = 0;
    for (; c + NAME(DOUBLES) <= n; c += NAME(DOUBLES)) {
        NAME(doubles) factor = *(const NAME(loose) *)(b + c);
        for (int k = 0; k < VECTOR_ROWS; k++) {
            s[k] +=
                factor * __builtin_convertvector(*(const NAME(part) *)(row[k] + c), NAME(doubles));
        }
    }
    for (int k = 0; k < VECTOR_ROWS; k++) {
        double total = 0;
        for (int l = 0; l < NAME(DOUBLES); l++) {
            total += s[k][l];
        }
        for (size_t rest = c; rest < n; rest++) {
            total += b[rest] * (double)row[k][rest];
        }
        dot[k] += total;
    }
}

TARGET static void NAME(axpy)(const REAL *const *row, size_t n, const double *weight, double *out) {
    size_t c = 0;
    for (; c + NAME(DOUBLES) <= n; c += NAME(DOUBLES)) {
        NAME(loose) *target = (NAME(loose) *)(out + c);
        NAME(doubles) s = *target;
        for (int k = 0; k < VECTOR_ROWS; k++) {
            s += weight[k] *
                 __builtin_convertvector(*(const NAME(part) *)(row[k] + c), NAME(doubles));
        }
        *target = s;
    }
    for (; c < n; c++) {
        double s = out[c];
        for (int k = 0; k < VECTOR_ROWS; k++) {
            s += weight[k] * (double)row[k][c];
        }
        out[c] = s;
    }
}

TARGET static void NAME(both)(const REAL *const *row, size_t n, const double *b,
                              const double *weight, double *dot, double *out) {
    NAME(doubles) s[VECTOR_ROWS] = {{0}};
    size_t c = 0;
    for (; c + NAME(DOUBLES) <= n; c += NAME(DOUBLES)) {
        NAME(doubles) factor = *(const NAME(loose) *)(b + c);
        NAME(loose) *target = (NAME(loose) *)(out + c);
        NAME(doubles) t = *target;
        for (int k = 0; k < VECTOR_ROWS; k++) {
            NAME(doubles)
            value = __builtin_convertvector(*(const NAME(part) *)(row[k] + c), NAME(doubles));
            s[k] += factor * value;
            t += weight[k] * value;
        }
        *target = t;
    }
    for (int k = 0; k < VECTOR_ROWS; k++) {
        double total = 0;
        for (int l = 0; l < NAME(DOUBLES); l++) {
            total += s[k][l];
        }
        for (size_t rest = c; rest < n; rest++) {
            total += b[rest] * (double)row[k][rest];
        }
        dot[k] += total;
    }
    for (; c < n; c++) {
        double t = out[c];
        for (int k = 0; k < VECTOR_ROWS; k++) {
            t += weight[k] * (double)row[k][c];
        }
        out[c] = t;
    }
}

static const TABLE NAME(table) = {NAME(product), NAME(minimum), NAME(dot), NAME(axpy), NAME(both)};

#undef REAL
#undef HIT
#undef TABLE
#undef BYTES
#undef TARGET
#undef MINIMUM
#undef NAME
