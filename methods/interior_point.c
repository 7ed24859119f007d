/* The steps of the interior-point method. */
#include "methods/interior_point.h"

#include "common/base/array.h"
#include "methods/interior_point_private.h"

#include <math.h>
#include <string.h>

enum {
    MAX_REFINEMENTS = 30, /* iterative refinements of a solution */
    MAX_CORRECTIONS = 4,  /* centrality corrections of a step */
    MAX_STALLED = 12      /* iterations without progress: rounding stops it */
};

static const double TO_BOUND = 0.995; /* largest fraction of the way to the bounds of a step */
static const double REFINED =
    1e-30; /* relative size of a refinement after which no other follows */
/* While the distance is above FAR times the sum of products, mu is multiplied by at least
 * MIN_FACTOR: if mu falls before the residual, the steps become short. */
static const double FAR = 100, MIN_FACTOR = 0.3;
/* Centrality corrections: a step of length LONG gets none. A correction aims at a step longer by
 * FURTHER, and brings products outside of target / RANGE .. RANGE * target back into that range. */
static const double LONG = 0.9, FURTHER = 0.3, RANGE = 10;

/* ---- steps ---- */

/* Sets theta, and with groups the rest of each. */
static void set_theta(struct interior *in) {
    const struct interior_problem *problem = &in->problem;
    for (size_t j = 0; j < problem->n; j++) {
        double other = problem->squared ? 1 / (2 * problem->cost[j])
                       : problem->group ? 0
                                        : in->xi[j] / in->t[j];
        in->theta[j] = 1 / (in->s[j] / in->a[j] + other);
    }
    for (size_t g = 0; problem->group && g < in->n_groups; g++) {
        in->rest[g] = in->t[g] / in->xi[g];
    }
}

/* out = (diag(theta) - theta theta' / (rest + sum theta)) r for the hinges first .. end of a group.
 * The entry of the largest theta comes from the sum of all, rest times the mean of r, because it
 * would be lost in rounding otherwise. */
static void apply_theta_to_group(const struct interior *in, size_t first, size_t end,
                                 const double *r, double *out) {
    const double *theta = in->theta;
    double rest = in->rest[in->group[first]], sum = rest, mean = 0, others = 0;
    size_t largest = first;
    for (size_t j = first; j < end; j++) {
        sum += theta[j];
        largest = theta[j] > theta[largest] ? j : largest;
    }
    for (size_t j = first; j < end; j++) {
        mean += theta[j] / sum * r[j];
    }
    for (size_t j = first; j < end; j++) {
        if (j != largest) {
            out[j] = theta[j] * (r[j] - mean);
            others += out[j];
        }
    }
    out[largest] = rest * mean - others;
}

/* out (n) = the change of a for the change r of the slacks. */
static void apply_theta(const struct interior *in, const double *r, double *out) {
    size_t n = in->problem.n, end;
    if (!in->problem.group) {
        for (size_t j = 0; j < n; j++) {
            out[j] = in->theta[j] * r[j];
        }
        return;
    }
    for (size_t first = 0; first < n; first = end) {
        for (end = first + 1; end < n && in->group[end] == in->group[first];) {
            end++;
        }
        apply_theta_to_group(in, first, end, r, out);
    }
}

/* residual = A'(a + a_step) - J (w + step) - z. */
static void set_residual(struct interior *in) {
    const struct interior_problem *problem = &in->problem;
    problem->adjoint(problem->context, in->a_step, in->residual);
    for (size_t k = 0; k < problem->dimension; k++) {
        in->residual[k] += in->dual_residual[k] - interior_counted(problem, k) * in->step[k];
    }
}

/* Solves (J + Q^-1 + A' theta A) step = dual_residual + Q^-1 residual + A' theta rho, with a_step =
 * theta (rho - A step), by iterative refinement. Refinements are added to a_step as well: with a
 * large theta, rho - A step would give a_step only up to the rounding of scores times theta. The
 * product of a refinement with its residual measures its size independently of the scale. */
static void solve_system(struct interior *in, double target) {
    const struct interior_problem *problem = &in->problem;
    const struct interior_term *term = problem->term;
    size_t dimension = problem->dimension;
    memset(in->step, 0, dimension * sizeof *in->step);
    apply_theta(in, in->rho, in->a_step);
    double first = 0, last = INFINITY;
    for (int round = 0; round <= MAX_REFINEMENTS; round++) {
        set_residual(in);
        if (term) {
            term->add_residual(term->context, target, in->step, in->residual);
        }
        memcpy(in->rhs, in->residual, dimension * sizeof *in->rhs);
        problem->solve(problem->context, in->rhs);
        double size = array_dot(in->residual, in->rhs, dimension);
        first = round == 0 ? size : first;
        if (!(size < last)) {
            break;
        }
        array_add(in->step, 1, in->rhs, dimension);
        problem->scores(problem->context, in->rhs, in->v_step);
        for (size_t j = 0; round == 0 && j < problem->n; j++) {
            in->v_step[j] = in->rho[j] - in->v_step[j];
        }
        apply_theta(in, in->v_step, round == 0 ? in->a_step : in->correction);
        for (size_t j = 0; round > 0 && j < problem->n; j++) {
            in->a_step[j] -= in->correction[j];
        }
        if (round > 0 && size <= REFINED * first) {
            break;
        }
        last = size / 2;
    }
    if (term) { /* the change of z is the residual without it */
        set_residual(in);
        term->set_step(term->context, target, in->step, in->residual);
    }
}

/* Computes the step towards products of `target`, less the second-order terms. */
static void find_step(struct interior *in, double target) {
    const struct interior_problem *problem = &in->problem;
    for (size_t j = 0; j < problem->n; j++) {
        double u = interior_margin(problem, j) - in->v[j], a = in->a[j];
        in->rho[j] = u + (target - in->a_second[j]) / a;
        in->rho[j] -= problem->squared
                          ? a / (2 * problem->cost[j])
                          : (target - in->t_second[in->group[j]]) / in->t[in->group[j]];
    }
    solve_system(in, target);
    memset(in->t_step, 0, in->n_groups * sizeof *in->t_step);
    for (size_t j = 0; !problem->squared && j < problem->n; j++) {
        in->t_step[in->group[j]] -= in->a_step[j];
    }
}

/* The changes of s and xi that belong to a_step. */
static double s_step(const struct interior *in, size_t j, double target) {
    return (target - in->a_second[j] - in->s[j] * in->a_step[j]) / in->a[j] - in->s[j];
}

static double xi_step(const struct interior *in, size_t g, double target) {
    return (target - in->t_second[g] - in->xi[g] * in->t_step[g]) / in->t[g] - in->xi[g];
}

/* The longest step, at most 1, that keeps all variables positive: `fraction` of the way to the
 * bounds. */
static double longest_step(const struct interior *in, double target, double fraction) {
    bool squared = in->problem.squared;
    double inverse = fraction;
    for (size_t j = 0; j < in->problem.n; j++) {
        inverse = fmax(inverse, -in->a_step[j] / in->a[j]);
        inverse = fmax(inverse, -s_step(in, j, target) / in->s[j]);
    }
    for (size_t g = 0; !squared && g < in->n_groups; g++) {
        inverse = fmax(inverse, -in->t_step[g] / in->t[g]);
        inverse = fmax(inverse, -xi_step(in, g, target) / in->xi[g]);
    }
    if (in->problem.term) {
        inverse = fmax(inverse, 1 / in->problem.term->longest_step(in->problem.term->context));
    }
    return fraction / cluster_largest(in->problem.cluster, inverse);
}

/* After a predictor step (target 0): the mean product at `length` of it. Stores the second-order
 * terms, if damped those at `length`. */
static double predict(struct interior *in, double length) {
    bool squared = in->problem.squared;
    const struct interior_term *term = in->problem.term;
    double predicted = term ? term->predict(term->context, length) : 0, sum = 0;
    double factor = in->problem.damped ? length * length : 1;
    sum += cluster_is_root(in->problem.cluster) ? predicted
                                                : 0; /* once, since all processes have it */
    for (size_t j = 0; j < in->problem.n; j++) {
        double a = in->a_step[j], s = s_step(in, j, 0);
        sum += (in->a[j] + length * a) * (in->s[j] + length * s);
        in->a_second[j] = factor * a * s;
    }
    for (size_t g = 0; !squared && g < in->n_groups; g++) {
        double t = in->t_step[g], xi = xi_step(in, g, 0);
        sum += (in->t[g] + length * t) * (in->xi[g] + length * xi);
        in->t_second[g] = factor * t * xi;
    }
    return cluster_total(in->problem.cluster, sum) / in->n_products;
}

static void move(struct interior *in, double length, double target) {
    bool squared = in->problem.squared;
    for (size_t j = 0; j < in->problem.n; j++) {
        in->s[j] += length * s_step(in, j, target);
        in->a[j] += length * in->a_step[j];
    }
    for (size_t g = 0; !squared && g < in->n_groups; g++) {
        in->xi[g] += length * xi_step(in, g, target);
        in->t[g] += length * in->t_step[g];
    }
    array_add(in->w, length, in->step, in->problem.dimension);
    if (in->problem.term) {
        in->problem.term->move(in->problem.term->context, length);
    }
}

/* ---- corrections of a step ---- */

static size_t step_size(const struct interior *in) {
    return (size_t)(in->t_second - in->step) + in->n_groups;
}

/* The change that moves a product into the range around the target; a decrease is at most RANGE
 * times it. */
static double range_correction(double product, double target) {
    return product < target / RANGE   ? target / RANGE - product
           : product > RANGE * target ? fmax(RANGE * target - product, -RANGE * target)
                                      : 0;
}

/* Changes the second-order terms so that products at `length` of the step move into the target
 * range. */
static void set_centrality_terms(struct interior *in, double length, double target) {
    for (size_t j = 0; j < in->problem.n; j++) {
        double a = in->a[j] + length * in->a_step[j];
        in->a_second[j] -=
            range_correction(a * (in->s[j] + length * s_step(in, j, target)), target);
    }
    for (size_t g = 0; !in->problem.squared && g < in->n_groups; g++) {
        double t = in->t[g] + length * in->t_step[g];
        in->t_second[g] -=
            range_correction(t * (in->xi[g] + length * xi_step(in, g, target)), target);
    }
}

/* Centrality corrections, while they make the step longer. Returns its length. */
static double correct(struct interior *in, double length, double target) {
    for (int k = 0; k < MAX_CORRECTIONS && length < LONG; k++) {
        double aim = fmin(length + FURTHER, 1);
        memcpy(in->saved_step, in->step, step_size(in) * sizeof *in->saved_step);
        set_centrality_terms(in, aim, target);
        find_step(in, target);
        double longer = longest_step(in, target, TO_BOUND);
        if (!(longer > length)) {
            memcpy(in->step, in->saved_step, step_size(in) * sizeof *in->step);
            break;
        }
        length = longer;
    }
    return length;
}

static void clear_second_order(struct interior *in) {
    memset(in->a_second, 0, in->problem.n * sizeof *in->a_second);
    memset(in->t_second, 0, in->n_groups * sizeof *in->t_second);
    if (in->problem.term) {
        in->problem.term->clear_second_order_terms(in->problem.term->context);
    }
}

/* One iteration. False if the system cannot be solved or the step has no length. */
static bool iterate(struct interior *in) {
    set_theta(in);
    const struct interior_problem *problem = &in->problem;
    if (problem->group ? problem->factor_groups(problem->context, in->theta, in->rest) < 0
                       : problem->factor(problem->context, in->theta) < 0) {
        return false;
    }
    clear_second_order(in);
    find_step(in, 0);
    double predicted = predict(in, longest_step(in, 0, 1)) / in->mu;
    double part = fmin(predicted * predicted * predicted, 1), products = in->mu * in->n_products;
    if (in->distance > FAR * products) {
        part = fmax(part, MIN_FACTOR);
    }
    double target = part * in->mu;
    find_step(in, target);
    double length = longest_step(in, target, TO_BOUND);
    length = problem->term ? length : correct(in, length, target);
    if (!(length > 0) || !isfinite(length) || !isfinite(target)) {
        return false;
    }
    move(in, length, target);
    return true;
}

void interior_evaluate_primal_at_dual(struct interior *in, bool tied) {
    in->tied = tied;
    in->best_primal = INFINITY;
}

static void set_fit(const struct interior *in, enum stop_reason stop, struct interior_fit *fit) {
    *fit = (struct interior_fit){.w = in->best_w,
                                 .alpha = in->best_a,
                                 .tied = in->tied ? in->best_tied : NULL,
                                 .primal = in->best_primal + in->problem.constant,
                                 .dual = in->best_dual + in->problem.constant,
                                 .iterations = in->iterations,
                                 .stop = stop};
}

void interior_run(struct interior *in, double epsilon, double least, const struct monitor *monitor,
                  struct interior_fit *fit) {
    double best = INFINITY;
    int stalled = 0;
    enum stop_reason stop = STOP_REACHED;
    if (!(in->best_primal < INFINITY)) {
        interior_evaluate(in);
    }
    for (;;) {
        double gap = in->best_primal - in->best_dual;
        double constant = in->problem.constant, primal = in->best_primal + constant;
        if (gap <= epsilon * fmax(primal, least)) {
            break;
        }
        in->iterations++;
        stop = monitor_check(monitor, in->iterations, primal, in->best_dual + constant);
        stalled = in->distance < STOP_PROGRESS * best ? 0 : stalled + 1;
        best = fmin(best, in->distance);
        if (!stop && (stalled > MAX_STALLED || !(in->mu > 0) || !iterate(in))) {
            stop = STOP_ROUNDING;
        }
        if (stop) {
            break;
        }
        interior_evaluate(in);
    }
    set_fit(in, stop, fit);
}

void interior_round_to_zero(struct interior *in, double allowed, struct interior_fit *fit) {
    /* At the optimum a or s is 0. A positive s is of the size of the margins, a positive a of the
     * size of the mean of a. */
    const double factor = 1e-2, least = 1e-13;
    const struct interior_problem *problem = &in->problem;
    double mean = 0, *a = in->rho;
    for (size_t j = 0; j < problem->n; j++) {
        mean += in->a[j] / in->n_hinges;
    }
    mean = cluster_total(problem->cluster, mean);
    for (double part = 1; part > least; part *= factor) {
        double max_ratio = part * mean / in->margin_size;
        for (size_t j = 0; j < problem->n; j++) {
            double upper = problem->squared ? INFINITY : problem->cost[in->group[j]];
            a[j] = in->a[j] < max_ratio * in->s[j] ? 0 : fmin(in->a[j], upper);
        }
        problem->adjoint(problem->context, a, in->g);
        const double *w;
        double dual = interior_dual(in, a), primal = interior_offered_primal(in, &w);
        if (primal - dual <= allowed) {
            in->best_dual = dual;
            in->best_primal = primal;
            memcpy(in->best_a, a, problem->n * sizeof *a);
            memcpy(in->best_tied, a, problem->n * sizeof *a);
            memcpy(in->best_w, w, problem->dimension * sizeof *w);
            break;
        }
    }
    problem->adjoint(problem->context, in->a, in->g);
    set_fit(in, fit->stop, fit);
}
