/* Steps of all rows at once, for many more rows than the matrix of a working set holds. A row's
 * scores depend on all others, mostly through a few directions: a step that leaves most rows alone
 * changes these too far. So sweeps of exact steps minimise a model of the dual, in which Z Z' +
 * diag(rest) stands for the matrix (common/kernel/landmarks.h) in the change since the last exact
 * scores; a step costs `width` multiplications for each class. Then one product of the matrix gives
 * the scores of the change, and the dual along it is maximised exactly. The product also adds the
 * features with which the model is exact along this change: 20,000 rows, 5 classes and 1,000
 * landmarks then take 6 steps to a gap of 1%, without them more than 8.
 */
#include "common/base/array.h"
#include "common/base/memory.h"
#include "families/mc/solver/kernel_descent_private.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MIN_ROWS = 28000,     /* twice the rows of a working set */
    MIN_LANDMARKS = 256,  /* fewer are not worth a product of the matrix */
    LANDMARKS_SQUARE = 50 /* the square of their number over the rows: 1,000 for 20,000 rows */
};

/* The part of the memory that the features may take, and products along which they are extended. */
static const double MEMORY_PART = 0.75;
enum { MAX_EXTENSIONS = 12 };
/* The sweeps end when one gains at most this part of all gains, or after MAX_SWEEPS. */
static const double MIN_GAIN = 0.01;
enum {
    MAX_SWEEPS = 30,
    CLASSES = 64 /* whose scores are computed together */
};

/* A step of all rows. */
struct joint {
    struct mc_kernel_descent *descent;
    struct mc_alpha before; /* alpha at the start */
    float *W;               /* (k, width) change of Z' coefficients */
    double *change;         /* (n, k) of the coefficients */
    double *scores;         /* (n, k) K change */
    bool plain;             /* the model is Z Z' alone */
    struct mc_sampling sampling;
};

static size_t count_landmarks(const struct mc_kernel_descent *descent) {
    double n = (double)descent->n, bytes = (double)descent->task->problem->cache_bytes;
    double spare = (double)(MAX_EXTENSIONS * descent->k);
    double fits = MEMORY_PART * bytes / sizeof(float) / n - spare;
    return (size_t)fmax(0, fmin(sqrt(LANDMARKS_SQUARE * n), fits));
}

bool mc_kernel_joint_applies(const struct mc_kernel_descent *descent) {
    return descent->definite && descent->n >= MIN_ROWS &&
           !gram_is_cached(descent->task->problem->gram) &&
           count_landmarks(descent) >= MIN_LANDMARKS;
}

/* ---- the model ---- */

/* The step of row i in the model. Returns its gain. */
static double step(struct joint *joint, size_t i) {
    struct mc_kernel_descent *descent = joint->descent;
    const struct mc_task *task = descent->task;
    const struct landmarks *landmarks = &descent->landmarks;
    size_t k = descent->k, width = landmarks->width;
    const float *z = landmarks->Z + i * landmarks->stride;
    double all = descent->q[i], rest = (double)landmarks->rest[i], own = joint->plain ? 0 : rest;
    float along[CLASSES];
    mc_alpha_load(&descent->alpha, i, descent->row);
    mc_centred_coefficients(&task->shape, task->y[i], descent->row, descent->u);
    for (size_t c = 0; c < k; c += CLASSES) {
        size_t m = k - c < CLASSES ? k - c : CLASSES;
        cblas_sgemv(CblasRowMajor, CblasNoTrans, (int)m, (int)width, 1, joint->W + c * width,
                    (int)width, z, 1, 0, along, 1);
        for (size_t l = c; l < c + m; l++) {
            descent->s[l] = descent->F[i * k + l] + (double)along[l - c] +
                            own * (descent->u[l] - descent->B[i * k + l]);
        }
    }
    double square = joint->plain ? all - rest : all;
    return square > 0 ? mc_kernel_step(descent, task->y[i], descent->row_cap[i], square) : 0;
}

/* A sweep over all rows. *gain = its gains. */
static int sweep(struct joint *joint, double *gain, struct error *err) {
    struct mc_kernel_descent *descent = joint->descent;
    const struct landmarks *landmarks = &descent->landmarks;
    size_t n = mc_sampling_sweep(&joint->sampling), width = landmarks->width;
    *gain = 0;
    for (size_t t = 0; t < n; t++) {
        size_t i = joint->sampling.order[t];
        if (!(descent->q[i] > 0)) {
            continue;
        }
        double own = step(joint, i);
        mc_sampling_gain(&joint->sampling, i, own);
        if (!(own > 0)) {
            continue; /* no change, or rounding */
        }
        *gain += own;
        for (size_t c = 0; c < descent->k; c++) {
            if (descent->u[c] != 0) {
                cblas_saxpy((int)width, (float)descent->u[c], landmarks->Z + i * landmarks->stride,
                            1, joint->W + c * width, 1);
            }
        }
        if (mc_alpha_store(&descent->alpha, i, descent->row, err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int minimise(struct joint *joint, const struct monitor *monitor, struct error *err) {
    double total = 0, gain = INFINITY;
    for (int t = 0; t < MAX_SWEEPS && gain > MIN_GAIN * total && !monitor_past_deadline(monitor);
         t++) {
        if (sweep(joint, &gain, err) < 0) {
            return -1;
        }
        total += gain;
    }
    return 0;
}

/* Starts the average with the best function in the span of the landmarks: the sweeps are then over
 * the model Z Z' alone. W(alpha) after the first step is three times as far from the optimum. */
static int start_average(struct joint *joint, const struct monitor *monitor, struct error *err) {
    joint->plain = true;
    int status = minimise(joint, monitor, err);
    joint->plain = false;
    return status < 0 ? -1 : mc_kernel_start_average(joint->descent, joint->W, err);
}

/* ---- the exact step along the change ---- */

/* change = that of the coefficients, scores = K change. */
static int multiply(struct joint *joint, struct error *err) {
    struct mc_kernel_descent *descent = joint->descent;
    const struct problem *problem = descent->task->problem;
    size_t n = descent->n, k = descent->k;
    double square = descent->task->bias * descent->task->bias;
    memset(descent->s, 0, k * sizeof *descent->s); /* the sum of the changes */
    for (size_t i = 0; i < n; i++) {
        double *row = joint->change + i * k;
        mc_alpha_load(&descent->alpha, i, descent->row);
        mc_centred_coefficients(&descent->task->shape, descent->task->y[i], descent->row, row);
        array_add(row, -1, descent->B + i * k, k);
        array_add(descent->s, square, row, k);
    }
    if (gram_products(problem->gram, problem->rows, n, joint->change, k, joint->scores,
                      problem->threads, err) < 0) {
        return -1;
    }
    for (size_t i = 0; square > 0 && i < n; i++) {
        array_add(joint->scores + i * k, 1, descent->s, k);
    }
    return 0;
}

/* The multiple of the change, at most 1, that maximises the dual. */
static double find_multiple(const struct joint *joint) {
    const struct mc_kernel_descent *descent = joint->descent;
    size_t size = descent->n * descent->k;
    double slope = -array_dot(joint->change, descent->F, size);
    double curvature = array_dot(joint->change, joint->scores, size);
    for (size_t i = 0; i < descent->n; i++) {
        slope += mc_alpha_sum(&descent->alpha, i) - mc_alpha_sum(&joint->before, i);
    }
    return slope >= curvature ? 1 : fmax(0, slope / curvature);
}

/* alpha = before + multiple (alpha - before), with B and F. */
static int move(struct joint *joint, double multiple, struct error *err) {
    struct mc_kernel_descent *descent = joint->descent;
    size_t k = descent->k;
    for (size_t i = 0; multiple < 1 && i < descent->n; i++) {
        mc_alpha_load(&descent->alpha, i, descent->row);
        mc_alpha_load(&joint->before, i, descent->u);
        for (size_t c = 0; c < k; c++) {
            descent->row[c] = descent->u[c] + multiple * (descent->row[c] - descent->u[c]);
        }
        if (mc_alpha_store(&descent->alpha, i, descent->row, err) < 0) {
            return -1;
        }
    }
    array_add(descent->F, multiple, joint->scores, descent->n * k);
    mc_kernel_coefficients(descent);
    return 0;
}

int mc_kernel_joint_open(struct mc_kernel_descent *descent, struct error *err) {
    const struct mc_task *task = descent->task;
    const struct problem *problem = task->problem;
    const struct landmarks_goal goal = {.m = count_landmarks(descent),
                                        .spare = MAX_EXTENSIONS * descent->k,
                                        .constant = task->bias,
                                        .seed = task->seed};
    return descent->landmarks.Z
               ? 0
               : landmarks_create(&descent->landmarks, problem->gram, problem->rows, descent->n,
                                  descent->q, &goal, problem->threads, err);
}

int mc_kernel_joint_step(struct mc_kernel_descent *descent, const struct monitor *monitor,
                         struct error *err) {
    size_t n = descent->n, k = descent->k;
    struct joint joint = {.descent = descent};
    /* with entries in double the scores of the average would take a product for each class */
    bool starts = !descent->average && descent->task->bias == 0 && descent->squared_norm == 0 &&
                  !gram_is_double(descent->task->problem->gram);
    joint.W = memory_zeros(descent->landmarks.stride, k * sizeof *joint.W, "a step", err);
    joint.change = memory_array(n, k * sizeof *joint.change, "a step", err);
    joint.scores = memory_array(n, k * sizeof *joint.scores, "a step", err);
    int status =
        !joint.W || !joint.change || !joint.scores ||
                mc_alpha_create(&joint.before, n, k, err) < 0 ||
                mc_alpha_copy(&joint.before, &descent->alpha, err) < 0 ||
                mc_sampling_create(&joint.sampling, n, descent->task->seed, err) < 0 ||
                (starts && start_average(&joint, monitor, err) < 0) ||
                minimise(&joint, monitor, err) < 0 || multiply(&joint, err) < 0 ||
                move(&joint, find_multiple(&joint), err) < 0 ||
                landmarks_extend(&descent->landmarks, joint.change, joint.scores, k, err) < 0
            ? -1
            : 0;
    mc_alpha_free(&joint.before);
    mc_sampling_free(&joint.sampling);
    free(joint.W);
    free(joint.change);
    free(joint.scores);
    return status;
}
