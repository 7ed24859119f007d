/* The reasons for which a solver stops. */
#ifndef FIT_STOP_H
#define FIT_STOP_H

#include "common/base/error.h"

#include <stdbool.h>

enum stop_reason {
    STOP_REACHED, /* the target gap is reached; from a monitor: continue */
    /* limits of the user, reported by a monitor */
    STOP_ITERATIONS,
    STOP_TIME,
    STOP_INTERRUPTED,
    /* no further progress, or slow convergence. Solvers that cannot tell the cause of no progress
     * report rounding; certify_reason (fit/certify.h) changes that to STOP_STALLED unless
     * rounding-error bounds are at least half of the gap. */
    STOP_ROUNDING,
    STOP_FLOAT_KERNEL, /* rounding of the kernel matrix, which is stored in float */
    /* mc with kernels: more support vectors than a working set holds, or ADMM would be faster */
    STOP_WORKING_SET,
    STOP_STALLED,          /* convergence is too slow, and rounding is not the cause */
    STOP_STUCK,            /* top's coordinate ascent: no entry can move, though not optimal */
    STOP_NOT_STATIONARY,   /* smm of bounded rank */
    STOP_OUTER_ITERATIONS, /* the solver met each tolerance, but no certified gap met the target */
    /* there is no valid gap */
    STOP_INDEFINITE,
    STOP_CONTRADICTORY, /* the dual bound is above the primal bound */
    STOP_INFINITE       /* the primal bound is not finite */
};

/* Progress means that the gap, or the distance from optimality, falls below this fraction of its
 * last value. Several steps in a row without progress end a run: the solver has stalled. */
static const double STOP_PROGRESS = 0.9;

/* Sets err to the message for scores that are not finite. Returns -1. */
int stop_overflow(struct error *err);

/* The message for the user: a static phrase that describes a fit that has not converged. */
const char *stop_message(enum stop_reason reason);

/* True if a bound of the certificate is false. */
static inline bool stop_bounds_failed(enum stop_reason reason) {
    return reason == STOP_CONTRADICTORY || reason == STOP_INFINITE;
}

/* True if a limit of the user, reported by a monitor, stopped the solver. */
static inline bool stop_limited(enum stop_reason reason) {
    return reason >= STOP_ITERATIONS && reason <= STOP_INTERRUPTED;
}

#endif
