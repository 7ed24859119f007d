/* Products with the rows of a binary SVM, which are a dense matrix or rows of data. */
#include "common/base/array.h"
#include "common/kernel/linear.h"
#include "families/smm/solver/binary.h"

#include <cblas.h>
#include <string.h>

struct binary_rows binary_rows_of(const struct smm_matrices *matrices) {
    return (struct binary_rows){.n = matrices->n,
                                .d = matrices->height * matrices->width,
                                .data = matrices->data,
                                .threads = matrices->threads,
                                .cluster = matrices->cluster};
}

void binary_row(const struct binary_rows *rows, size_t i, double *out) {
    if (rows->z) {
        memcpy(out, rows->z + i * rows->d, rows->d * sizeof *out);
    } else {
        data_row_dense(rows->data, i, rows->d, out);
    }
}

void binary_scores(const struct binary_rows *rows, const double *w, double *s) {
    if (!rows->z) {
        linear_scores(rows->data, w, rows->d, 1, s, rows->threads);
    } else if (rows->n > 0 && rows->d > 0) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)rows->n, (int)rows->d, 1, rows->z,
                    (int)rows->d, w, 1, 0, s, 1);
    }
}

void binary_scores_at(const struct binary_rows *rows, const uint32_t *at, size_t n_at,
                      const double *w, double *s) {
    if (!rows->z) {
        linear_scores_at(rows->data, w, rows->d, at, n_at, s, rows->threads);
        return;
    }
    for (size_t i = 0; i < n_at; i++) {
        s[i] = array_dot(rows->z + at[i] * rows->d, w, rows->d);
    }
}

/* The features that no stored row has. */
static void clear_absent(const struct binary_rows *rows, double *w) {
    size_t stored = rows->data->n_features;
    memset(w + stored, 0, (rows->d - stored) * sizeof *w);
}

int binary_adjoint(const struct binary_rows *rows, const double *r, double *w, struct error *err) {
    if (!rows->z) {
        clear_absent(rows, w);
        if (linear_adjoint(rows->data, r, w, rows->threads, err) < 0) {
            return -1;
        }
    } else if (rows->n == 0) { /* all rows are in other processes */
        memset(w, 0, rows->d * sizeof *w);
    } else {
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)rows->n, (int)rows->d, 1, rows->z, (int)rows->d,
                    r, 1, 0, w, 1);
    }
    cluster_sum(rows->cluster, w, rows->d);
    return 0;
}

int binary_normal(const struct binary_rows *rows, const double *r, const double *v,
                  double *products, double *w, struct error *err) {
    if (rows->z) {
        binary_scores(rows, v, products);
        for (size_t i = 0; i < rows->n; i++) {
            products[i] *= r[i];
        }
        return binary_adjoint(rows, products, w, err);
    }
    clear_absent(rows, w);
    if (linear_normal(rows->data, r, v, products, w, rows->threads, err) < 0) {
        return -1;
    }
    cluster_sum(rows->cluster, w, rows->d);
    return 0;
}
