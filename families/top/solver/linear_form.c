/* The linear problem, and coefficients of its solution (linear_form.h). */
#include "families/top/solver/linear_form.h"

#include "common/base/memory.h"
#include "common/kernel/explicit_features.h"
#include "families/top/solver/certify.h"
#include "families/top/solver/policy.h"
#include "fit/score_map.h"

#include <stdlib.h>

struct top_linear_form {
    struct explicit_features features;
    struct score_map map;
    struct problem plain; /* without the constant feature */
    struct top_certifier certifier;
    struct top_algorithms algorithms; /* the risk's arrays are borrowed */
};

int top_linear_form_create(struct top_linear_form **form, const struct problem *problem,
                           const struct top_risk *risk, size_t size, uint64_t seed,
                           struct error *err) {
    struct top_linear_form *made = memory_zeros(1, sizeof *made, "a solver", err);
    *form = NULL;
    if (!made || explicit_features_create(&made->features, problem, size, seed, err) < 0) {
        free(made);
        return -1;
    }
    if (!made->features.exact) {
        top_linear_form_free(made);
        return 0;
    }
    made->plain = made->features.problem;
    made->plain.constant = 0;
    made->algorithms = (struct top_algorithms){.problem = &made->features.problem,
                                               .map = &made->map,
                                               .values = (double)problem->n *
                                                         (double)made->features.data.n_features,
                                               .risk = *risk};
    if (score_map_create(&made->map, &made->features.problem, err) < 0 ||
        top_certifier_create(&made->certifier, &made->plain, &made->map, problem->constant, err) <
            0) {
        top_linear_form_free(made);
        return -1;
    }
    made->algorithms.norm_bound = certify_norm_bounds(made->certifier.certify);
    *form = made;
    return 0;
}

void top_linear_form_free(struct top_linear_form *form) {
    if (form) {
        form->algorithms.risk = (struct top_risk){0};
        top_algorithms_free(&form->algorithms);
        top_certifier_free(&form->certifier);
        score_map_free(&form->map);
        explicit_features_free(&form->features);
        free(form);
    }
}

int top_linear_form_solve(struct top_linear_form *form, const struct top_parameters *parameters,
                          double epsilon, const struct monitor *monitor, struct fit *fit,
                          struct error *err) {
    const struct problem *problem = &form->features.problem;
    if (top_algorithms_solve(&form->algorithms, parameters, epsilon, 0, monitor, fit, err) < 0) {
        return -1;
    }
    double *weights = memory_array(problem->n, sizeof *weights, "weights", err);
    if (!weights) {
        fit_free(fit);
        return -1;
    }
    if (problem->constant > 0 && !fit->has_bias) {
        fit->bias = problem->constant * fit->weights[problem->data->n_features];
        fit->has_bias = true;
    }
    int status = explicit_features_expand(&form->features, fit->weights, 1, weights, err);
    free(fit->weights);
    free(fit->dual_weights);
    free(fit->scores);
    free(fit->dual_scores);
    fit->weights = weights;
    fit->dual_weights = fit->scores = fit->dual_scores = NULL;
    if (status < 0) {
        fit_free(fit);
    }
    return status;
}
