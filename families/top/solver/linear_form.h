/* Kernel problems whose matrix has a small rank as linear problems, solved by the algorithms of the
 * linear kernel (explicit_features.h). */
#ifndef FAMILIES_TOP_SOLVER_LINEAR_FORM_H
#define FAMILIES_TOP_SOLVER_LINEAR_FORM_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/top/solver/risk.h"
#include "families/top/solver/top.h"
#include "fit/fit.h"
#include "fit/monitor.h"

#include <stddef.h>

/* The linear problem, and its algorithms. */
struct top_linear_form;

/* With so many features of the problem's kernel (explicit_features_size). Borrows problem and risk.
 * *form is NULL if these are not exact. Returns -1 with err set when memory is short. The caller
 * calls top_linear_form_free. */
int top_linear_form_create(struct top_linear_form **form, const struct problem *problem,
                           const struct top_risk *risk, size_t size, uint64_t seed,
                           struct error *err);
void top_linear_form_free(struct top_linear_form *form);

/* Solves to the gap epsilon, from the last solution. The fit has the coefficients of the kernel's
 * function, alpha and beta, and the bounds of the linear problem, which are not certified. The
 * caller calls fit_free. */
int top_linear_form_solve(struct top_linear_form *form, const struct top_parameters *parameters,
                          double epsilon, const struct monitor *monitor, struct fit *fit,
                          struct error *err);

#endif
