#include "methods/interior_point.h"

#include "common/base/array.h"
#include "methods/interior_point_private.h"

#include <math.h>
#include <string.h>

enum {
    REFINEMENTS = 30, /* of a solution of the system, at most */
    CORRECTIONS = 4,  /* of a step's products, at most */
    MOST_STALLED = 12 /* iterations without progress: rounding has the last word */
};

static const double TO_BOUND = 0.995; /* part of the way to the bounds that a step goes at most */
static const double REFINED = 1e-30;  /* size of a correction after which none is needed */
/* While A'a is farther than this from J w, relative to the products, these go down by no more than
 * this part: a mu that has run ahead leaves no room for the rest of the way. */
static const double FAR = 100, FAR_PART = 0.3;
/* A step of LONG needs no correction; one aims at FURTHER than it goes, takes to products from LOW
 * to HIGH of the target what is beyond them there, and has to win GAIN of it for another one. */
static const double LONG = 0.9, FURTHER = 0.3, LOW = 0.1, HIGH = 10, GAIN = 0.1;

/* ---- steps ---- */

/* theta, and where hinges have groups the rest of each. */
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

/* out (n) = (theta - theta theta' / (rest + sum theta)) r of the hinges first .. end of a group.
 * What the largest theta has comes from the sum, rest times the mean of r: it would be lost in
 * rounding. */
static void weigh_group(const struct interior *in, size_t first, size_t end, const double *r,
                        double *out) {
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

/* out (n) = what a changes by where slacks want r. */
static void weigh(const struct interior *in, const double *r, double *out) {
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
        weigh_group(in, first, end, r, out);
    }
}

/* What is left of J (w + step) + z = A'(a + a_step). */
static void set_residual(struct interior *in) {
    const struct interior_problem *problem = &in->problem;
    problem->adjoint(problem->context, in->a_step, in->residual);
    for (size_t k = 0; k < problem->dimension; k++) {
        in->residual[k] += in->apart[k] - problem->counted[k] * in->step[k];
    }
}

/* Solves (J + Q^-1 + A' theta A) step = apart + Q^-1 lack + A' theta rho, with a_step = theta (rho
 * - A step), and corrects both by what is left. Corrections are added to a_step: where theta is
 * large a_step cannot be had from rho - A step to more than the rounding of scores times theta. A
 * correction's product with what was left measures both, whatever the scale. */
static void solve_system(struct interior *in, double target) {
    const struct interior_problem *problem = &in->problem;
    const struct interior_term *term = problem->term;
    size_t dimension = problem->dimension;
    memset(in->step, 0, dimension * sizeof *in->step);
    weigh(in, in->rho, in->a_step);
    double first = 0, last = INFINITY;
    for (int round = 0; round <= REFINEMENTS; round++) {
        set_residual(in);
        if (term) {
            term->add_lack(term->context, target, in->step, in->residual);
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
        weigh(in, in->v_step, round == 0 ? in->a_step : in->correction);
        for (size_t j = 0; round > 0 && j < problem->n; j++) {
            in->a_step[j] -= in->correction[j];
        }
        if (round > 0 && size <= REFINED * first) {
            break;
        }
        last = size / 2;
    }
    if (term) { /* z's change is what is left without it */
        set_residual(in);
        term->set_step(term->context, target, in->step, in->residual);
    }
}

/* The step to where the products are `target`, less the bends. */
static void find_step(struct interior *in, double target) {
    const struct interior_problem *problem = &in->problem;
    for (size_t j = 0; j < problem->n; j++) {
        double u = interior_margin(problem, j) - in->v[j], a = in->a[j];
        in->rho[j] = u + (target - in->a_bend[j]) / a;
        in->rho[j] -= problem->squared ? a / (2 * problem->cost[j])
                                       : (target - in->t_bend[in->group[j]]) / in->t[in->group[j]];
    }
    solve_system(in, target);
    memset(in->t_step, 0, in->n_groups * sizeof *in->t_step);
    for (size_t j = 0; !problem->squared && j < problem->n; j++) {
        in->t_step[in->group[j]] -= in->a_step[j];
    }
}

/* Changes of s and xi that go with a_step. */
static double s_step(const struct interior *in, size_t j, double target) {
    return (target - in->a_bend[j] - in->s[j] * in->a_step[j]) / in->a[j] - in->s[j];
}

static double xi_step(const struct interior *in, size_t g, double target) {
    return (target - in->t_bend[g] - in->xi[g] * in->t_step[g]) / in->t[g] - in->xi[g];
}

/* The longest step, 1 at most, that keeps all positive, by `part` of the way to the first bound. */
static double longest_step(const struct interior *in, double target, double part) {
    bool squared = in->problem.squared;
    double inverse = part;
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
    return part / cluster_largest(in->problem.cluster, inverse);
}

/* After a step to products of 0: their mean there, as far as the step goes; their second order
 * becomes the bends. */
static double predict(struct interior *in, double length) {
    bool squared = in->problem.squared;
    const struct interior_term *term = in->problem.term;
    double ahead = term ? term->predict(term->context, length) : 0, sum = 0;
    sum += cluster_leads(in->problem.cluster) ? ahead : 0; /* once, as it is on all ranks */
    for (size_t j = 0; j < in->problem.n; j++) {
        double a = in->a_step[j], s = s_step(in, j, 0);
        sum += (in->a[j] + length * a) * (in->s[j] + length * s);
        in->a_bend[j] = a * s;
    }
    for (size_t g = 0; !squared && g < in->n_groups; g++) {
        double t = in->t_step[g], xi = xi_step(in, g, 0);
        sum += (in->t[g] + length * t) * (in->xi[g] + length * xi);
        in->t_bend[g] = t * xi;
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
    return (size_t)(in->t_bend - in->step) + in->n_groups;
}

/* What a product lacks to LOW of the target, or less, has over HIGH, but no more than that. */
static double lacking(double product, double target) {
    return product < LOW * target    ? LOW * target - product
           : product > HIGH * target ? fmax(HIGH * target - product, -HIGH * target)
                                     : 0;
}

/* The bends become those with which products at `length` of the step come to the target's range. */
static void bend_back(struct interior *in, double length, double target) {
    for (size_t j = 0; j < in->problem.n; j++) {
        double a = in->a[j] + length * in->a_step[j];
        in->a_bend[j] -= lacking(a * (in->s[j] + length * s_step(in, j, target)), target);
    }
    for (size_t g = 0; !in->problem.squared && g < in->n_groups; g++) {
        double t = in->t[g] + length * in->t_step[g];
        in->t_bend[g] -= lacking(t * (in->xi[g] + length * xi_step(in, g, target)), target);
    }
}

/* Corrects the step as long as that makes it longer; returns how long it then is. */
static double correct(struct interior *in, double length, double target) {
    bool gains = true;
    for (int k = 0; k < CORRECTIONS && gains && length < LONG; k++) {
        double aim = fmin(length + FURTHER, 1);
        memcpy(in->kept, in->step, step_size(in) * sizeof *in->kept);
        bend_back(in, aim, target);
        find_step(in, target);
        double longer = longest_step(in, target, TO_BOUND);
        gains = longer >= length + GAIN * (aim - length);
        if (!(longer > length)) {
            memcpy(in->step, in->kept, step_size(in) * sizeof *in->step);
            break;
        }
        length = longer;
    }
    return length;
}

static void straighten(struct interior *in) {
    memset(in->a_bend, 0, in->problem.n * sizeof *in->a_bend);
    memset(in->t_bend, 0, in->n_groups * sizeof *in->t_bend);
    if (in->problem.term) {
        in->problem.term->straighten(in->problem.term->context);
    }
}

/* False if the system cannot be solved, or the step leads nowhere. */
static bool iterate(struct interior *in) {
    set_theta(in);
    const struct interior_problem *problem = &in->problem;
    if (problem->group ? problem->factor_groups(problem->context, in->theta, in->rest) < 0
                       : problem->factor(problem->context, in->theta) < 0) {
        return false;
    }
    straighten(in);
    find_step(in, 0);
    double ahead = predict(in, longest_step(in, 0, 1)) / in->mu;
    double part = fmin(ahead * ahead * ahead, 1), products = in->mu * in->n_products;
    if (in->distance > FAR * products) {
        part = fmax(part, FAR_PART);
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

void interior_tie(struct interior *in, bool tied) {
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
        if (!stop && (stalled > MOST_STALLED || !(in->mu > 0) || !iterate(in))) {
            stop = STOP_ROUNDING;
        }
        if (stop) {
            break;
        }
        interior_evaluate(in);
    }
    set_fit(in, stop, fit);
}

void interior_round(struct interior *in, double allowed, struct interior_fit *fit) {
    /* s is of the size of the margins where a goes to 0, and a of that of its mean where it
     * stays */
    const double factor = 1e-2, least = 1e-13;
    const struct interior_problem *problem = &in->problem;
    double mean = 0, *a = in->rho;
    for (size_t j = 0; j < problem->n; j++) {
        mean += in->a[j] / in->n_hinges;
    }
    mean = cluster_total(problem->cluster, mean);
    for (double part = 1; part > least; part *= factor) {
        double most = part * mean / in->margin_size;
        for (size_t j = 0; j < problem->n; j++) {
            a[j] = in->a[j] < most * in->s[j] ? 0 : in->a[j];
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
