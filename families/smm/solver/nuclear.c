/* Singular value thresholding and truncation (nuclear.h). */
#include "families/smm/solver/nuclear.h"

#include "common/base/gap.h"
#include "common/base/memory.h"
#include "families/smm/solver/spectral.h"

#include <stdlib.h>
#include <string.h>

int smm_nuclear_threshold(const double *A, size_t height, size_t width, double tau, double *W,
                          double *nuclear_norm, double *squared_norm, struct error *err) {
    struct smm_spectral spectral;
    int status = smm_spectral_create(&spectral, height, width, err) < 0
                     ? -1
                     : smm_spectral_find(&spectral, A, 0, tau, err);
    if (status == 0) {
        smm_spectral_threshold(&spectral, W, nuclear_norm, squared_norm);
    }
    smm_spectral_free(&spectral);
    return status;
}

int smm_nuclear_truncate(const struct smm_matrices *matrices, const struct binary_loss *loss,
                         double tau, double epsilon, const double *W, struct binary_fit *fit,
                         struct error *err) {
    size_t cells = matrices->height * matrices->width, n = matrices->n;
    struct smm_spectral spectral;
    double *low = memory_array(cells + 3 * n, sizeof *low, "scores", err);
    int status = smm_spectral_create(&spectral, matrices->height, matrices->width, err) < 0 || !low
                     ? -1
                     : smm_spectral_find(&spectral, W, 0, 0, err);
    for (size_t r = 0; status == 0 && r <= spectral.k; r++) {
        double nuclear_norm, squared_norm, sum, *scores = low + cells;
        spectral.r = r;
        smm_spectral_threshold(&spectral, low, &nuclear_norm, &squared_norm);
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
    smm_spectral_free(&spectral);
    free(low);
    return status;
}
