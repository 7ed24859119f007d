/* Products with the rows of a binary SVM, wherever they are. */
#include "common/kernel/linear.h"
#include "solvers/smm/binary.h"

#include <cblas.h>
#include <string.h>

void binary_scores(const struct binary_rows *rows, const double *w, double *s) {
    if (!rows->z) {
        linear_scores(rows->data, w, rows->d, 1, s, rows->threads);
    } else if (rows->n > 0 && rows->d > 0) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)rows->n, (int)rows->d, 1, rows->z,
                    (int)rows->d, w, 1, 0, s, 1);
    }
}

int binary_adjoint(const struct binary_rows *rows, const double *r, double *w, struct error *err) {
    if (!rows->z) {
        size_t stored = rows->data->n_features;
        memset(w + stored, 0, (rows->d - stored) * sizeof *w);
        if (linear_adjoint(rows->data, r, w, rows->threads, err) < 0) {
            return -1;
        }
    } else if (rows->n == 0) { /* all are on other ranks */
        memset(w, 0, rows->d * sizeof *w);
    } else {
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)rows->n, (int)rows->d, 1, rows->z, (int)rows->d,
                    r, 1, 0, w, 1);
    }
    cluster_sum(rows->cluster, w, rows->d);
    return 0;
}
