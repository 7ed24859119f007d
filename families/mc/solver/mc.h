/* Multi-class SVMs, linear and with kernels (doc/mathematics, "mc"). The formulations and their
 * duals are in formulation.h, the choice of algorithm is in policy.c. */
#ifndef FAMILIES_MC_SOLVER_MC_H
#define FAMILIES_MC_SOLVER_MC_H

#include "common/base/error.h"
#include "common/data/labels.h"
#include "common/kernel/problem.h"
#include "families/mc/solver/alpha.h"
#include "families/mc/solver/formulation.h"
#include "fit/monitor.h"
#include "fit/solution.h"

#include <stdbool.h>
#include <stdint.h>

enum mc_method {
    MC_AUTO,
    MC_BCD,   /* block coordinate descent on the dual */
    MC_NEWTON /* on smoothed losses; linear, few weights */
};

/* The formulation and its parameters other than C. */
struct mc_setup {
    enum mc_formulation formulation;
    double margin_scale; /* of relative margins */
    double bias;         /* value of the constant feature; 0: none */
    uint64_t seed;
    const double *weight; /* (names of the data): of C for each label; NULL: all 1 */
    bool keep;            /* store the dual point for mc_get_alpha */
};

struct mc_parameters {
    enum mc_method method;
    double cost, epsilon;
};

/* A prepared problem. It can be solved at any number of costs; each solve is warm-started from the
 * last solution. Borrows problem, which must outlive it; its data have DATA_NAME labels, and their
 * row weights multiply C. Fewer than two classes, and a row weight of 0, are errors. If the rows
 * are distributed, all processes must call mc_create and mc_solve. */
struct mc;
int mc_create(struct mc **mc, const struct problem *problem, const struct mc_setup *setup,
              struct error *err);
void mc_free(struct mc *mc);

/* The classes: the labels that occur in the problem's rows, on any process. */
const struct labels *mc_get_labels(const struct mc *mc);

/* The dual point of the last solution, alpha (n, classes), of this process's rows. */
const struct mc_alpha *mc_get_alpha(const struct mc *mc);

/* Certifies other coefficients of a kernel problem, solution->weights (n, classes) and bias, with
 * the dual point of the last solution, which must be stored, and sets the solution's bounds. */
int mc_replace(struct mc *mc, const struct mc_parameters *parameters, struct solution *solution,
               struct error *err);

/* Solves the problem; the outputs of the solution are the classes. The caller calls solution_free.
 * Fails if memory is short, if the method does not apply (MC_NEWTON with a kernel, or with too many
 * weights), or if scores overflow. */
int mc_solve(struct mc *mc, const struct mc_parameters *parameters, const struct monitor *monitor,
             struct solution *solution, struct error *err);

#endif
