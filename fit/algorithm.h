/* The names of the algorithms, as reports, models and logs print them. */
#ifndef FIT_ALGORITHM_H
#define FIT_ALGORITHM_H

/* Names are listed in this order: first the usual algorithms, then the fallbacks. */
enum algorithm {
    ALGORITHM_CONDITIONAL_GRADIENT,
    ALGORITHM_COORDINATE_ASCENT, /* top: the published algorithm */
    ALGORITHM_ALTERNATION,       /* smm of bounded rank: the published algorithm */
    ALGORITHM_GRADIENT,
    ALGORITHM_EXPLICIT_FEATURES, /* a kernel problem as a linear one */
    ALGORITHM_COORDINATE_DESCENT,
    ALGORITHM_SMO,
    ALGORITHM_LOW_RANK, /* an approximate problem by landmarks; rank: its solution, top: a start */
    ALGORITHM_CUTTING_PLANES,
    ALGORITHM_NEWTON,
    ALGORITHM_NEWTON_DIRECT, /* Newton steps by a Cholesky factorisation */
    ALGORITHM_ACTIVE_SET,
    ALGORITHM_ADMM,
    ALGORITHM_ADMM_LOW_RANK, /* ADMM on a low-rank surrogate of the kernel matrix */
    ALGORITHM_INTERIOR_POINT,
    ALGORITHM_INTERIOR_POINT_REDUCED, /* top: restricted to a working set */
    N_ALGORITHMS
};

/* The name of each algorithm, its words joined by hyphens. */
extern const char *const algorithm_names[N_ALGORITHMS];

/* Size of a buffer that holds all names, separated by two characters each. */
enum { ALGORITHM_NAMES = 24 * N_ALGORITHMS };

/* Writes the names of the algorithms whose bits are set to `names`, with `separator` (at most two
 * characters) between them, or "none" if no bit is set. */
void algorithm_list(unsigned algorithms, const char *separator, char names[ALGORITHM_NAMES]);

#endif
