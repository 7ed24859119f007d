/* Elimination of rows from a weighted Laplacian, which gives L = B'B (laplacian_factor.h). */
#include "families/rank/solver/laplacian_factor.h"

#include "common/base/array.h"
#include "common/base/sizes.h"

#include <cblas.h>
#include <math.h>

enum { PANEL = 32 }; /* rows whose updates of the later rows are one matrix product */

/* Eliminates rows first .. end - 1, without their updates of rows from end on. */
static void factor_panel(double *W, size_t n, size_t first, size_t end) {
    for (size_t k = first; k < end; k++) {
        double *row = W + k * n, sum = 0;
        for (size_t p = first; p < k; p++) {
            array_add(row + k + 1, W[p * n + k], W + p * n + k + 1, n - k - 1);
        }
        for (size_t j = k + 1; j < n; j++) {
            sum += row[j];
        }
        row[k] = sqrt(sum);
        for (size_t j = k + 1; sum > 0 && j < n; j++) {
            row[j] /= -row[k];
        }
    }
}

void rank_laplacian_factor(double *W, size_t n) {
    for (size_t first = 0; first < n; first += PANEL) {
        size_t m = smaller(PANEL, n - first), end = first + m;
        factor_panel(W, n, first, end);
        if (end < n) {
            cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)(n - end), (int)m, 1,
                        W + first * n + end, (int)n, 1, W + end * n + end, (int)n);
        }
    }
}

void rank_laplacian_factor_multiply(const double *B, size_t n, double *F, size_t m) {
    cblas_dtrmm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, (int)n, (int)m, 1,
                B, (int)n, F, (int)m);
}
