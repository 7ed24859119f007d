/* The rows that a sweep of block coordinate descent visits: each as often as its preference, which
 * follows the gains of its recent steps (Glasmachers & Dogan, "Accelerated coordinate descent with
 * adaptive coordinate frequencies", ACML 2013). */
#ifndef FAMILIES_MC_SOLVER_ROW_SAMPLING_H
#define FAMILIES_MC_SOLVER_ROW_SAMPLING_H

#include "common/base/error.h"
#include "common/base/random.h"

#include <stddef.h>
#include <stdint.h>

struct mc_sampling {
    size_t n;
    float min_preference; /* lower bound of the preferences */
    float rate;           /* learning rate of the preferences */
    float *preference;    /* (n) bounded around 1 */
    float *due;           /* (n) accumulated visits, the fraction that is not done yet */
    double average;       /* moving average of the gains */
    struct random random;
    uint32_t *order; /* (2 n) the rows of the present sweep, some repeated */
};

/* All preferences are 1, for n rows. Short runs on few rows need a high rate; for long runs a low
 * rate is more robust to single large gains. The caller calls mc_sampling_free. */
int mc_sampling_create(struct mc_sampling *sampling, size_t n, float min_preference, float rate,
                       uint64_t seed, struct error *err);
void mc_sampling_free(struct mc_sampling *sampling);

/* Resets the preferences to 1. */
void mc_sampling_reset(struct mc_sampling *sampling);

/* Fills order with the rows of the next sweep, about n of them; returns how many. */
size_t mc_sampling_sweep(struct mc_sampling *sampling);

/* Updates the preference of row i by the gain of a step. */
static inline void mc_sampling_gain(struct mc_sampling *sampling, size_t i, double gain) {
    /* 1 + x approximates the exp(x) of the paper; the changes are small */
    /* without either limit 3,000 rows of 300 classes take 9 or 12 sweeps instead of 5 */
    const float max = 20;
    float p = sampling->preference[i];
    float ratio = sampling->average > 0 ? (float)(gain / sampling->average) : 1;
    float now = p * (1 + sampling->rate * ((ratio > 4 ? 4 : ratio) - 1));
    now = now < sampling->min_preference ? sampling->min_preference : now > max ? max : now;
    sampling->preference[i] = now;
    sampling->average += (gain - sampling->average) / (double)sampling->n;
}

#endif
