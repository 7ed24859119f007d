#include "solvers/methods/interior.h"

#include "common/base/array.h"
#include "common/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    REFINEMENTS = 3,  /* of a solution of the system, at most */
    MOST_STALLED = 12 /* iterations without progress: rounding has the last word */
};

static const double TO_BOUND = 0.995; /* part of the way to the bounds that a step goes at most */
static const double REFINED = 1e-12;  /* size of a correction after which none is needed */
/* While A'a is farther than this from J w, relative to the products, these go down by no more than
 * this part: a mu that has run ahead leaves no room for the rest of the way. */
static const double FAR = 100, FAR_PART = 0.3;
static const double PROGRESS = 0.9; /* of the distance from optimality, to count as such */

struct interior {
    struct interior_problem problem;
    double *w, *g, *step, *rhs, *residual; /* (dimension); g = A'a */
    double *apart;                         /* (dimension) A'a - J w - z */
    double *a, *s;                         /* (n) a_j s_j = mu, s = A w - m + xi */
    double *t, *xi;                        /* (n) hinge: t = c - a, t_j xi_j = mu */
    double *v, *v_step;                    /* (n) A w, A step */
    double *theta, *rho, *a_step;          /* (n) */
    double *a_bend, *t_bend;               /* (n) products of the predictor's changes */
    double *best_w, *best_a;
    bool tied;
    double margin_size; /* mean |m_j| */
    double mu;          /* mean of the products */
    double distance;    /* from optimality: products, and the square of `apart` */
    double best_primal, best_dual;
    uint64_t iterations;
};

/* ---- opening ---- */

static double margin_of(const struct interior_problem *problem, size_t j) {
    return problem->margin ? problem->margin[j] : 1;
}

/* w = 0, and a in the middle of its bounds, far from all of them: A'a is then far from w, but no
 * product starts near 0, and residuals vanish with the first full step. */
static void start(struct interior *in) {
    const struct interior_problem *problem = &in->problem;
    const double middle = 0.5, room = 0.1, gap = 0.2;
    double size = 0;
    for (size_t j = 0; j < problem->n; j++) {
        size += fabs(margin_of(problem, j)) / (double)problem->n;
    }
    in->margin_size = size;
    for (size_t j = 0; j < problem->n; j++) {
        double u = margin_of(problem, j), c = problem->cost[j];
        if (problem->squared) {
            in->a[j] = 2 * c * size;
            in->s[j] = fmax(size - u, 0) + gap * size;
        } else {
            double root = sqrt(u * u + 4 * room * size * size);
            in->a[j] = in->t[j] = middle * c;
            in->s[j] = (root - u) / 2;
            in->xi[j] = (root + u) / 2;
        }
    }
}

/* The term starts at the mean of the other products. */
static void start_term(struct interior *in) {
    const struct interior_problem *problem = &in->problem;
    double sum = 0;
    for (size_t j = 0; j < problem->n; j++) {
        sum += in->a[j] * in->s[j] + (problem->squared ? 0 : in->t[j] * in->xi[j]);
    }
    double mu = sum / (double)(problem->squared ? problem->n : 2 * problem->n);
    problem->term->start(problem->term->context, mu);
}

static int allocate(struct interior *in, struct error *err) {
    size_t n = in->problem.n, dimension = in->problem.dimension;
    double **by_weight[] = {&in->w,        &in->g,      &in->step, &in->rhs,
                            &in->residual, &in->best_w, &in->apart};
    double **by_hinge[] = {&in->a,      &in->s,      &in->t,      &in->xi,
                           &in->v,      &in->v_step, &in->theta,  &in->rho,
                           &in->a_step, &in->a_bend, &in->t_bend, &in->best_a};
    for (size_t k = 0; k < sizeof by_weight / sizeof by_weight[0]; k++) {
        if (!(*by_weight[k] = memory_zeros(dimension, sizeof(double), "weights", err))) {
            return -1;
        }
    }
    for (size_t k = 0; k < sizeof by_hinge / sizeof by_hinge[0]; k++) {
        if (!(*by_hinge[k] = memory_zeros(n, sizeof(double), "dual variables", err))) {
            return -1;
        }
    }
    return 0;
}

int interior_open(struct interior **interior, const struct interior_problem *problem,
                  struct error *err) {
    struct interior *in = memory_zeros(1, sizeof *in, "a solver", err);
    if (!in) {
        return -1;
    }
    in->problem = *problem;
    if (allocate(in, err) < 0) {
        interior_close(in);
        return -1;
    }
    in->best_primal = INFINITY;
    start(in);
    if (problem->term) {
        start_term(in);
    }
    *interior = in;
    return 0;
}

void interior_close(struct interior *in) {
    if (!in) {
        return;
    }
    double *arrays[] = {in->w,      in->g,      in->step,   in->rhs,   in->residual,
                        in->best_w, in->apart,  in->a,      in->s,     in->t,
                        in->xi,     in->v,      in->v_step, in->theta, in->rho,
                        in->a_step, in->a_bend, in->t_bend, in->best_a};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
        free(arrays[k]);
    }
    free(in);
}

/* ---- the point ---- */

/* 1/2 |J w|^2, and the term. */
static double norm_of(const struct interior *in, const double *w) {
    const struct interior_problem *problem = &in->problem;
    double norm = 0;
    if (problem->term) {
        return problem->term->value(problem->term->context, w);
    }
    for (size_t k = 0; k < problem->dimension; k++) {
        norm += problem->counted[k] * w[k] * w[k];
    }
    return norm / 2;
}

/* The primal at weights w with scores v. */
static double primal_of(const struct interior *in, const double *w, const double *v) {
    const struct interior_problem *problem = &in->problem;
    double loss = 0;
    for (size_t j = 0; j < problem->n; j++) {
        double u = fmax(margin_of(problem, j) - v[j], 0);
        loss += problem->cost[j] * (problem->squared ? u * u : u);
    }
    return norm_of(in, w) + loss;
}

/* The primal at *w, or where a is written down at A'a = g, which *w becomes, in `step`. */
static double offered_primal(struct interior *in, const double **w) {
    const struct interior_problem *problem = &in->problem;
    const double *v = in->v;
    *w = in->w;
    if (in->tied) {
        for (size_t k = 0; k < problem->dimension; k++) {
            in->step[k] = problem->counted[k] > 0 ? in->g[k] : in->w[k];
        }
        problem->scores(problem->context, in->step, in->v_step);
        *w = in->step;
        v = in->v_step;
    }
    return primal_of(in, *w, v);
}

/* The dual at a, g = A'a. Sums that are not 0 for the weights that J does not count are charged
 * what that may gain. */
static double dual_of(const struct interior *in, const double *a) {
    const struct interior_problem *problem = &in->problem;
    const struct interior_term *term = problem->term;
    double gain = 0, norm = 0, unbalanced = 0;
    for (size_t j = 0; j < problem->n; j++) {
        gain += a[j] * margin_of(problem, j);
        gain -= problem->squared ? a[j] * (a[j] / (4 * problem->cost[j])) : 0;
    }
    for (size_t k = 0; k < problem->dimension; k++) {
        double counted = problem->counted[k], size = in->margin_size + fabs(in->w[k]);
        norm += counted * in->g[k] * in->g[k];
        unbalanced += (1 - counted) * fabs(in->g[k]) * size;
    }
    norm = term ? term->conjugate(term->context, in->g) : norm / 2;
    return gain - norm - unbalanced;
}

/* A'a - J w - z, and its square. */
static double set_apart(struct interior *in) {
    const struct interior_problem *problem = &in->problem;
    double square = 0;
    for (size_t k = 0; k < problem->dimension; k++) {
        in->apart[k] = in->g[k] - problem->counted[k] * in->w[k];
    }
    if (problem->term) {
        problem->term->subtract_slope(problem->term->context, in->apart);
    }
    for (size_t k = 0; k < problem->dimension; k++) {
        square += problem->counted[k] * in->apart[k] * in->apart[k];
    }
    return square;
}

static double count_products(const struct interior *in) {
    const struct interior_problem *problem = &in->problem;
    double n = (double)(problem->squared ? problem->n : 2 * problem->n);
    return n + (problem->term ? problem->term->n_products : 0);
}

/* v, g, the bounds, mu and the distance at the point; keeps the best of each. */
static void evaluate(struct interior *in) {
    const struct interior_problem *problem = &in->problem;
    size_t n = problem->n, dimension = problem->dimension;
    problem->scores(problem->context, in->w, in->v);
    problem->adjoint(problem->context, in->a, in->g);
    double products = problem->term ? problem->term->products(problem->term->context) : 0;
    for (size_t j = 0; j < n; j++) {
        products += in->a[j] * in->s[j];
        products += problem->squared ? 0 : in->t[j] * in->xi[j];
    }
    in->mu = products / count_products(in);
    in->distance = products + set_apart(in) / 2;
    for (size_t k = 0; k < dimension; k++) {
        in->distance += (1 - problem->counted[k]) * fabs(in->g[k]) * in->margin_size;
    }
    double dual = dual_of(in, in->a);
    if (dual > in->best_dual) {
        in->best_dual = dual;
        for (size_t j = 0; j < n; j++) {
            in->best_a[j] = problem->squared ? in->a[j] : fmin(in->a[j], problem->cost[j]);
        }
    }
    const double *w;
    double primal = offered_primal(in, &w);
    if (primal < in->best_primal) {
        in->best_primal = primal;
        memcpy(in->best_w, w, dimension * sizeof *w);
    }
}

/* ---- steps ---- */

static void set_theta(struct interior *in) {
    const struct interior_problem *problem = &in->problem;
    for (size_t j = 0; j < problem->n; j++) {
        double other = problem->squared ? 1 / (2 * problem->cost[j]) : in->xi[j] / in->t[j];
        in->theta[j] = 1 / (in->s[j] / in->a[j] + other);
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

/* Solves (J + Q^-1 + A' theta A) step = apart + Q^-1 lack + A' theta rho, with a_step = theta (rho -
 * A step), and corrects both by what is left. Corrections are added to a_step: where theta is large
 * a_step cannot be had from rho - A step to more than the rounding of scores times theta. A
 * correction's product with what was left measures both, whatever the scale. */
static void solve_system(struct interior *in, double target) {
    const struct interior_problem *problem = &in->problem;
    const struct interior_term *term = problem->term;
    size_t dimension = problem->dimension;
    memset(in->step, 0, dimension * sizeof *in->step);
    for (size_t j = 0; j < problem->n; j++) {
        in->a_step[j] = in->theta[j] * in->rho[j];
    }
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
        for (size_t j = 0; j < problem->n; j++) {
            in->a_step[j] = round == 0 ? in->theta[j] * (in->rho[j] - in->v_step[j])
                                       : in->a_step[j] - in->theta[j] * in->v_step[j];
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
        double u = margin_of(problem, j) - in->v[j], a = in->a[j];
        in->rho[j] = u + (target - in->a_bend[j]) / a;
        in->rho[j] -=
            problem->squared ? a / (2 * problem->cost[j]) : (target - in->t_bend[j]) / in->t[j];
    }
    solve_system(in, target);
}

/* Changes of s and xi that go with a_step. */
static double s_step(const struct interior *in, size_t j, double target) {
    return (target - in->a_bend[j] - in->s[j] * in->a_step[j]) / in->a[j] - in->s[j];
}

static double xi_step(const struct interior *in, size_t j, double target) {
    return (target - in->t_bend[j] + in->xi[j] * in->a_step[j]) / in->t[j] - in->xi[j];
}

/* The longest step, 1 at most, that keeps all positive, by `part` of the way to the first bound. */
static double longest_step(const struct interior *in, double target, double part) {
    bool squared = in->problem.squared;
    double inverse = part;
    for (size_t j = 0; j < in->problem.n; j++) {
        inverse = fmax(inverse, -in->a_step[j] / in->a[j]);
        inverse = fmax(inverse, -s_step(in, j, target) / in->s[j]);
        if (!squared) {
            inverse = fmax(inverse, in->a_step[j] / in->t[j]);
            inverse = fmax(inverse, -xi_step(in, j, target) / in->xi[j]);
        }
    }
    if (in->problem.term) {
        inverse = fmax(inverse, 1 / in->problem.term->longest_step(in->problem.term->context));
    }
    return part / inverse;
}

/* After a step to products of 0: their mean there, as far as the step goes; their second order
 * becomes the bends. */
static double predict(struct interior *in, double length) {
    bool squared = in->problem.squared;
    const struct interior_term *term = in->problem.term;
    double sum = term ? term->predict(term->context, length) : 0;
    for (size_t j = 0; j < in->problem.n; j++) {
        double a = in->a_step[j], s = s_step(in, j, 0);
        sum += (in->a[j] + length * a) * (in->s[j] + length * s);
        if (!squared) {
            double xi = xi_step(in, j, 0);
            sum += (in->t[j] - length * a) * (in->xi[j] + length * xi);
            in->t_bend[j] = -a * xi;
        }
        in->a_bend[j] = a * s;
    }
    return sum / count_products(in);
}

static void move(struct interior *in, double length, double target) {
    bool squared = in->problem.squared;
    for (size_t j = 0; j < in->problem.n; j++) {
        double s = s_step(in, j, target);
        if (!squared) {
            in->xi[j] += length * xi_step(in, j, target);
            in->t[j] -= length * in->a_step[j];
        }
        in->s[j] += length * s;
        in->a[j] += length * in->a_step[j];
    }
    array_add(in->w, length, in->step, in->problem.dimension);
    if (in->problem.term) {
        in->problem.term->move(in->problem.term->context, length);
    }
}

static void straighten(struct interior *in) {
    size_t n = in->problem.n;
    memset(in->a_bend, 0, n * sizeof *in->a_bend);
    memset(in->t_bend, 0, n * sizeof *in->t_bend);
    if (in->problem.term) {
        in->problem.term->straighten(in->problem.term->context);
    }
}

/* False if the system cannot be solved, or the step leads nowhere. */
static bool iterate(struct interior *in) {
    set_theta(in);
    if (in->problem.factor(in->problem.context, in->theta) < 0) {
        return false;
    }
    straighten(in);
    find_step(in, 0);
    double ahead = predict(in, longest_step(in, 0, 1)) / in->mu;
    double part = fmin(ahead * ahead * ahead, 1), products = in->mu * count_products(in);
    if (in->distance > FAR * products) {
        part = fmax(part, FAR_PART);
    }
    double target = part * in->mu;
    find_step(in, target);
    double length = longest_step(in, target, TO_BOUND);
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
                                 .primal = in->best_primal,
                                 .dual = in->best_dual,
                                 .iterations = in->iterations,
                                 .stop = stop};
}

void interior_run(struct interior *in, double epsilon, double least, const struct monitor *monitor,
                  struct interior_fit *fit) {
    double best = INFINITY;
    int stalled = 0;
    enum stop_reason stop = STOP_REACHED;
    if (!(in->best_primal < INFINITY)) {
        evaluate(in);
    }
    for (;;) {
        double gap = in->best_primal - in->best_dual;
        if (gap <= epsilon * fmax(in->best_primal, least)) {
            break;
        }
        in->iterations++;
        stop = monitor_check(monitor, in->iterations, in->best_primal, in->best_dual);
        stalled = in->distance < PROGRESS * best ? 0 : stalled + 1;
        best = fmin(best, in->distance);
        if (!stop && (stalled > MOST_STALLED || !(in->mu > 0) || !iterate(in))) {
            stop = STOP_ROUNDING;
        }
        if (stop) {
            break;
        }
        evaluate(in);
    }
    set_fit(in, stop, fit);
}

void interior_round(struct interior *in, double allowed, struct interior_fit *fit) {
    /* s is of the size of the margins where a goes to 0, and a of that of its mean where it stays */
    const double factor = 1e-2, least = 1e-13;
    const struct interior_problem *problem = &in->problem;
    double mean = 0, *a = in->rho;
    for (size_t j = 0; j < problem->n; j++) {
        mean += in->a[j] / (double)problem->n;
    }
    for (double part = 1; part > least; part *= factor) {
        double most = part * mean / in->margin_size;
        for (size_t j = 0; j < problem->n; j++) {
            a[j] = in->a[j] < most * in->s[j] ? 0 : in->a[j];
        }
        problem->adjoint(problem->context, a, in->g);
        const double *w;
        double dual = dual_of(in, a), primal = offered_primal(in, &w);
        if (primal - dual <= allowed) {
            in->best_dual = dual;
            in->best_primal = primal;
            memcpy(in->best_a, a, problem->n * sizeof *a);
            memcpy(in->best_w, w, problem->dimension * sizeof *w);
            break;
        }
    }
    problem->adjoint(problem->context, in->a, in->g);
    set_fit(in, fit->stop, fit);
}
