/* W in the precision REAL, and its products with a row (score_store.c), which defines REAL and
 * NAME(x) for it. Private to that file. All sums are in double. */

/* The next entries of a row that are not 0, at most TOGETHER: values and rows of W. Memory serves
 * several rows of W at once faster than one after the other. */
struct NAME(entries) {
    size_t n;
    double x[TOGETHER];
    REAL *w[TOGETHER];
};

static struct NAME(entries)
    NAME(next_entries)(const struct stored_row *row, size_t *k, REAL *W, size_t width) {
    struct NAME(entries) entries;
    entries.n = 0;
    for (; *k < row->n && entries.n < TOGETHER; ++*k) {
        if (row->value[*k] != 0) {
            entries.x[entries.n] = (double)row->value[*k];
            entries.w[entries.n++] = W + (size_t)stored_column(*row, *k) * width;
        }
    }
    return entries;
}

/* s (width) = W'x */
DISPATCH static void NAME(row_scores)(const struct stored_row *row, REAL *W, size_t width,
                                      double *restrict s) {
    memset(s, 0, width * sizeof *s);
    for (size_t k = 0; k < row->n;) {
        struct NAME(entries) entries = NAME(next_entries)(row, &k, W, width);
        if (entries.n == TOGETHER) {
#pragma omp simd
            for (size_t c = 0; c < width; c++) {
                double sum = s[c];
                for (size_t e = 0; e < TOGETHER; e++) {
                    sum += entries.x[e] * (double)entries.w[e][c];
                }
                s[c] = sum;
            }
            continue;
        }
        for (size_t e = 0; e < entries.n; e++) {
            const REAL *w = entries.w[e];
            double x = entries.x[e];
#pragma omp simd
            for (size_t c = 0; c < width; c++) {
                s[c] += x * (double)w[c];
            }
        }
    }
}

/* W += x change' */
DISPATCH static void NAME(row_update)(const struct stored_row *row, const double *restrict change,
                                      REAL *W, size_t width) {
    for (size_t k = 0; k < row->n;) {
        struct NAME(entries) entries = NAME(next_entries)(row, &k, W, width);
        if (entries.n == TOGETHER) {
#pragma omp simd
            for (size_t c = 0; c < width; c++) {
                for (size_t e = 0; e < TOGETHER; e++) {
                    entries.w[e][c] += (REAL)(entries.x[e] * change[c]);
                }
            }
            continue;
        }
        for (size_t e = 0; e < entries.n; e++) {
            REAL *w = entries.w[e];
            double x = entries.x[e];
#pragma omp simd
            for (size_t c = 0; c < width; c++) {
                w[c] += (REAL)(x * change[c]);
            }
        }
    }
}

/* The same for the labels changed[0..n_changed) only. */
static void NAME(row_update_few)(const struct stored_row *row, const double *change,
                                 const uint32_t *changed, size_t n_changed, REAL *W, size_t width) {
    for (size_t k = 0; k < row->n; k++) {
        REAL *w = W + (size_t)stored_column(*row, k) * width;
        double x = (double)row->value[k];
        for (size_t e = 0; e < n_changed; e++) {
            w[changed[e]] += (REAL)(x * change[changed[e]]);
        }
    }
}
