/* Which rows a sweep of block coordinate descent visits: all of them equally often, or in
 * proportion to how much their recent steps have gained (Glasmachers & Dogan, "Accelerated
 * coordinate descent with adaptive coordinate frequencies", ACML 2013). */
#ifndef FAMILIES_MC_SOLVER_ROW_SAMPLING_H
#define FAMILIES_MC_SOLVER_ROW_SAMPLING_H

#include "common/base/error.h"
#include "common/base/random.h"

#include <stddef.h>
#include <stdint.h>

struct mc_sampling {
    size_t n;
    float least;       /* preference */
    float rate;        /* at which preferences follow the gains */
    float *preference; /* (n) within bounds around 1 */
    float *due;        /* (n) what is left of a row's visits */
    double sum;        /* of preference */
    double average;    /* gain of a step, recently */
    struct random random;
    uint32_t *order; /* (2 n) */
};

/* All preferences 1, for n rows. Short runs on few rows want a quick rate, long ones a slow one
 * that one large gain does not lead astray. The caller ends with mc_sampling_free. */
int mc_sampling_create(struct mc_sampling *sampling, size_t n, float least, float rate,
                       uint64_t seed, struct error *err);
void mc_sampling_free(struct mc_sampling *sampling);

/* Forgets the gains. */
void mc_sampling_reset(struct mc_sampling *sampling);

/* Fills order with the rows of the next sweep, about n of them; returns how many. */
size_t mc_sampling_sweep(struct mc_sampling *sampling);

/* Tells the gain of a step at row i. */
static inline void mc_sampling_gain(struct mc_sampling *sampling, size_t i, double gain) {
    /* exp(x) is near enough 1 + x for the small changes of a step */
    const float most = 20;
    float p = sampling->preference[i];
    float ratio = sampling->average > 0 ? (float)(gain / sampling->average) : 1;
    float now = p * (1 + sampling->rate * ((ratio > 4 ? 4 : ratio) - 1));
    now = now < sampling->least ? sampling->least : now > most ? most : now;
    sampling->preference[i] = now;
    sampling->sum += (double)now - (double)p;
    sampling->average += (gain - sampling->average) / (double)sampling->n;
}

#endif
