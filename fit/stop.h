/* Why a solver ended. */
#ifndef FIT_STOP_H
#define FIT_STOP_H

#include "common/base/error.h"

#include <stdbool.h>

enum stop_reason {
    STOP_REACHED, /* what was asked for is reached; of a monitor: go on */
    /* a monitor asked for it */
    STOP_ITERATIONS,
    STOP_TIME,
    STOP_INTERRUPTED,
    /* nothing more can be gained, or too little */
    STOP_ROUNDING,
    STOP_PRECISION,      /* rounding of the kernel matrix, which is held in float */
    STOP_CROWDED,        /* mc with kernels: support vectors that no working set holds */
    STOP_STALLED,        /* steps gain too little, and rounding is not why */
    STOP_STUCK,          /* top's coordinate ascent, which need not converge */
    STOP_NOT_STATIONARY, /* smm of bounded rank */
    STOP_ROUNDS,         /* what looked reached was not, when recomputed, time and again */
    /* there is no gap */
    STOP_INDEFINITE,
    STOP_CROSSED, /* the certificate's bounds contradict each other */
    STOP_INFINITE /* its primal bound is not finite */
};

/* A fall of the gap, or of the distance from optimality, to more than this part of what it was is no
 * progress: several of them in a row end a run. */
static const double STOP_PROGRESS = 0.9;

/* Sets err to what the user reads where scores are not finite; returns -1. */
int stop_overflow(struct error *err);

/* What the user reads of it: a phrase, static, that is true of a fit that is not converged. */
const char *stop_message(enum stop_reason reason);

/* True if a bound of the certificate has failed. */
static inline bool stop_bounds_failed(enum stop_reason reason) {
    return reason == STOP_CROSSED || reason == STOP_INFINITE;
}

/* True if a monitor asked for it. */
static inline bool stop_limited(enum stop_reason reason) {
    return reason >= STOP_ITERATIONS && reason <= STOP_INTERRUPTED;
}

#endif
