#include "families/ml/solver/admm.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"
#include "families/ml/solver/products.h"
#include "fit/work.h"
#include "methods/admm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOK = 10,       /* iterations from one look at the bounds to the next */
    PATIENCE = 100,  /* looks that are made in any case */
    USUAL = 200,     /* iterations of a fit, for what it will cost */
    TASK_ROWS = 64,  /* of a task of losses */
    LABEL_STEP = 100 /* operations of a row's step, for each label */
};

static const double SLOW = 0.9; /* of the gap, over the later half of the looks */

struct ml_split {
    const struct problem *problem;
    const struct ml_rows *rows;
    enum ml_loss loss;
    double cost;
    double constant; /* added to K */
    bool free_bias;
    size_t n, q;
    struct splitting splitting;
    struct ml_scratch **scratch; /* (workers) */
    double *conjugate;           /* (n) of Z */
    double *product;             /* (n, q) K Z, with the bias */
    double *old, *score;         /* (workers, q) */
    double *losses;              /* of tasks */
    const double *looked;        /* the scores whose loss is taken */

    /* the best points */
    double *coefficients, *bias; /* (n, q), (q) */
    double *dual;                /* (n, q) hinge: beta; squared hinge: scores whose slopes, times */
    double scale;                /* scale, are alpha */
    double best_primal, best_dual;
    uint64_t iterations, looks, mark;
    double earlier; /* the gap at look `mark`, half of the looks ago, about */
};

double ml_split_work(const struct problem *problem, const struct ml_rows *rows) {
    double n = (double)rows->n, q = (double)rows->q;
    if (rows->cluster || problem->cluster ||
        !splitting_fits(rows->n, rows->q, NULL, problem->cache_bytes)) {
        return INFINITY;
    }
    double wide = problem->gram ? 50 : (double)problem->data->n_features;
    double systems = work_cholesky(n) + work_blas3(USUAL * 2 * n * n * q);
    return work_scalar(n * n / 2 * wide + USUAL * n * q * LABEL_STEP) + systems;
}

/* ---- creation ---- */

static int fill_matrix(struct ml_split *split, struct error *err) {
    const struct problem *problem = split->problem;
    size_t n = split->n;
    double *K = split->splitting.K;
    if (!problem->gram) {
        if (ml_products(problem, split->rows, K, err) < 0) {
            return -1;
        }
        cholesky_mirror(K, n, true);
        return 0;
    }
    uint32_t *index = memory_array(n, sizeof *index, "rows", err);
    for (size_t i = 0; index && i < n; i++) {
        index[i] = (uint32_t)ml_products_row(problem, split->rows, i);
    }
    int status = index ? splitting_fill(&split->splitting, problem->gram, index, err) : -1;
    free(index);
    return status;
}

/* The row's block. */
static struct ml_block block_of(const struct ml_split *split, size_t i) {
    return ml_rows_block(split->rows, i, split->loss, split->cost);
}

static void step(void *context, size_t i, size_t worker, double rho, const double *c, double *z) {
    struct ml_split *split = context;
    size_t q = split->q;
    struct ml_block block = block_of(split, i);
    double *s = split->score + worker * q;
    for (size_t k = 0; k < q; k++) {
        s[k] = rho * (z[k] - c[k]);
    }
    ml_block_exact(&block, rho, s, z, &split->conjugate[i], split->scratch[worker]);
}

static int allocate(struct ml_split *split, struct error *err) {
    size_t n = split->n, q = split->q, workers = threads_count(split->problem->threads);
    const struct splitting_problem problem = {.n = n,
                                              .k = q,
                                              .free_bias = split->free_bias,
                                              .threads = split->problem->threads,
                                              .context = split,
                                              .step = step};
    if (splitting_create(&split->splitting, &problem, err) < 0) {
        return -1;
    }
    split->conjugate = memory_zeros(n, sizeof(double), "dual variables", err);
    split->product = memory_zeros(3 * n, q * sizeof(double), "coefficients", err);
    split->bias = memory_zeros(1 + workers, q * sizeof(double), "coefficients", err);
    split->losses = memory_zeros(n / TASK_ROWS + 1, sizeof(double), "losses", err);
    split->scratch = memory_zeros(workers, sizeof *split->scratch, "work of rows", err);
    if (!split->conjugate || !split->product || !split->bias || !split->losses || !split->scratch) {
        return -1;
    }
    split->coefficients = split->product + n * q;
    split->dual = split->coefficients + n * q;
    split->score = split->bias + q;
    for (size_t w = 0; w < workers; w++) {
        if (ml_scratch_create(&split->scratch[w], (uint32_t)q, err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The sequences from where bcd is; *started is false where K has no factor. */
static int begin(struct ml_split *split, const struct ml_split_start *start, bool *started,
                 struct error *err) {
    struct splitting *splitting = &split->splitting;
    size_t n = split->n, q = split->q;
    if (fill_matrix(split, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(splitting->Z + i * q, start->beta + i * start->width, q * sizeof(double));
        memcpy(split->product + i * q, start->scores + i * start->width, q * sizeof(double));
    }
    *started = splitting_start(splitting, split->constant, NULL, split->product) == 0;
    return 0;
}

int ml_split_create(struct ml_split **split, const struct problem *problem,
                    const struct ml_rows *rows, enum ml_loss loss, double cost, double constant,
                    bool free_bias, const struct ml_split_start *start, struct error *err) {
    struct ml_split *made = memory_zeros(1, sizeof *made, "a solver", err);
    *split = NULL;
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
    made->best_primal = made->earlier = INFINITY;
    made->scale = 1;
    bool started = false;
    int status = allocate(made, err) < 0 || begin(made, start, &started, err) < 0 ? -1 : 0;
    if (!started) {
        ml_split_free(made);
        return status;
    }
    *split = made;
    return 0;
}

void ml_split_free(struct ml_split *split) {
    if (!split) {
        return;
    }
    for (size_t w = 0; split->scratch && w < threads_count(split->problem->threads); w++) {
        ml_scratch_free(split->scratch[w]);
    }
    splitting_free(&split->splitting);
    free(split->scratch);
    free(split->conjugate);
    free(split->product);
    free(split->bias);
    free(split->losses);
    free(split);
}

/* ---- bounds ---- */

static void loss_task(void *argument, size_t task, size_t worker) {
    struct ml_split *split = argument;
    size_t end = smaller((task + 1) * TASK_ROWS, split->n);
    double sum = 0;
    for (size_t i = task * TASK_ROWS; i < end; i++) {
        struct ml_block block = block_of(split, i);
        sum += ml_block_loss(&block, split->looked + i * split->q, split->scratch[worker]);
    }
    split->losses[task] = sum;
}

/* Takes coefficients whose scores, with the bias, are S, if they are the better primal point. */
static void offer_primal(struct ml_split *split, const double *coefficients, double norm,
                         const double *S) {
    size_t tasks = (split->n + TASK_ROWS - 1) / TASK_ROWS;
    double primal = norm / 2;
    split->looked = S;
    threads_run(split->problem->threads, tasks, loss_task, split);
    for (size_t t = 0; t < tasks; t++) {
        primal += split->losses[t];
    }
    if (primal < split->best_primal) {
        split->best_primal = primal;
        memcpy(split->coefficients, coefficients, split->n * split->q * sizeof *coefficients);
        memcpy(split->bias, split->splitting.bias, split->q * sizeof *split->bias);
    }
}

/* What D gains linearly at Z, less its conjugates. */
static double gain_of(const struct ml_split *split, double *conjugate) {
    double gain = 0;
    *conjugate = 0;
    for (size_t i = 0; i < split->n; i++) {
        struct ml_block block = block_of(split, i);
        const double *beta = split->splitting.Z + i * split->q;
        for (uint32_t p = 0; p < block.n_relevant; p++) {
            gain += beta[block.relevant[p]];
        }
        *conjugate += split->conjugate[i];
    }
    return gain;
}

/* Takes Z's best multiple, of K Z, if it is the better dual point; unbalanced: what its sums over
 * rows cost, of a free bias. */
static void offer_dual(struct ml_split *split, double norm, double unbalanced) {
    const struct splitting *splitting = &split->splitting;
    double conjugate, gain = gain_of(split, &conjugate) - unbalanced;
    double scale = gain / (norm + 2 * conjugate);
    scale = scale < 1 ? fmax(scale, 0) : 1;
    double dual = scale * gain - scale * scale * (norm / 2 + conjugate);
    size_t size = split->n * split->q;
    if (!(dual > split->best_dual)) {
        return;
    }
    split->best_dual = dual;
    split->scale = scale;
    for (size_t j = 0; j < size; j++) {
        split->dual[j] =
            split->loss == ML_HINGE ? scale * splitting->Z[j] : -splitting->rho * splitting->W[j];
    }
}

/* What sums of Z over rows that are not 0 cost, moved to rows at a margin, whatever the bias at
 * hand is worth yet: the true bound is told by the certificate. */
static double price_of_sums(const struct ml_split *split) {
    const double *Z = split->splitting.Z, *bias = split->splitting.bias;
    double price = 0;
    for (size_t k = 0; k < split->q; k++) {
        double sum = 0;
        for (size_t i = 0; i < split->n; i++) {
            sum += Z[i * split->q + k];
        }
        price += fabs(sum) * (fabs(bias[k]) + 1);
    }
    return price;
}

static void look(struct ml_split *split) {
    struct splitting *splitting = &split->splitting;
    size_t n = split->n, q = split->q, size = n * q;
    const double *bias = splitting->bias;
    double *product = split->product;
    double norm = array_dot(splitting->U, splitting->S, size);
    offer_primal(split, splitting->U, norm, splitting->S);
    splitting_product(splitting, splitting->Z, product);
    norm = array_dot(splitting->Z, product, size);
    for (size_t i = 0; split->free_bias && i < n; i++) {
        array_add(product + i * q, 1, bias, q);
    }
    offer_dual(split, norm, split->free_bias ? price_of_sums(split) : 0);
    offer_primal(split, splitting->Z, norm, product);
}

/* ---- running ---- */

static void row_alpha(const void *context, size_t i, const struct ml_block *block, double *alpha) {
    const struct ml_split *split = context;
    const double *dual = split->dual + i * split->q;
    if (split->loss == ML_HINGE) {
        ml_block_spread(block, dual, alpha, split->scratch[0]);
        return;
    }
    ml_block_slopes(block, dual, alpha);
    for (size_t j = 0; j < (size_t)block->n_relevant * (block->q - block->n_relevant); j++) {
        alpha[j] *= split->scale;
    }
}

/* Whether the later half of the looks has gained next to nothing. */
static bool is_stalled(struct ml_split *split) {
    double gap = split->best_primal - split->best_dual;
    if (split->looks < 2 * split->mark + 1) {
        return false;
    }
    bool stalled = split->looks >= PATIENCE && !(gap < SLOW * split->earlier);
    split->mark = split->looks;
    split->earlier = gap;
    return stalled;
}

static bool is_reached(const struct ml_split *split, double epsilon, double least) {
    double gap = split->best_primal - split->best_dual;
    return split->looks > 0 && gap <= epsilon * fmax(split->best_primal, least);
}

void ml_split_run(struct ml_split *split, double epsilon, double least,
                  const struct monitor *monitor, struct ml_fit *fit) {
    enum stop_reason stop = STOP_REACHED;
    for (unsigned t = 1; !stop && !is_reached(split, epsilon, least); t++) {
        if (splitting_iterate(&split->splitting) < 0) {
            stop = STOP_ROUNDING;
            break;
        }
        if (t % LOOK == 0) {
            look(split);
            split->iterations++;
            split->looks++;
            stop = monitor_check(monitor, split->iterations, split->best_primal, split->best_dual);
            stop = !stop && is_stalled(split) ? STOP_STALLED : stop;
        } else if (monitor_late(monitor)) {
            stop = STOP_TIME;
        }
    }
    if (split->constant > 0) {
        memset(split->bias, 0, split->q * sizeof *split->bias);
        for (size_t i = 0; i < split->n; i++) {
            array_add(split->bias, split->constant, split->coefficients + i * split->q, split->q);
        }
    }
    *fit = (struct ml_fit){.alphas = {split->rows, split->loss, split->cost, split, row_alpha},
                           .coefficients = split->coefficients,
                           .bias = split->bias,
                           .primal = split->best_primal,
                           .dual = split->best_dual,
                           .iterations = split->iterations,
                           .stop = stop};
}
