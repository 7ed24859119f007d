/* ADMM with exact row steps; best primal and dual points (admm.h). */
#include "families/ml/solver/admm.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"
#include "fit/work.h"
#include "methods/admm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ITERATIONS_PER_EVALUATION = 10, /* iterations between evaluations of the bounds */
    MIN_EVALUATIONS = 100,          /* before a stall can stop it */
    TYPICAL_ITERATIONS = 200,       /* iterations of a fit, for the work estimate */
    TASK_ROWS = 64,                 /* rows per task of losses */
    LABEL_STEP = 100                /* operations of a row's step, per label */
};

struct ml_admm {
    const struct problem *problem;
    const struct ml_rows *rows;
    enum ml_loss loss;
    double cost;
    double constant; /* added to K */
    bool free_bias;
    size_t n, q;
    struct admm method;
    struct ml_scratch **scratch; /* (workers) */
    double *conjugate;           /* (n) of Z */
    double *product;             /* (n, q) K Z, with the bias */
    double *score;               /* (workers, q) */
    double *losses;              /* (tasks) */
    void *block;                 /* all arrays of numbers */
    const double *loss_scores;   /* scores at which losses are summed */

    /* the best points */
    double *coefficients, *bias; /* (n, q), (q) */
    /* (n, q) the best dual point: beta of the hinge; scores of the squared hinge, at which alpha is
     * `scale` times the derivatives of the loss */
    double *dual;
    double scale;
    double best_primal, best_dual;
    uint64_t evaluations;  /* of the bounds: what the monitor counts as iterations */
    uint64_t checkpoint;   /* an evaluation about half of them ago */
    double checkpoint_gap; /* gap then */
};

double ml_admm_work(const struct problem *problem, const struct ml_rows *rows) {
    double n = (double)rows->n, q = (double)rows->q;
    if (rows->cluster || problem->cluster ||
        !admm_fits(rows->n, rows->q, NULL, problem->cache_bytes)) {
        return INFINITY;
    }
    double value_work = problem->gram ? 50 : (double)problem->data->n_features;
    double systems = work_cholesky(n) + work_blas3(TYPICAL_ITERATIONS * 2 * n * n * q);
    return work_scalar(n * n / 2 * value_work + TYPICAL_ITERATIONS * n * q * LABEL_STEP) + systems;
}

/* ---- creation ---- */

/* The row's block. */
static struct ml_block block_of(const struct ml_admm *admm, size_t i) {
    return ml_rows_block(admm->rows, i, admm->loss, admm->cost);
}

static void step(void *context, size_t i, size_t worker, double rho, const double *c, double *z) {
    struct ml_admm *admm = context;
    size_t q = admm->q;
    struct ml_block block = block_of(admm, i);
    double *s = admm->score + worker * q;
    for (size_t k = 0; k < q; k++) {
        s[k] = rho * (z[k] - c[k]);
    }
    ml_block_exact(&block, rho, s, z, &admm->conjugate[i], admm->scratch[worker]);
}

static int allocate(struct ml_admm *admm, struct error *err) {
    size_t n = admm->n, q = admm->q, workers = threads_count(admm->problem->threads);
    const struct admm_problem problem = {.n = n,
                                         .k = q,
                                         .free_bias = admm->free_bias,
                                         .threads = admm->problem->threads,
                                         .context = admm,
                                         .step = step};
    if (admm_create(&admm->method, &problem, err) < 0) {
        return -1;
    }
    admm->block =
        ARRAYS_CREATE("coefficients", err, ARRAYS(n, double, &admm->conjugate),
                      ARRAYS(n * q, double, &admm->product, &admm->coefficients, &admm->dual),
                      ARRAYS(q, double, &admm->bias), ARRAYS(workers * q, double, &admm->score),
                      ARRAYS(n / TASK_ROWS + 1, double, &admm->losses));
    admm->scratch = memory_zeros(workers, sizeof *admm->scratch, "work of rows", err);
    if (!admm->block || !admm->scratch) {
        return -1;
    }
    for (size_t w = 0; w < workers; w++) {
        if (ml_scratch_create(&admm->scratch[w], (uint32_t)q, err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Starts at the given point. *started is false if K has no Cholesky factor. */
static int begin(struct ml_admm *admm, const struct ml_admm_start *start, bool *started,
                 struct error *err) {
    struct admm *method = &admm->method;
    size_t n = admm->n, q = admm->q;
    if (problem_matrix(admm->problem, admm->rows->row, n, method->K, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(method->Z + i * q, start->beta + i * start->width, q * sizeof(double));
        memcpy(admm->product + i * q, start->scores + i * start->width, q * sizeof(double));
    }
    *started = admm_start(method, admm->constant, NULL, admm->product) == 0;
    return 0;
}

int ml_admm_create(struct ml_admm **admm, const struct problem *problem, const struct ml_rows *rows,
                   enum ml_loss loss, double cost, double constant, bool free_bias,
                   const struct ml_admm_start *start, struct error *err) {
    struct ml_admm *made = memory_zeros(1, sizeof *made, "a solver", err);
    *admm = NULL;
    if (!made) {
        return -1;
    }
    made->problem = problem;
    made->rows = rows;
    made->loss = loss;
    made->cost = cost;
    made->constant = constant;
    made->free_bias = free_bias;
    made->n = rows->n;
    made->q = rows->q;
    made->best_primal = made->checkpoint_gap = INFINITY;
    made->scale = 1;
    bool started = false;
    int status = allocate(made, err) < 0 || begin(made, start, &started, err) < 0 ? -1 : 0;
    if (!started) {
        ml_admm_free(made);
        return status;
    }
    *admm = made;
    return 0;
}

void ml_admm_free(struct ml_admm *admm) {
    if (!admm) {
        return;
    }
    for (size_t w = 0; admm->scratch && w < threads_count(admm->problem->threads); w++) {
        ml_scratch_free(admm->scratch[w]);
    }
    admm_free(&admm->method);
    free(admm->scratch);
    free(admm->block);
    free(admm);
}

/* ---- bounds ---- */

static void loss_task(void *argument, size_t task, size_t worker) {
    struct ml_admm *admm = argument;
    size_t end = smaller((task + 1) * TASK_ROWS, admm->n);
    double sum = 0;
    for (size_t i = task * TASK_ROWS; i < end; i++) {
        struct ml_block block = block_of(admm, i);
        sum += ml_block_loss(&block, admm->loss_scores + i * admm->q, admm->scratch[worker]);
    }
    admm->losses[task] = sum;
}

/* Keeps coefficients with the scores S, bias included, if they are the better primal point. */
static void offer_primal(struct ml_admm *admm, const double *coefficients, double squared_norm,
                         const double *S) {
    size_t tasks = (admm->n + TASK_ROWS - 1) / TASK_ROWS;
    double primal = squared_norm / 2;
    admm->loss_scores = S;
    threads_run(admm->problem->threads, tasks, loss_task, admm);
    for (size_t t = 0; t < tasks; t++) {
        primal += admm->losses[t];
    }
    if (primal < admm->best_primal) {
        admm->best_primal = primal;
        memcpy(admm->coefficients, coefficients, admm->n * admm->q * sizeof *coefficients);
        memcpy(admm->bias, admm->method.bias, admm->q * sizeof *admm->bias);
    }
}

/* Linear part of D at Z, and its conjugates. */
static double linear_part(const struct ml_admm *admm, double *conjugate) {
    double linear = 0;
    *conjugate = 0;
    for (size_t i = 0; i < admm->n; i++) {
        struct ml_block block = block_of(admm, i);
        const double *beta = admm->method.Z + i * admm->q;
        for (uint32_t p = 0; p < block.n_relevant; p++) {
            linear += beta[block.relevant[p]];
        }
        *conjugate += admm->conjugate[i];
    }
    return linear;
}

/* Keeps the best multiple of Z, whose squared norm is given, if it is the better dual point.
 * unbalanced: cost of sums over rows that are not 0, for a free bias. */
static void offer_dual(struct ml_admm *admm, double squared_norm, double unbalanced) {
    const struct admm *method = &admm->method;
    double conjugate, linear = linear_part(admm, &conjugate) - unbalanced;
    double scale = linear / (squared_norm + 2 * conjugate);
    scale = scale < 1 ? fmax(scale, 0) : 1;
    double dual = scale * linear - scale * scale * (squared_norm / 2 + conjugate);
    size_t size = admm->n * admm->q;
    if (!(dual > admm->best_dual)) {
        return;
    }
    admm->best_dual = dual;
    admm->scale = scale;
    for (size_t j = 0; j < size; j++) {
        admm->dual[j] = admm->loss == ML_HINGE ? scale * method->Z[j] : -method->rho * method->W[j];
    }
}

/* Estimated cost of sums of Z over rows that are not 0, if rows at a margin took them. Only a
 * certificate gives the true bound. */
static double cost_of_imbalance(const struct ml_admm *admm) {
    const double *Z = admm->method.Z, *bias = admm->method.bias;
    double cost_total = 0;
    for (size_t k = 0; k < admm->q; k++) {
        double sum = 0;
        for (size_t i = 0; i < admm->n; i++) {
            sum += Z[i * admm->q + k];
        }
        cost_total += fabs(sum) * (fabs(bias[k]) + 1);
    }
    return cost_total;
}

static void evaluate(struct ml_admm *admm) {
    struct admm *method = &admm->method;
    size_t n = admm->n, q = admm->q, size = n * q;
    const double *bias = method->bias;
    double *product = admm->product;
    double squared_norm = array_dot(method->U, method->S, size);
    offer_primal(admm, method->U, squared_norm, method->S);
    admm_product(method, method->Z, product);
    squared_norm = array_dot(method->Z, product, size);
    for (size_t i = 0; admm->free_bias && i < n; i++) {
        array_add(product + i * q, 1, bias, q);
    }
    offer_dual(admm, squared_norm, admm->free_bias ? cost_of_imbalance(admm) : 0);
    offer_primal(admm, method->Z, squared_norm, product);
}

/* ---- running ---- */

static void row_alpha(const void *context, size_t i, const struct ml_block *block, double *alpha) {
    const struct ml_admm *admm = context;
    const double *dual = admm->dual + i * admm->q;
    if (admm->loss == ML_HINGE) {
        ml_block_hinge_alpha(block, dual, alpha, admm->scratch[0]);
        return;
    }
    ml_block_squared_alpha(block, dual, alpha);
    array_scale(alpha, admm->scale, (size_t)block->n_relevant * (block->q - block->n_relevant));
}

/* Whether the later half of the evaluations has hardly reduced the gap. */
static bool is_stalled(struct ml_admm *admm) {
    double gap = admm->best_primal - admm->best_dual;
    if (admm->evaluations < 2 * admm->checkpoint + 1) {
        return false;
    }
    bool stalled =
        admm->evaluations >= MIN_EVALUATIONS && !(gap < STOP_PROGRESS * admm->checkpoint_gap);
    admm->checkpoint = admm->evaluations;
    admm->checkpoint_gap = gap;
    return stalled;
}

static bool is_reached(const struct ml_admm *admm, double epsilon, double min_scale) {
    double gap = admm->best_primal - admm->best_dual;
    return admm->evaluations > 0 && gap <= epsilon * fmax(admm->best_primal, min_scale);
}

void ml_admm_run(struct ml_admm *admm, double epsilon, double min_scale,
                 const struct monitor *monitor, struct ml_fit *fit) {
    enum stop_reason stop = STOP_REACHED;
    for (unsigned t = 1; !stop && !is_reached(admm, epsilon, min_scale); t++) {
        if (admm_iterate(&admm->method) < 0) {
            stop = STOP_ROUNDING;
            break;
        }
        if (t % ITERATIONS_PER_EVALUATION == 0) {
            evaluate(admm);
            admm->evaluations++;
            stop = monitor_check(monitor, admm->evaluations, admm->best_primal, admm->best_dual);
            stop = !stop && is_stalled(admm) ? STOP_STALLED : stop;
        } else if (monitor_past_deadline(monitor)) {
            stop = STOP_TIME;
        }
    }
    if (admm->constant > 0) {
        memset(admm->bias, 0, admm->q * sizeof *admm->bias);
        for (size_t i = 0; i < admm->n; i++) {
            array_add(admm->bias, admm->constant, admm->coefficients + i * admm->q, admm->q);
        }
    }
    *fit = (struct ml_fit){.alphas = {admm->rows, admm->loss, admm->cost, admm, row_alpha},
                           .coefficients = admm->coefficients,
                           .bias = admm->bias,
                           .primal = admm->best_primal,
                           .dual = admm->best_dual,
                           .iterations = admm->evaluations,
                           .stop = stop};
}
