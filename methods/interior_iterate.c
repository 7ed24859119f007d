/* The iterate of the interior-point method: its start, its bounds and its complementarity
 * products. */
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "methods/interior_point_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- creation and start ---- */

/* Starts at w = 0, with a in the middle of its bounds. A'a is then far from w, but no product
 * starts near 0, and the residuals vanish with the first full step. */
static void start(struct interior *in) {
    const struct interior_problem *problem = &in->problem;
    const double middle = 0.5, slack = 0.1, gap = 0.2;
    double size = 0;
    for (size_t j = 0; j < problem->n; j++) {
        size += fabs(interior_margin(problem, j)) / in->n_hinges;
    }
    size = cluster_total(problem->cluster, size);
    in->margin_size = size;
    for (size_t j = 0; j < problem->n; j++) {
        double u = interior_margin(problem, j);
        if (problem->squared) {
            in->a[j] = 2 * problem->cost[j] * size;
            in->s[j] = fmax(size - u, 0) + gap * size;
        } else {
            double root = sqrt(u * u + 4 * slack * size * size);
            in->xi[in->group[j]] = fmax(in->xi[in->group[j]], (root + u) / 2);
            in->t_step[in->group[j]] += 1;
        }
    }
    for (size_t j = 0; !problem->squared && j < problem->n; j++) {
        size_t g = in->group[j];
        in->t[g] = middle * problem->cost[g];
        in->a[j] = in->t[g] / in->t_step[g];
        in->s[j] = in->xi[g] - interior_margin(problem, j);
    }
}

/* The products of the term start at the mean of the others. */
static void start_term(struct interior *in) {
    const struct interior_problem *problem = &in->problem;
    double sum = 0;
    for (size_t j = 0; j < problem->n; j++) {
        sum += in->a[j] * in->s[j];
    }
    for (size_t g = 0; !problem->squared && g < in->n_groups; g++) {
        sum += in->t[g] * in->xi[g];
    }
    problem->term->start(problem->term->context,
                         cluster_total(problem->cluster, sum) / in->n_products);
}

static int allocate(struct interior *in, struct error *err) {
    size_t n = in->problem.n, d = in->problem.dimension, groups = in->n_groups;
    in->block = ARRAYS_CREATE(
        "a solver", err,
        ARRAYS(d, double, &in->w, &in->g, &in->rhs, &in->residual, &in->best_w, &in->dual_residual),
        ARRAYS(n, double, &in->a, &in->s, &in->v, &in->v_step, &in->theta, &in->rho, &in->best_tied,
               &in->best_a, &in->correction),
        ARRAYS(groups, double, &in->t, &in->xi, &in->rest), ARRAYS(d, double, &in->step),
        ARRAYS(n, double, &in->a_step, &in->a_second),
        ARRAYS(groups, double, &in->t_step, &in->t_second));
    in->saved_step = in->block ? memory_array((size_t)(in->t_second - in->step) + groups,
                                              sizeof *in->saved_step, "a solver", err)
                               : NULL;
    in->group = memory_array(n, sizeof *in->group, "dual variables", err);
    for (size_t j = 0; in->group && j < n; j++) {
        in->group[j] = in->problem.group ? in->problem.group[j] : (uint32_t)j;
    }
    return in->saved_step && in->group ? 0 : -1;
}

int interior_open(struct interior **interior, const struct interior_problem *problem,
                  struct error *err) {
    struct interior *in = memory_zeros(1, sizeof *in, "a solver", err);
    interior_close(*interior);
    *interior = NULL;
    if (!in) {
        return -1;
    }
    in->problem = *problem;
    in->n_groups = problem->group ? problem->n_groups : problem->n;
    in->n_hinges = cluster_total(problem->cluster, (double)problem->n);
    in->n_products = in->n_hinges;
    in->n_products += problem->squared ? 0 : cluster_total(problem->cluster, (double)in->n_groups);
    if (allocate(in, err) < 0) {
        interior_close(in);
        return -1;
    }
    in->best_primal = INFINITY;
    start(in);
    if (problem->term) {
        start_term(in);
        in->n_products += problem->term->n_products;
    }
    *interior = in;
    return 0;
}

void interior_close(struct interior *in) {
    if (in) {
        free(in->block);
        free(in->saved_step);
        free(in->group);
        free(in);
    }
}

/* ---- bounds ---- */

/* 1/2 |J w|^2, plus the term. */
static double norm_of(const struct interior *in, const double *w) {
    const struct interior_problem *problem = &in->problem;
    double norm = 0;
    if (problem->term) {
        return problem->term->value(problem->term->context, w);
    }
    for (size_t k = 0; k < problem->dimension; k++) {
        norm += interior_counted(problem, k) * w[k] * w[k];
    }
    return norm / 2;
}

/* The primal at weights w with scores v. */
static double primal_of(const struct interior *in, const double *w, const double *v) {
    const struct interior_problem *problem = &in->problem;
    double loss = 0, largest = 0;
    for (size_t j = 0; j < problem->n; j++) {
        largest = fmax(largest, interior_margin(problem, j) - v[j]);
        if (j + 1 == problem->n || in->group[j + 1] != in->group[j]) {
            loss += problem->cost[in->group[j]] * (problem->squared ? largest * largest : largest);
            largest = 0;
        }
    }
    return norm_of(in, w) + cluster_total(problem->cluster, loss);
}

double interior_offered_primal(struct interior *in, const double **w) {
    const struct interior_problem *problem = &in->problem;
    const double *v = in->v;
    *w = in->w;
    if (in->tied) {
        for (size_t k = 0; k < problem->dimension; k++) {
            in->step[k] = interior_counted(problem, k) > 0 ? in->g[k] : in->w[k];
        }
        problem->scores(problem->context, in->step, in->v_step);
        *w = in->step;
        v = in->v_step;
    }
    return primal_of(in, *w, v);
}

double interior_dual(const struct interior *in, const double *a) {
    const struct interior_problem *problem = &in->problem;
    const struct interior_term *term = problem->term;
    double gain = 0, norm = 0, unbalanced = 0;
    for (size_t j = 0; j < problem->n; j++) {
        gain += a[j] * interior_margin(problem, j);
        gain -= problem->squared ? a[j] * (a[j] / (4 * problem->cost[j])) : 0;
    }
    gain = cluster_total(problem->cluster, gain);
    for (size_t k = 0; k < problem->dimension; k++) {
        double counted = interior_counted(problem, k), size = in->margin_size + fabs(in->w[k]);
        norm += counted * in->g[k] * in->g[k];
        unbalanced += (1 - counted) * fabs(in->g[k]) * size;
    }
    norm = term ? term->conjugate(term->context, in->g) : norm / 2;
    return gain - norm - unbalanced;
}

/* Sets the dual residual A'a - J w - z. Returns the square of its counted part. */
static double set_dual_residual(struct interior *in) {
    const struct interior_problem *problem = &in->problem;
    double square = 0;
    for (size_t k = 0; k < problem->dimension; k++) {
        in->dual_residual[k] = in->g[k] - interior_counted(problem, k) * in->w[k];
    }
    if (problem->term) {
        problem->term->subtract_slope(problem->term->context, in->dual_residual);
    }
    for (size_t k = 0; k < problem->dimension; k++) {
        square += interior_counted(problem, k) * in->dual_residual[k] * in->dual_residual[k];
    }
    return square;
}

/* Sets a, s, t and xi of hinge j such that s - xi = v - m and all products are mu. */
static void set_product(struct interior *in, size_t j, double mu) {
    double u = interior_margin(&in->problem, j) - in->v[j], cost = in->problem.cost[j];
    if (in->problem.squared) { /* a (a / 2c - u) = mu */
        double root = sqrt(u * u + 2 * mu / cost);
        in->a[j] = u > 0 ? cost * (u + root) : 2 * mu / (root - u);
    } else { /* mu / a - mu / (c - a) = -u */
        double smaller = 2 * mu * cost / (fabs(u) * cost + 2 * mu + hypot(u * cost, 2 * mu));
        in->a[j] = u > 0 ? cost - smaller : smaller;
        in->t[j] = u > 0 ? smaller : cost - smaller;
        in->xi[j] = mu / in->t[j];
    }
    in->s[j] = mu / in->a[j];
}

void interior_start_at(struct interior *in, const double *w) {
    const struct interior_problem *problem = &in->problem;
    memcpy(in->w, w, problem->dimension * sizeof *w);
    problem->scores(problem->context, w, in->v);
    double mu = primal_of(in, w, in->v) / in->n_products;
    bool possible = true;
    for (size_t j = 0; j < problem->n; j++) {
        set_product(in, j, mu);
        possible = possible && in->a[j] > 0 && in->s[j] > 0 && isfinite(in->a[j] * in->s[j]);
        if (!problem->squared) {
            possible = possible && in->t[j] > 0 && in->xi[j] > 0 && isfinite(in->xi[j]);
        }
    }
    if (!(cluster_largest(problem->cluster, possible ? 0 : 1) < 1)) {
        memset(in->w, 0, problem->dimension * sizeof *in->w);
        memset(in->xi, 0, in->n_groups * sizeof *in->xi);
        memset(in->t_step, 0, in->n_groups * sizeof *in->t_step);
        start(in);
    }
}

void interior_evaluate(struct interior *in) {
    const struct interior_problem *problem = &in->problem;
    size_t n = problem->n, dimension = problem->dimension;
    problem->scores(problem->context, in->w, in->v);
    problem->adjoint(problem->context, in->a, in->g);
    bool leads =
        cluster_is_root(problem->cluster); /* the term, which all processes have, counts once */
    double products = problem->term && leads ? problem->term->products(problem->term->context) : 0;
    for (size_t j = 0; j < n; j++) {
        products += in->a[j] * in->s[j];
    }
    for (size_t c = 0; !problem->squared && c < in->n_groups; c++) {
        products += in->t[c] * in->xi[c];
    }
    products = cluster_total(problem->cluster, products);
    in->mu = products / in->n_products;
    in->distance = products + set_dual_residual(in) / 2;
    for (size_t k = 0; k < dimension; k++) {
        in->distance += (1 - interior_counted(problem, k)) * fabs(in->g[k]) * in->margin_size;
    }
    double dual = interior_dual(in, in->a);
    if (dual > in->best_dual) {
        in->best_dual = dual;
        for (size_t j = 0; j < n; j++) {
            double upper = problem->squared ? INFINITY : problem->cost[in->group[j]];
            in->best_a[j] = fmin(in->a[j], upper);
        }
    }
    const double *w;
    double primal = interior_offered_primal(in, &w);
    if (primal < in->best_primal) {
        in->best_primal = primal;
        memcpy(in->best_w, w, dimension * sizeof *w);
        memcpy(in->best_tied, in->a, n * sizeof *in->a);
    }
}
