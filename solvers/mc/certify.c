#include "solvers/mc/certify.h"

#include "common/base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Beside what is paid for rounding, a gap of this part of it is nothing. */
static const double NOTHING = 0.1;

/* Scores that are looked at together. */
enum { BLOCK_SCORES = 1 << 18 };

struct loss {
    const struct mc_task *task;
    double cost;
};

/* What a row's slacks u come to. */
struct slacks {
    double high, sum; /* the largest of those that count, the sum of those above 0 */
    double unit;      /* what errors of the scores may change each by */
};

static struct slacks row_slacks(const struct mc_shape *shape, size_t y, const double *s,
                                double error, double *u) {
    size_t k = shape->k;
    double largest = 0, slope = 2 * fmax(1, shape->margin);
    struct slacks slacks = {.high = -INFINITY};
    mc_slacks(shape, y, s, u);
    for (size_t c = 0; c < k; c++) {
        double size = fabs(s[c]);
        largest = size > largest ? size : largest; /* fmax would be a call */
        if (c == y ? shape->form->own : shape->form->others) {
            slacks.high = u[c] > slacks.high ? u[c] : slacks.high;
            slacks.sum += u[c] <= 0 ? 0 : u[c]; /* what is not a number stays so */
        }
    }
    slacks.unit = slope * error + ((double)k + 8) * DBL_EPSILON * (1 + slope * largest);
    return slacks;
}

bool mc_may_lose(const struct mc_shape *shape, size_t y, const double *s, double error,
                 double *slack) {
    struct slacks slacks = row_slacks(shape, y, s, error, slack);
    return !(slacks.high + slacks.unit <= 0);
}

static int evaluate_loss(void *context, size_t first, size_t n, const double *s,
                         const double *error, double *value, double *rounding, struct error *err) {
    const struct loss *loss = context;
    const struct mc_shape *shape = &loss->task->shape;
    size_t k = shape->k;
    double most = mc_most(shape);
    double *slack = memory_array(k, sizeof *slack, "a certificate", err);
    *value = *rounding = 0;
    for (size_t i = 0; slack && i < n; i++) {
        size_t y = loss->task->y[first + i];
        double weight = loss->cost * loss->task->weight[y];
        struct slacks slacks = row_slacks(shape, y, s + i * k, error[i], slack);
        bool highest = shape->form->maximum && !isnan(slacks.sum);
        *value += weight * (highest ? fmax(slacks.high, 0) : slacks.sum);
        /* else none, whatever they are */
        *rounding += slacks.high + slacks.unit > 0 ? weight * most * slacks.unit : 0;
    }
    *rounding += (double)n * DBL_EPSILON * *value;
    free(slack);
    return slack ? 0 : -1;
}

/* What rounding may have done to the rows' coefficients, (n): |u(alpha)| <= 2 M sum alpha. */
static double *find_rounding(const struct mc_task *task, double cost, const struct mc_dual *dual,
                             struct error *err) {
    double most = mc_most(&task->shape), width = 2 * fmax(1, task->shape.margin);
    double unit = ((double)task->shape.k + 8) * DBL_EPSILON;
    double *error = memory_array(task->n, sizeof *error, "a certificate", err);
    size_t n_used = 0;
    for (size_t i = 0; error && i < task->n; i++) {
        double cap = cost * task->weight[task->y[i]];
        error[i] = width * (dual->alpha ? mc_alpha_sum(dual->alpha, i) : cap * most);
        n_used += error[i] > 0;
    }
    struct cluster *cluster = task->problem->cluster;
    if (!task->problem->gram) {
        unit += certify_sum_rounding(cluster_count(cluster, n_used) + cluster_size(cluster) - 1);
    }
    for (size_t i = 0; error && i < task->n; i++) {
        error[i] = unit * error[i] + dual->rounding * cost * task->weight[task->y[i]];
    }
    return error;
}

double mc_loss_of_nothing(const struct mc_task *task, double cost) {
    struct certify_total total = {0};
    for (size_t i = 0; i < task->n; i++) {
        certify_total_add(&total, task->weight[task->y[i]], mc_most(&task->shape));
    }
    certify_total_join(&total, task->problem->cluster);
    return certify_total_times(&total, cost);
}

/* The dual point for who asks for it. Rows without a kernel value of their own count as much as
 * they can, see mc_most. */
static int keep_alpha(const struct mc_task *task, double cost, const struct mc_dual *dual,
                      struct mc_fit *fit, struct error *err) {
    const struct mc_shape *shape = &task->shape;
    const struct mc_alpha *alpha = dual->kept ? dual->kept : dual->alpha;
    const double *own = dual->q ? dual->q : certify_reach(task->certify);
    mc_alpha_free(&fit->alpha);
    double *row = memory_array(2 * shape->k, sizeof *row, "dual variables", err);
    int status = row ? mc_alpha_create(&fit->alpha, task->n, shape->k, err) : -1;
    for (size_t i = 0; status == 0 && i < task->n; i++) {
        if (own[i] > 0) {
            mc_alpha_load(alpha, i, row);
        } else {
            for (size_t c = 0; c < shape->k; c++) {
                row[shape->k + c] = 0; /* scores */
            }
            mc_vertex(shape, task->y[i], cost * task->weight[task->y[i]], row + shape->k, row);
        }
        status = mc_alpha_store(&fit->alpha, i, row, err);
    }
    free(row);
    return status;
}

int mc_certify(const struct mc_task *task, double cost, const struct mc_dual *dual, double *scores,
               struct mc_fit *fit, struct error *err) {
    size_t k = task->shape.k;
    double *error = find_rounding(task, cost, dual, err);
    if (!error || (task->keep && keep_alpha(task, cost, dual, fit, err) < 0)) {
        free(error);
        return -1;
    }
    struct certify_function f = {.weights = fit->weights,
                                 .bias = fit->bias,
                                 .exact = dual->exact[0],
                                 .exact_error = dual->error,
                                 .scores = scores};
    struct certify_function g = {.weights = dual->weights ? dual->weights : fit->weights,
                                 .bias = dual->weights ? dual->bias : fit->bias};
    g.error = error;
    g.exact = dual->exact[1];
    /* sums of a row may be over its cost by their own rounding: as much is lost by scaling them
     * down, of the linear part, which is at least half of |g|^2 wherever D is of use */
    double terms = (double)(task->n_all + cluster_size(task->problem->cluster) - 1);
    double unit = 3 * ((double)k + 4) * DBL_EPSILON + (terms + 4) * DBL_EPSILON;
    struct loss loss = {task, cost};
    const struct certify_family family = {.context = &loss,
                                          .block = 1 + BLOCK_SCORES / k,
                                          .loss = evaluate_loss,
                                          .linear = dual->linear,
                                          .linear_rounding =
                                              unit * dual->linear + dual->linear_rounding,
                                          .nothing = mc_loss_of_nothing(task, cost),
                                          .enough = dual->enough,
                                          .lengthen = dual->lengthen};
    int status = certify_bounds(task->certify, k, &f, &g, &family, &fit->certificate, err);
    free(error);
    fit->primal = fit->certificate.primal;
    fit->dual = fit->certificate.dual;
    return status;
}

bool mc_is_rounding(const struct certificate *certificate, double paid) {
    double rest = certificate->primal - certificate->dual - paid;
    return certificate->certified && rest <= NOTHING * paid;
}
