/* The certificate of RankSVM: its loss and its dual points, handed to the common certificate
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

/* The certifier of one problem. */
struct rank_certifier {
    struct certify *certify;
    const struct score_map *map;
    struct rank_pairs *pairs;
    struct exterior *exterior; /* pair features; NULL without them */
    const struct rank_risk *hinge;
    /* (map->n) total weight of the pairs that contain each row; NULL with pair features */
    double *weight;
    double
        row_factor; /* pair features: rounding factor of the rows' kernel (certify_error_factor) */
    bool double_double; /* pair features: margins are evaluated in double-double */
};

/* Borrows all arguments. -1 if memory is short. The caller calls rank_certifier_free, also then. */
int rank_certifier_create(struct rank_certifier *certifier, const struct problem *problem,
                          const struct score_map *map, struct rank_pairs *pairs,
                          struct exterior *exterior, const struct rank_risk *hinge,
                          struct error *err);
void rank_certifier_free(struct rank_certifier *certifier);

/* An upper bound of the loss of the zero solution: the weights of RANK_QUERY are rounded quotients.
 */
double rank_certifier_zero_loss(const struct rank_certifier *certifier, double cost);

/* Recomputes both bounds from the fit's weights and its dual point, and fills certificate. The dual
 * point has one of three forms. Coefficients of pairs come with bounds of their errors
 * (dual_error). A smoothed loss is given by scores (dual_scores): its coefficients are recomputed
 * here, dual_weights and smoothing are overwritten. Else it is a convex combination of cutting
 * planes. With pair features, margins are evaluated in double-double, now and from then on, if the
 * gap is above epsilon and the rounding-error bound is not small beside epsilon. -1 if memory is
 * short. */
int rank_certify(struct rank_certifier *certifier, enum rank_loss kind, double cost, double epsilon,
                 struct fit *fit, struct certificate *certificate, struct error *err);

#endif
