/* Grill (Adam, Mácha, Šmídl, Pevný: "General framework for binary classification on top samples",
 * 2021; after Boyd, Cortes, Mohri, Radovanovic 2012), linear, in the primal:
 *   min 1/2 |w|^2 + C (sum cost_i l(t - s_i) + cost/negative sum negative_j l(s_j - t)),
 * t the exact (1 - tau) quantile of the scores of J; both classes have equal total cost. The
 * problem is not convex. Limited-memory BFGS (Nocedal 1980) runs from several starts, and the best
 * result is the solution. An iteration costs two products with the data for each trial of its line
 * search. */
#ifndef FAMILIES_TOP_SOLVER_GRILL_H
#define FAMILIES_TOP_SOLVER_GRILL_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "fit/monitor.h"
#include "fit/solution.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct top_grill {
    const struct problem *problem;        /* linear */
    const double *cost, *mass, *negative; /* (n) weights of positives, of J, of negatives */
    double tau, C;
    bool square;
    uint64_t seed;
    size_t starts;  /* distributed over the processes of problem->starts, if there are any */
    double epsilon; /* a start ends when ten iterations improve the value by less than this part */
};

/* The solution has no certificate, and its dual is 0. *threshold: that of the solution. -1 if
 * memory is short or scores overflow. The caller calls solution_free. */
int top_grill_solve(const struct top_grill *grill, const struct monitor *monitor,
                    struct solution *solution, double *threshold, struct error *err);

#endif
