/* Projection of the Hessian, and curvature for its null space. */
#include "families/mc/solver/curvature.h"

/* Subtracts the mean from k numbers that are `step` apart. */
static void take_mean_off(double *number, size_t k, size_t step) {
    double sum = 0;
    for (size_t c = 0; c < k; c++) {
        sum += number[c * step];
    }
    for (size_t c = 0; c < k; c++) {
        number[c * step] -= sum / (double)k;
    }
}

static void centre(size_t k, size_t d, double *H) {
    size_t size = k * d;
    for (size_t i = 0; i < size; i++) {
        for (size_t j = i + 1; j < size; j++) {
            H[i * size + j] = H[j * size + i];
        }
    }
    for (size_t i = 0; i < size; i++) { /* H P */
        for (size_t f = 0; f < d; f++) {
            take_mean_off(H + i * size + f, k, d);
        }
    }
    for (size_t f = 0; f < d; f++) { /* P H P */
        for (size_t j = 0; j < size; j++) {
            take_mean_off(H + f * size + j, k, d * size);
        }
    }
}

static void add_mean(size_t k, size_t d, double *H) {
    size_t size = k * d;
    for (size_t f = 0; f < d; f++) {
        double mean = 0;
        for (size_t c = 0; c < k; c++) {
            mean += H[(c * d + f) * (size + 1)] / (double)k;
        }
        for (size_t a = 0; a < k; a++) {
            for (size_t b = 0; b <= a; b++) {
                H[(a * d + f) * size + b * d + f] += mean / (double)k;
            }
        }
    }
}

void mc_curvature_close(const struct mc_shape *shape, size_t d, double *H) {
    if (shape->form->centred) {
        centre(shape->k, d, H);
    }
    if (shape->form->centred || shape->form->relative) {
        add_mean(shape->k, d, H);
    }
}
