/* The test whether w = 0 is optimal (zero_solution.h). */
#include "families/top/solver/zero_solution.h"

#include "families/top/solver/feasible_dual.h"

bool top_zero_is_optimal(const struct top_risk *risk) {
    bool exceeds = false;
    for (size_t i = 0; i < risk->n && !exceeds; i++) {
        exceeds =
            risk->cost[i] > 0 && risk->cost[i] > risk->share[i] * risk->total_cost * (1 + 1e-12);
    }
    return !cluster_any(risk->cluster, exceeds);
}

int top_zero_fit(const struct top_risk *risk, double cost, size_t dimension, struct fit *fit,
                 struct error *err) {
    if (top_dual_allocate(fit, risk->n, dimension, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < risk->n; i++) {
        fit->alpha[i] = cost * risk->cost[i] * top_slope(risk->square, 0);
        fit->beta[i] = fit->alpha[i];
    }
    return 0;
}

const char *top_zero_explain(enum top_kind kind) {
    switch (kind) {
    case TOP_MEAN:
        return "w = 0 is optimal: the centroid of the positives is no further than the means of K "
               "rows of the threshold";
    case TOP_QUANTILE:
        return "w = 0 is optimal: no direction takes the positives above the threshold";
    case TOP_NONE:
        break;
    }
    return "w = 0 is optimal: no direction takes the positives above the negatives";
}
