/* The certificate of classification at the top: its loss and its dual point in the form that the
 * shared certificate takes: certify_bounds (fit/certify.h) computes the claimed gap from them. The
 * gaps during a run are the solvers' own (smo: top_smo_bounds). */
#ifndef FAMILIES_TOP_SOLVER_CERTIFY_H
#define FAMILIES_TOP_SOLVER_CERTIFY_H

#include "common/base/error.h"
#include "families/top/solver/risk.h"
#include "fit/certify.h"
#include "fit/fit.h"
#include "fit/score_map.h"

#include <stdint.h>

/* Data for the certificates of one problem. */
struct top_certifier {
    struct certify *certify;
    const struct score_map *map; /* of the solvers, with the constant feature */
    struct score_map plain;      /* without the constant feature */
    double constant;             /* value of the constant feature; 0: there is none */
    uint32_t *first_equal; /* (n) first row equal to each row; NULL: linear kernel, or not known */
};

/* `problem` has no constant feature; `map`, that of the solvers, has one of value `constant`.
 * Borrows both. The caller calls top_certifier_free. */
int top_certifier_create(struct top_certifier *certifier, const struct problem *problem,
                         const struct score_map *map, double constant, struct error *err);
void top_certifier_free(struct top_certifier *certifier);

/* The threshold at the scores of a fit, twice the rounding-error bound of the scores that determine
 * it, and the highest of all scores. */
struct top_level {
    double threshold, rounding, highest;
};

/* *zero_primal = an upper bound of the primal at w = 0. -1 if memory is short. */
int top_loss_at_zero(struct top_risk *risk, double cost, double *zero_primal, struct error *err);

/* Makes the fit's dual point feasible (families/top/solver/feasible_dual.h), fills the certificate
 * of the fit's weights and that point, and sets *level to that of the scores of the weights. The
 * coefficients of equal rows are added up at the first of them.
 *
 * If the gap is above epsilon, multiples of the weights are tried, and the best replaces them: at
 * large C the positives have to lie above the threshold by more than rounding. fit->bias gets the
 * bias of the constant feature; if the gap is above epsilon, it is the best one for the scores,
 * because the square of a large constant magnifies the rounding error of a sum of coefficients. */
int top_certify(const struct top_certifier *certifier, struct top_risk *risk, double cost,
                double epsilon, struct fit *fit, struct certificate *certificate,
                struct top_level *level, struct error *err);

#endif
