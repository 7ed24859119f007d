/* The names of the algorithms. */
#include "fit/algorithm.h"

#include <stdio.h>

const char *const algorithm_names[N_ALGORITHMS] = {
    [ALGORITHM_CONDITIONAL_GRADIENT] = "conditional-gradient",
    [ALGORITHM_COORDINATE_ASCENT] = "coordinate-ascent",
    [ALGORITHM_ALTERNATION] = "alternation",
    [ALGORITHM_GRADIENT] = "gradient",
    [ALGORITHM_COORDINATE_DESCENT] = "coordinate-descent",
    [ALGORITHM_SMO] = "smo",
    [ALGORITHM_EXPLICIT_FEATURES] = "explicit-features",
    [ALGORITHM_LOW_RANK] = "low-rank",
    [ALGORITHM_CUTTING_PLANES] = "cutting-planes",
    [ALGORITHM_NEWTON] = "newton",
    [ALGORITHM_NEWTON_DIRECT] = "newton-direct",
    [ALGORITHM_ACTIVE_SET] = "active-set",
    [ALGORITHM_ADMM] = "admm",
    [ALGORITHM_ADMM_LOW_RANK] = "admm-low-rank",
    [ALGORITHM_INTERIOR_POINT] = "interior-point",
    [ALGORITHM_INTERIOR_POINT_REDUCED] = "interior-point-reduced"};

void algorithm_list(unsigned algorithms, const char *separator, char names[ALGORITHM_NAMES]) {
    size_t n = (size_t)snprintf(names, ALGORITHM_NAMES, "%s", algorithms ? "" : "none");
    for (int a = 0; a < N_ALGORITHMS; a++) {
        if (algorithms >> a & 1) {
            n += (size_t)snprintf(names + n, ALGORITHM_NAMES - n, "%s%s", n ? separator : "",
                                  algorithm_names[a]);
        }
    }
}
