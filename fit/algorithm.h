/* The algorithms by their names, as reports, models and logs have them. */
#ifndef FIT_ALGORITHM_H
#define FIT_ALGORITHM_H

/* In the order in which names are listed: those that come first usually, then the fallbacks. */
enum algorithm {
    ALGORITHM_CONDITIONAL_GRADIENT,
    ALGORITHM_COORDINATE_ASCENT, /* the published one of top */
    ALGORITHM_ALTERNATION,       /* the published one of smm's low rank */
    ALGORITHM_GRADIENT,
    ALGORITHM_COORDINATE_DESCENT,
    ALGORITHM_SMO,
    ALGORITHM_CUTTING_PLANES,
    ALGORITHM_NEWTON,
    ALGORITHM_NEWTON_DIRECT, /* steps by a factorisation of the kernel matrix's system */
    ALGORITHM_ACTIVE_SET,
    ALGORITHM_ADMM,
    ALGORITHM_ADMM_LOW_RANK, /* of a low-rank surrogate of the kernel matrix */
    ALGORITHM_INTERIOR_POINT,
    ALGORITHM_INTERIOR_POINT_REDUCED, /* of top: over a working set */
    N_ALGORITHMS
};

/* Each algorithm's name: its words with hyphens. */
extern const char *const algorithm_names[N_ALGORITHMS];

/* Room for the names of all, with two characters between. */
enum { ALGORITHM_NAMES = 24 * N_ALGORITHMS };

/* The names of those whose bits are set, with `between` between, of two characters at the most; of
 * none: "none". */
void algorithm_list(unsigned algorithms, const char *between, char names[ALGORITHM_NAMES]);

#endif
