/* The certificate of RankSVM: its loss and its dual points at the door of all families
 * (fit/certify.h). */
#ifndef FAMILIES_RANK_SOLVER_CERTIFY_H
#define FAMILIES_RANK_SOLVER_CERTIFY_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/rank/solver/exterior.h"
#include "families/rank/solver/pairs.h"
#include "families/rank/solver/rank.h"
#include "families/rank/solver/risk.h"
#include "fit/certify.h"
#include "fit/fit.h"
#include "fit/score_map.h"

#include <stdbool.h>

/* What certificates of one problem are made with. */
struct rank_certifier {
    struct certify *certify;
    const struct score_map *map;
    struct rank_pairs *pairs;
    struct exterior *exterior; /* pair features; else NULL */
    const struct rank_risk *hinge;
    double *weight; /* (map->n) weight of the pairs that each row is in; NULL with pair features */
    double row_factor; /* of the rows' kernel, with pair features */
    bool fine;         /* these are evaluated in long double */
};

/* Borrows all. Fails when memory is short; the caller calls rank_certifier_free, then too. */
int rank_certifier_create(struct rank_certifier *certifier, const struct problem *problem,
                          const struct score_map *map, struct rank_pairs *pairs,
                          struct exterior *exterior, const struct rank_risk *hinge,
                          struct error *err);
void rank_certifier_free(struct rank_certifier *certifier);

/* The loss of f = 0, at least: weights that count for queries are quotients. */
double rank_certifier_zero_loss(const struct rank_certifier *certifier, double cost);

/* Recomputes both bounds from the fit's weights and its dual point: one of pairs, with the errors
 * of its coefficients, one that smoothed losses make at dual_scores, which are counted again (its
 * dual_weights become theirs, its smoothing moves to a grid), or a sum of planes. Where the gap is
 * above epsilon and the rounding-error bound of pair features is not small beside it, they are
 * evaluated in double-double, now and from then on. Fails when memory is short. */
int rank_certify(struct rank_certifier *certifier, enum rank_loss kind, double cost, double epsilon,
                 struct fit *fit, struct certificate *certificate, struct error *err);

#endif
