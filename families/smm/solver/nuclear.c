/* Singular value thresholding and truncation (nuclear.h). */
#include "families/smm/solver/nuclear.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/svd.h"

#include <stdlib.h>
#include <string.h>

int smm_nuclear_threshold(const double *A, size_t height, size_t width, double tau, double *W,
                          double *nuclear_norm, double *squared_norm, struct error *err) {
    size_t k = smaller(height, width), r = 0;
    double *U = memory_array(height * k + k + k * width, sizeof *U, "singular values", err);
    if (!U) {
        return -1;
    }
    double *s = U + height * k, *Vt = s + k;
    int status = svd_thin(A, height, width, U, s, Vt, err);
    if (status == 0) {
        *nuclear_norm = *squared_norm = 0;
        while (r < k && s[r] > tau) {
            double left = s[r] - tau;
            *nuclear_norm += left;
            *squared_norm += left * left;
            for (size_t c = 0; c < width; c++) {
                Vt[r * width + c] *= left;
            }
            r++;
        }
        for (size_t a = 0; a < height; a++) { /* closes up the first r columns */
            memmove(U + a * r, U + a * k, r * sizeof *U);
        }
        memset(W, 0, height * width * sizeof *W);
        if (r > 0) {
            smm_product(U, Vt, height, r, width, W);
        }
    }
    free(U);
    return status;
}

/* W = the r leading singular triples of U diag(s) Vt, with its nuclear and squared norm. */
static void cut(const struct smm_matrices *matrices, const double *U, const double *s,
                const double *Vt, size_t r, double *W, double *nuclear_norm, double *squared_norm) {
    size_t height = matrices->height, width = matrices->width, k = smaller(height, width);
    *nuclear_norm = *squared_norm = 0;
    memset(W, 0, height * width * sizeof *W);
    for (size_t i = 0; i < r; i++) {
        *nuclear_norm += s[i];
        *squared_norm += s[i] * s[i];
        for (size_t a = 0; a < height; a++) {
            array_add(W + a * width, s[i] * U[a * k + i], Vt + i * width, width);
        }
    }
}

int smm_nuclear_truncate(const struct smm_matrices *matrices, const struct binary_loss *loss,
                         double tau, double epsilon, const double *W, struct binary_fit *fit,
                         struct error *err) {
    size_t height = matrices->height, width = matrices->width, k = smaller(height, width);
    size_t cells = height * width, n = matrices->n;
    double *U =
        memory_array(height * k + k + k * width + cells + 3 * n, sizeof *U, "singular values", err);
    if (!U) {
        return -1;
    }
    double *s = U + height * k, *Vt = s + k, *low = Vt + k * width, *scores = low + cells;
    int status = svd_thin(W, height, width, U, s, Vt, err);
    for (size_t r = 0; status == 0 && r <= k; r++) {
        double nuclear_norm, squared_norm, sum;
        cut(matrices, U, s, Vt, r, low, &nuclear_norm, &squared_norm);
        smm_scores(matrices, low, scores);
        double bias = binary_bias(loss, scores, n, scores + n, &sum);
        double primal = 0.5 * squared_norm + tau * nuclear_norm + sum;
        bool reached = gap_reached(primal, fit->dual, epsilon);
        if (reached || primal < fit->primal) {
            fit->primal = primal;
            fit->bias = bias;
            memcpy(fit->w, low, cells * sizeof *low);
        }
        if (reached) {
            break;
        }
    }
    free(U);
    return status;
}
