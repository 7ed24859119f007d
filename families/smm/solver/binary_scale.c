/* The best multiple by tangent parabolas (binary_scale.h). */
#include "families/smm/solver/binary_scale.h"

#include <math.h>

enum { MAX_TRIALS = 30 };

static const double PRECISION = 0.01; /* of the gap */

struct line {
    const struct binary_loss *loss;
    const double *s;
    size_t n;
    double square, norm;
    double *scaled, *breaks;
};

/* The slope at c and b. In the sum over the rows with u > 0 the row closest to u = 0 counts with
 * the part that makes the derivative in b vanish. */
static double slope_at(const struct line *line, double c, double b) {
    const struct binary_loss *loss = line->loss;
    double sums[2] = {0}, closest = INFINITY, s_closest[2] = {0};
    for (size_t i = 0; i < line->n; i++) {
        double s = line->s[i], u = 1 - loss->y[i] * (c * s + b);
        double weight = u > 0 ? loss->y[i] * loss->cost[i] * (loss->squared ? 2 * u : 1) : 0;
        sums[0] += weight;
        sums[1] += weight * s;
        if (fabs(u) < closest) {
            closest = fabs(u);
            s_closest[0] = s;
        }
    }
    bool own = -closest == cluster_largest(loss->cluster, -closest);
    s_closest[0] = own ? s_closest[0] : 0;
    s_closest[1] = own; /* several processes may have such a row: their mean */
    cluster_sum(loss->cluster, sums, 2);
    cluster_sum(loss->cluster, s_closest, 2);
    return c * line->square + line->norm - sums[1] + sums[0] * (s_closest[0] / s_closest[1]);
}

static struct binary_scale evaluate(const struct line *line, double c) {
    double sum;
    for (size_t i = 0; i < line->n; i++) {
        line->scaled[i] = c * line->s[i];
    }
    double bias = binary_bias(line->loss, line->scaled, line->n, line->breaks, &sum);
    return (struct binary_scale){.c = c,
                                 .bias = bias,
                                 .primal = 0.5 * c * c * line->square + c * line->norm + sum,
                                 .slope = slope_at(line, c, bias)};
}

/* Minimises the larger of the parabolas that touch the primal at `left` and `right`. Returns the
 * minimum, and its place in *c. */
static double lower_bound(const struct binary_scale *left, const struct binary_scale *right,
                          double square, double *c) {
    double d = right->c - left->c, denominator = right->slope - left->slope - square * d;
    double crossing =
        (left->primal - right->primal + d * (right->slope - 0.5 * square * d)) / denominator;
    double left_vertex = -left->slope / square, right_vertex = d - right->slope / square;
    if (!(denominator > 0) || left_vertex < crossing) {
        *c = left->c + left_vertex;
        return left->primal + 0.5 * left->slope * left_vertex;
    }
    if (right_vertex > crossing) {
        *c = left->c + right_vertex;
        return right->primal - 0.5 * right->slope * (right->slope / square);
    }
    *c = left->c + crossing;
    return left->primal + crossing * (left->slope + 0.5 * square * crossing);
}

struct binary_scale binary_best_scale(const struct binary_loss *loss, const double *s, size_t n,
                                      double square, double norm, double dual, double *scaled,
                                      double *breaks) {
    const struct line line = {loss, s, n, square, norm, scaled, breaks};
    struct binary_scale best = {.primal = INFINITY};
    struct binary_scale left = {.c = -INFINITY}, right = {.c = INFINITY};
    double next = 1, lower;
    for (int k = 0; k < MAX_TRIALS && next >= left.c && next <= right.c; k++) {
        const struct binary_scale at = evaluate(&line, next);
        best = at.primal < best.primal ? at : best;
        *(at.slope < 0 ? &left : &right) = at;
        if (isfinite(left.c) && isfinite(right.c)) {
            lower = lower_bound(&left, &right, square, &next);
        } else {
            next = fmax(at.c - at.slope / square, 0);
            lower = at.primal - 0.5 * at.slope * (at.slope / square);
        }
        if (!(best.primal - lower > PRECISION * (best.primal - dual)) || next == at.c) {
            break;
        }
    }
    return best;
}
