/* Values, gradients and second derivatives of the smoothed losses. */
#include "families/mc/solver/smoothed_loss.h"

#include "common/base/array.h"
#include "common/base/memory.h"

#include <math.h>
#include <stdlib.h>

int mc_smooth_create(struct mc_smooth *smooth, const struct mc_task *task, struct error *err) {
    *smooth = (struct mc_smooth){.task = task, .mu = 1};
    smooth->u = memory_array(task->shape.k, 2 * sizeof(double), "losses", err);
    if (!smooth->u) {
        return -1;
    }
    smooth->near = smooth->u + task->shape.k;
    return 0;
}

void mc_smooth_free(struct mc_smooth *smooth) {
    free(smooth->u);
    *smooth = (struct mc_smooth){0};
}

/* Returns theta where the sum of max(0, u_c / mu - theta) is 1; at 0 it is more. Newton's method on
 * a convex function, from the left: it starts where the largest term alone is 1. */
static double simplex_threshold(const struct mc_smooth *smooth, double max, double mu) {
    double theta = max > mu ? max - mu : 0; /* theta mu, as below */
    size_t k = smooth->task->shape.k, n = 0;
    double *near = smooth->near;
    /* without a branch: entries of at most theta are overwritten */
    for (size_t c = 0; c < k; c++) {
        near[n] = smooth->u[c];
        n += smooth->u[c] > theta ? 1 : 0;
    }
    for (size_t pass = 0; pass < 2 * k; pass++) {
        double sum = 0, over = 0;
        for (size_t e = 0; e < n; e++) {
            sum += near[e] > theta ? near[e] - theta : 0;
            over += near[e] > theta ? 1 : 0;
        }
        if (!(sum > mu * (1 + 1e-15)) || over == 0) {
            break;
        }
        theta += (sum - mu) / over;
    }
    return theta / mu;
}

/* Fills u with the slacks, -infinity for classes without a term. Returns theta for mu; *loss: the
 * original loss. */
static double prepare(const struct mc_smooth *smooth, double mu, size_t y, const double *s,
                      double *loss) {
    const struct mc_shape *shape = &smooth->task->shape;
    const struct mc_form *form = shape->form;
    size_t k = shape->k;
    double mean = 0, sum = 0, max = 0, *u = smooth->u;
    for (size_t c = 0; form->centred && c < k; c++) {
        mean += s[c];
    }
    mean /= (double)k;
    double base = form->relative ? 1 - shape->margin * s[y] : 1 - mean;
    for (size_t c = 0; c < k; c++) {
        u[c] = form->others ? base + shape->margin * s[c] : -INFINITY;
    }
    u[y] = form->own ? 1 - s[y] + mean : -INFINITY;
    for (size_t c = 0; c < k; c++) {
        double over = u[c] > 0 ? u[c] : 0;
        sum += over;
        max = over > max ? over : max;
    }
    *loss = form->simplex ? max : sum;
    return form->simplex && sum > mu ? simplex_threshold(smooth, max, mu) : 0;
}

/* Turns a (k) of a row of class y into the row's gradient of R, in place; sum: that of a. */
static void gradient_row(const struct mc_task *task, size_t y, double weight, double sum,
                         double *row) {
    const struct mc_shape *shape = &task->shape;
    double own = shape->form->relative ? shape->margin * sum : row[y], mean = 0;
    if (shape->form->centred) {
        mean = (2 * row[y] - sum) / (double)shape->k;
    }
    for (size_t c = 0; c < shape->k; c++) {
        row[c] = weight * (shape->margin * row[c] + mean);
    }
    row[y] = weight * (mean - own);
}

/* row (k) = a, for u and theta of prepare. Returns its sum, which for a maximum is scaled to at
 * most 1: for small mu, theta is exact to some digits only. */
static double fill_row(const struct mc_smooth *smooth, double theta, double *row) {
    size_t k = smooth->task->shape.k;
    double sum = 0;
    for (size_t c = 0; c < k; c++) {
        double a = smooth->u[c] / smooth->mu - theta;
        row[c] = a < 0 ? 0 : a > 1 ? 1 : a;
        sum += row[c];
    }
    if (!smooth->task->shape.form->simplex || sum <= 1) {
        return sum;
    }
    for (size_t c = 0; c < k; c++) {
        row[c] /= sum;
    }
    return 1;
}

static double cut(void *context, const double *s, double *g, double *offset) {
    struct mc_smooth *smooth = context;
    const struct mc_task *task = smooth->task;
    size_t k = task->shape.k;
    double value = 0, mu = smooth->mu;
    *offset = 0;
    smooth->loss = 0;
    for (size_t i = 0; i < task->n; i++) {
        size_t y = task->y[i];
        double *row = g + i * k, loss, sum = 0, square = 0, inner = 0;
        double theta = prepare(smooth, mu, y, s + i * k, &loss), weight = task->row_weight[i];
        sum = fill_row(smooth, theta, row);
        for (size_t c = 0; c < k; c++) {
            square += row[c] * row[c];
            inner += row[c] > 0 ? row[c] * smooth->u[c] : 0;
        }
        smooth->loss += weight * loss;
        value += weight * (inner - mu / 2 * square);
        *offset += weight * sum;
        gradient_row(task, y, weight, sum, row);
    }
    double sums[] = {value, *offset, smooth->loss};
    cluster_sum(task->problem->cluster, sums, 3);
    *offset = sums[1];
    smooth->loss = sums[2];
    return sums[0];
}

struct risk mc_smooth_risk(struct mc_smooth *smooth) {
    return (struct risk){
        .n = smooth->task->n * smooth->task->shape.k, .context = smooth, .cut = cut};
}

int mc_smooth_alpha(const struct mc_smooth *smooth, double cost, const double *s,
                    struct mc_alpha *alpha, struct error *err) {
    const struct mc_task *task = smooth->task;
    size_t k = task->shape.k;
    for (size_t i = 0; i < task->n; i++) {
        double loss, weight = cost * task->row_weight[i], *u = smooth->u;
        double theta = prepare(smooth, smooth->mu, task->y[i], s + i * k, &loss);
        fill_row(smooth, theta, u);
        array_scale(u, weight, k);
        if (mc_alpha_store(alpha, i, u, err) < 0) {
            return -1;
        }
    }
    return 0;
}

void mc_smooth_follow(const struct mc_smooth *smooth, double region, const double *s, double *g) {
    const struct mc_task *task = smooth->task;
    size_t k = task->shape.k;
    for (size_t i = 0; i < task->n; i++) {
        size_t y = task->y[i];
        double *row = g + i * k, loss, sum = 0, in = 0, n = 0;
        double theta = prepare(smooth, region, y, s + i * k, &loss);
        for (size_t c = 0; c < k; c++) {
            double a = smooth->u[c] / region - theta;
            bool free = a > 0 && (a < 1 || theta > 0);
            row[c] = free ? smooth->u[c] / smooth->mu : a > 0 ? 1 : 0;
            in += free ? row[c] : 0;
            n += free;
        }
        double over = theta > 0 ? (in - 1) / n : 0;
        for (size_t c = 0; c < k; c++) {
            row[c] -= smooth->u[c] / region - theta > 0 ? over : 0;
            sum += row[c];
        }
        gradient_row(task, y, task->row_weight[i], sum, row);
    }
}

size_t mc_smooth_region(const struct mc_smooth *smooth, double region, size_t y, const double *s,
                        uint32_t *term, bool *capped) {
    double loss, theta = prepare(smooth, region, y, s, &loss);
    size_t n = 0;
    *capped = theta > 0;
    for (size_t c = 0; c < smooth->task->shape.k; c++) {
        double a = smooth->u[c] / region - theta;
        if (a > 0 && (a < 1 || theta > 0)) {
            term[n++] = (uint32_t)c;
        }
    }
    return n;
}
