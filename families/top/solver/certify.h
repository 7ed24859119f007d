/* The certificate of classification at the top: its loss and its dual point at the door of all
 * families (fit/certify.h). */
#ifndef FAMILIES_TOP_SOLVER_CERTIFY_H
#define FAMILIES_TOP_SOLVER_CERTIFY_H

#include "common/base/error.h"
#include "families/top/solver/risk.h"
#include "fit/certify.h"
#include "fit/fit.h"
#include "fit/score_map.h"

#include <stdint.h>

/* What certificates of one problem are made with. */
struct top_certifier {
    struct certify *certify;
    const struct score_map *map; /* of the engines, with the constant feature */
    struct score_map plain;      /* without */
    double constant;             /* value of the constant feature, 0: none */
    uint32_t *twin; /* (n) the first row that is equal to each; NULL: linear, or unknown */
};

/* From the problem without a constant feature, and the engines' map, which has the one of that
 * value. Borrows both; the caller calls top_certifier_free. */
int top_certifier_create(struct top_certifier *certifier, const struct problem *problem,
                         const struct score_map *map, double constant, struct error *err);
void top_certifier_free(struct top_certifier *certifier);

/* *nothing = the primal of w = 0, at least. */
int top_loss_of_nothing(struct top_risk *risk, double cost, double *nothing, struct error *err);

/* Makes the fit's dual point feasible (families/top/solver/feasible_dual.h) and fills the
 * certificate of its weights and that point, and the threshold of these weights. Where the gap is
 * above epsilon the weights are tried at other lengths, and replaced where that is better: at large
 * C rows are to lie above the threshold by what rounding may take. Coefficients of equal rows
 * become one. fit->bias gets what the constant feature adds to the scores: where the gap is above
 * epsilon, what is best for them, since the square of a large constant magnifies what rounding adds
 * to a sum of coefficients. */
int top_certify(const struct top_certifier *certifier, struct top_risk *risk, double cost,
                double epsilon, struct fit *fit, struct certificate *certificate, double *threshold,
                struct error *err);

#endif
