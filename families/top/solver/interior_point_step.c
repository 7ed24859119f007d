/* Steps of the interior-point method. With D the diagonal from bounds and caps, and S the signs by
 * row, a direction solves
 *
 *   (S'K S + D) dx + B dy = r,  B'dx + G dy = g,   dy of the level, rho and lambda,
 *
 * by the Schur complement of the border. S'K S + D is reduced to rows, (K + E)^-1: E = D of a row's
 * only variable, or D_alpha D_beta / (D_alpha + D_beta) if it has both. */
#include "common/base/array.h"
#include "families/top/solver/interior_point_private.h"

#include <math.h>
#include <string.h>

/* The ridge on K's diagonal, relative to it: rows may be equal; and its growth while the
 * factorisation fails. It changes the path to the optimum, not the optimum. The feature matrix
 * needs none. */
static const double RIDGE = 1e-13, MAX_RIDGE = 1e-3, RIDGE_FACTOR = 10;
/* The level of TOP_QUANTILE squared increases by at most this multiple of itself: its part of the
 * slopes is far from linear. Without the limit 11 rows with theta = .001 stall at a gap of .16. */
static const double MAX_LEVEL_RISE = 4;

enum { LEVEL, RHO, LAMBDA }; /* the columns of the border */

extern void dgesv_(const int *n, const int *columns, double *A, const int *lda, int *pivots,
                   double *B, const int *ldb, int *info);

/* b = the sums of sign x by row. */
static void sum_by_row(struct top_interior *in) {
    memset(in->b, 0, in->m * sizeof *in->b);
    for (size_t k = 0; k < in->n; k++) {
        in->b[in->row[k]] += top_interior_sign(in, k) * in->at.x[k];
    }
}

int top_interior_set_function(struct top_interior *in, struct error *err) {
    sum_by_row(in);
    return in->width > 0 ? top_system_weights(in->system, in->b, in->at.f, err) : 0;
}

int top_interior_scores(struct top_interior *in, struct error *err) {
    double square;
    sum_by_row(in);
    if (in->width == 0) {
        return top_system_square(in->system, in->b, in->s, &square, err);
    }
    if (top_system_weights(in->system, in->b, in->residual, err) < 0) {
        return -1;
    }
    array_add(in->residual, -1, in->at.f, in->width);
    return top_system_scores(in->system, in->at.f, in->s, err);
}

static bool has_perspective(const struct top_interior *in) {
    return in->risk->kind == TOP_QUANTILE && in->risk->square;
}

double top_interior_mean_product(const struct top_interior *in, double length) {
    const struct top_point *at = &in->at, *by = &in->affine;
    double count = has_perspective(in) && cluster_is_root(in->cluster) ? 1 : 0;
    double sum = count * (at->level + length * by->level) * (at->w + length * by->w);
    for (size_t k = 0; k < in->n; k++) {
        sum += (at->x[k] + length * by->x[k]) * (at->z[k] + length * by->z[k]);
        count++;
        if (in->capped[k]) {
            sum += (at->u[k] + length * by->u[k]) * (at->y[k] + length * by->y[k]);
            count++;
        }
    }
    double sums[] = {sum, count};
    cluster_sum(in->cluster, sums, 2);
    return sums[0] / sums[1];
}

/* ---- the system ---- */

/* Sets the diagonals and the border's level column. Returns the level's diagonal entry. */
static double fill_curvatures(struct top_interior *in) {
    const struct top_point *at = &in->at;
    double diagonal = has_perspective(in) && cluster_is_root(in->cluster) ? at->w / at->level : 0;
    for (size_t k = 0; k < in->n; k++) {
        double cap = in->capped[k] ? at->y[k] / at->u[k] : 0;
        double perspective = in->perspective[k] > 0 ? 1 / (in->perspective[k] * at->level) : 0;
        /* minus the derivative of x / (perspective level) in the level */
        double level_slope_part = at->x[k] / at->level * perspective;
        in->curvature[k] = in->square[k] + at->z[k] / at->x[k] + cap + perspective;
        if (in->levelled) {
            in->border[LEVEL][k] = -in->moving[k] * cap - level_slope_part;
            diagonal += in->moving[k] * in->moving[k] * cap +
                        (perspective > 0 ? level_slope_part * at->x[k] / at->level : 0);
        }
    }
    return cluster_total(in->cluster, diagonal);
}

/* Sets E of each row. */
static void fill_diagonal(struct top_interior *in, double ridge) {
    const double *diagonal = top_system_diagonal(in->system);
    for (size_t i = 0; i < in->m; i++) {
        size_t a = in->alpha_of[i], b = in->beta_of[i];
        double E;
        if (a != SIZE_MAX && b != SIZE_MAX) {
            double small = fmin(in->curvature[a], in->curvature[b]);
            double large = fmax(in->curvature[a], in->curvature[b]);
            E = small / (1 + small / large);
        } else {
            E = in->curvature[a != SIZE_MAX ? a : b];
        }
        in->E[i] = E + ridge * diagonal[i] + 1e-300;
    }
}

/* out (n) = (S'K S + D)^-1 right (n). With features and f not NULL also the weights f (width), in
 * whose equation `residual` (width; NULL: 0) is added. */
static int solve_inner(struct top_interior *in, const double *right, const double *residual,
                       double *out, double *f, struct error *err) {
    for (size_t i = 0; i < in->m; i++) {
        size_t a = in->alpha_of[i], b = in->beta_of[i];
        if (a != SIZE_MAX && b != SIZE_MAX) {
            double A = in->curvature[a], B = in->curvature[b];
            in->solved[i] = (right[a] * B - right[b] * A) / (A + B);
        } else {
            in->solved[i] = a != SIZE_MAX ? right[a] : -right[b];
        }
    }
    if ((f ? top_system_solve_both(in->system, residual, in->solved, f, err)
           : top_system_solve(in->system, in->solved, err)) < 0) {
        return -1;
    }
    for (size_t i = 0; i < in->m; i++) {
        size_t a = in->alpha_of[i], b = in->beta_of[i];
        if (a != SIZE_MAX && b != SIZE_MAX) {
            double A = in->curvature[a], B = in->curvature[b], sum = right[a] + right[b];
            out[a] = (sum + B * in->solved[i]) / (A + B);
            out[b] = (sum - A * in->solved[i]) / (A + B);
        } else {
            out[a != SIZE_MAX ? a : b] = a != SIZE_MAX ? in->solved[i] : -in->solved[i];
        }
    }
    return 0;
}

/* Sets the slopes and the residuals of sums and caps. */
static void fill_residuals(struct top_interior *in) {
    const struct top_point *at = &in->at;
    bool mean = in->risk->kind == TOP_MEAN;
    double slope = !cluster_is_root(in->cluster) ? 0
                   : mean                        ? -at->lambda
                                                 : in->risk->budget - at->w;
    double alphas = 0, all = 0;
    for (size_t k = 0; k < in->n; k++) {
        double sign = top_interior_sign(in, k), x = at->x[k];
        double value = sign * in->s[in->row[k]] + in->square[k] * x - in->linear[k] - at->z[k];
        value += in->balanced ? sign * at->rho : 0;
        value += mean && k < in->n_alpha ? at->lambda : 0;
        if (in->capped[k]) {
            value += at->y[k];
            in->cap_residual[k] = in->fixed[k] + in->moving[k] * at->level - x - at->u[k];
            slope -= in->moving[k] * at->y[k];
        }
        if (in->perspective[k] > 0) {
            double part = x / (in->perspective[k] * at->level);
            value += part;
            slope -= 0.5 * part * (x / at->level);
        }
        in->slope[k] = value;
        all += sign * x;
        alphas += k < in->n_alpha ? x : 0;
    }
    double sums[] = {slope, all, alphas};
    cluster_sum(in->cluster, sums, 3);
    in->level_slope = sums[0];
    in->sum_residual[0] = sums[1];
    in->sum_residual[1] = sums[2] - at->level;
}

int top_interior_factor(struct top_interior *in, bool *done, struct error *err) {
    in->level_curvature = fill_curvatures(in);
    fill_residuals(in);
    double ridge = in->width > 0 ? 0 : RIDGE;
    fill_diagonal(in, ridge);
    while (!(*done = top_system_factor(in->system, in->E)) && ridge < MAX_RIDGE) {
        ridge = fmax(RIDGE, ridge * RIDGE_FACTOR);
        fill_diagonal(in, ridge);
    }
    for (size_t c = 0; c < in->n_borders && *done; c++) {
        if (solve_inner(in, in->border[c], NULL, in->column[c], NULL, err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- directions ---- */

enum part { AFFINE, CENTRE, CORRECTOR };

/* The right-hand side for a product a b in this part; da, db: affine's steps of the factors. */
static double target(enum part part, double a, double b, double da, double db) {
    return part == AFFINE ? -a * b : part == CENTRE ? 1 : -da * db;
}

static double target_x(const struct top_interior *in, enum part part, size_t k) {
    return target(part, in->at.x[k], in->at.z[k], in->affine.x[k], in->affine.z[k]);
}

static double target_u(const struct top_interior *in, enum part part, size_t k) {
    return target(part, in->at.u[k], in->at.y[k], in->affine.u[k], in->affine.y[k]);
}

static double target_level(const struct top_interior *in, enum part part) {
    return has_perspective(in)
               ? target(part, in->at.level, in->at.w, in->affine.level, in->affine.w)
               : 0;
}

/* moves: the steps of level, rho and lambda, from the solution `inner` without them. */
static void find_borders(const struct top_interior *in, const double *inner, double *moves) {
    const int n = (int)in->n_borders, one = 1, stride = 3;
    double A[3][3] = {{0}}, sums[3 * 4];
    int pivots[3], info = 0;
    for (size_t c = 0; c < in->n_borders; c++) {
        double *row = sums + c * 4;
        row[3] = array_dot(in->border[c], inner, in->n);
        for (size_t d = 0; d < in->n_borders; d++) {
            row[d] = array_dot(in->border[c], in->column[d], in->n);
        }
    }
    cluster_sum(in->cluster, sums, in->n_borders * 4);
    for (size_t c = 0; c < in->n_borders; c++) {
        moves[c] -= sums[c * 4 + 3];
        for (size_t d = 0; d < in->n_borders; d++) {
            A[d][c] = -sums[c * 4 + d]; /* by columns */
        }
    }
    A[LEVEL][LEVEL] += in->level_curvature;
    if (in->n_borders > LAMBDA) {
        A[LEVEL][LAMBDA] -= 1;
        A[LAMBDA][LEVEL] -= 1;
    }
    if (n > 0) {
        dgesv_(&n, &one, A[0], &stride, pivots, moves, &stride, &info);
    }
    if (info != 0) { /* singular up to the last bit */
        memset(moves, 0, 3 * sizeof *moves);
    }
}

static int find_direction(struct top_interior *in, enum part part, struct top_point *to,
                          struct error *err) {
    const struct top_point *at = &in->at;
    double with_residuals = part == AFFINE ? 1 : 0; /* only affine corrects residuals */
    double moves[3] = {0, -with_residuals * in->sum_residual[0],
                       -with_residuals * in->sum_residual[1]};
    if (cluster_is_root(in->cluster)) {
        moves[LEVEL] = -with_residuals * in->level_slope + target_level(in, part) / at->level;
    }
    for (size_t k = 0; k < in->n; k++) {
        in->right[k] = -with_residuals * in->slope[k] + target_x(in, part, k) / at->x[k];
        if (in->capped[k]) {
            double cap = (target_u(in, part, k) - with_residuals * at->y[k] * in->cap_residual[k]) /
                         at->u[k];
            in->right[k] -= cap;
            moves[LEVEL] += in->moving[k] * cap;
        }
    }
    moves[LEVEL] = cluster_total(in->cluster, moves[LEVEL]);
    const double *residual = part == AFFINE ? in->residual : NULL;
    double *f = in->width > 0 ? to->f : NULL;
    if (solve_inner(in, in->right, residual, to->x, f, err) < 0) {
        return -1;
    }
    find_borders(in, to->x, moves);
    for (size_t c = 0; c < in->n_borders; c++) {
        if (f) { /* solve again for the sum, because its parts may cancel */
            array_add(in->right, -moves[c], in->border[c], in->n);
        } else {
            array_add(to->x, -moves[c], in->column[c], in->n);
        }
    }
    if (f && solve_inner(in, in->right, residual, to->x, f, err) < 0) {
        return -1;
    }
    to->level = in->n_borders > LEVEL ? moves[LEVEL] : 0;
    to->rho = in->n_borders > RHO ? moves[RHO] : 0;
    to->lambda = in->n_borders > LAMBDA ? moves[LAMBDA] : 0;
    to->w = has_perspective(in) ? (target_level(in, part) - at->w * to->level) / at->level : 0;
    for (size_t k = 0; k < in->n; k++) {
        to->z[k] = (target_x(in, part, k) - at->z[k] * to->x[k]) / at->x[k];
        if (in->capped[k]) {
            to->u[k] = in->moving[k] * to->level - to->x[k] + with_residuals * in->cap_residual[k];
            to->y[k] = (target_u(in, part, k) - at->y[k] * to->u[k]) / at->u[k];
        }
    }
    return 0;
}

int top_interior_directions(struct top_interior *in, struct error *err) {
    return find_direction(in, AFFINE, &in->affine, err) < 0 ||
                   find_direction(in, CENTRE, &in->centre, err) < 0 ||
                   find_direction(in, CORRECTOR, &in->corrector, err) < 0
               ? -1
               : 0;
}

/* ---- steps ---- */

/* The largest step length, up to max_length, at which n entries stay above 0. */
static double longest(const double *at, const double *affine, const double *centre,
                      const double *corrector, size_t n, double target, double weight,
                      double max_length) {
    for (size_t k = 0; k < n; k++) {
        double move = affine[k] + target * centre[k] + weight * corrector[k];
        max_length = move < 0 ? fmin(max_length, at[k] / -move) : max_length;
    }
    return max_length;
}

double top_interior_longest(const struct top_interior *in, double target, double weight) {
    const struct top_point *at = &in->at, *a = &in->affine, *c = &in->centre;
    const struct top_point *d = &in->corrector;
    double max_length = longest(at->x, a->x, c->x, d->x, 4 * in->n, target, weight, INFINITY);
    max_length = -cluster_largest(in->cluster, -max_length);
    if (in->levelled) {
        max_length =
            longest(&at->level, &a->level, &c->level, &d->level, 1, target, weight, max_length);
    }
    if (has_perspective(in)) {
        double rise = a->level + target * c->level + weight * d->level;
        max_length = longest(&at->w, &a->w, &c->w, &d->w, 1, target, weight, max_length);
        max_length = rise > 0 ? fmin(max_length, MAX_LEVEL_RISE * at->level / rise) : max_length;
    }
    return max_length;
}

/* Moves n entries. */
static void move(double *at, const double *affine, const double *centre, const double *corrector,
                 size_t n, double length, double target, double weight) {
    for (size_t k = 0; k < n; k++) {
        at[k] += length * (affine[k] + target * centre[k] + weight * corrector[k]);
    }
}

bool top_interior_move(struct top_interior *in, double length, double target, double weight) {
    struct top_point *at = &in->at;
    const struct top_point *a = &in->affine, *c = &in->centre, *d = &in->corrector;
    bool valid = true;
    move(at->x, a->x, c->x, d->x, 4 * in->n, length, target, weight);
    move(&at->level, &a->level, &c->level, &d->level, 1, length, target, weight);
    move(&at->w, &a->w, &c->w, &d->w, 1, length, target, weight);
    move(&at->rho, &a->rho, &c->rho, &d->rho, 1, length, target, weight);
    move(&at->lambda, &a->lambda, &c->lambda, &d->lambda, 1, length, target, weight);
    move(at->f, a->f, c->f, d->f, in->width, length, target, weight);
    for (size_t k = 0; k < 4 * in->n; k++) {
        valid = valid && at->x[k] > 0 && isfinite(at->x[k]);
    }
    valid = !cluster_any(in->cluster, !valid);
    return valid && (!in->levelled || at->level > 0) && isfinite(at->level) && isfinite(at->rho) &&
           isfinite(at->lambda);
}
