/* Operator splitting for kernels: what finishes fits whose free variables are more than the
 * active-set method can take.
 *
 * The dual in the coefficients U (n, k) is to minimise 1/2 <U, K U> + sum_i g_i(u_i), g_i(u) the
 * smallest -sum alpha of the alpha of row i that have these coefficients. The alternating direction
 * method of multipliers (Boyd et al. 2011, section 3; Z and W its other two sequences) goes
 *
 *   U = rho (K + rho I)^-1 (Z - W),   V = r U + (1 - r) Z,
 *   z_i = argmin g_i(z) + rho/2 |z - (v_i + w_i)|^2,   W = V + W - Z,
 *
 * the first with one Cholesky factor for all classes, the third with the exact step of a row, for
 * every formulation. The number of iterations depends on the condition of K a little, and on n and
 * k hardly. Z has a dual point; U, whose scores K U = rho (Z - W - U) are there for nothing, is
 * near the optimum of the primal long before Z's own function is (kernel_split_bounds.c). */
#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/kernel/gram.h"
#include "solvers/mc/certify.h"
#include "solvers/mc/kernel_split_private.h"
#include "solvers/methods/cholesky.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOK = 10,    /* iterations from one look at the bounds to the next */
    BALANCE = 20, /* ... and at rho */
    TRIAL = 60,   /* looks after which it is seen whether they will be more than */
    MOST_LOOKS = 1000,
    USUAL = 150,    /* iterations of a fit, for what it will cost */
    CLASSES = 16,   /* of the columns that one task solves for */
    MOST_ROUNDS = 6 /* of what looked reached and was not when certified */
};

static const double RELAX = 1.6; /* r */
/* rho at first, over the ratio of scores and coefficients (3,000 rows of letter, llw and ats at C =
 * 1000: 6 looks to 1e-3; 1 takes 7, .1 takes 8). */
static const double START = 0.3;
/* rho is changed where it is out by more than the first of these factors, or by more than the
 * second if the iterations with it have cost as much as its Cholesky factor did, n / 6 k of them.
 * It is right where U and Z are half as far apart as Z moves, both relative: 680 rows of 26 classes
 * at random, ww and cs at C = 1e6, and 1,000 rows of letter, llw, atm, ww, cs, take the fewest
 * iterations from .3 to 1. */
static const double UNBALANCED = 4, LATER_UNBALANCED = 1.3, APART = 0.5;
static const double CLOSER = 0.3; /* of the gap that was asked for, where it was not enough */
/* Multiplications of BLAS in the time of one of a sweep. */
static const double SPEED = 5;
/* The part of the kernel matrix's memory that its factor may take. */
static const double MEMORY = 0.5;

double mc_kernel_split_work(const struct mc_kernel *kernel) {
    double n = (double)kernel->n, k = (double)kernel->k;
    double bytes = (double)kernel->task->problem->cache_bytes;
    bool possible = kernel->definite && n * n * sizeof(double) <= MEMORY * bytes;
    return possible ? n * n * (n / 6 + USUAL * k) / SPEED : INFINITY;
}

static void split_free(struct split *split) {
    free(split->K);
    free(split->U);
    mc_alpha_free(&split->alpha);
    mc_alpha_free(&split->swept);
    free(split->change);
}

/* ---- the matrix ---- */

static int fill_kernel(struct split *split, struct error *err) {
    const struct problem *problem = split->kernel->task->problem;
    size_t n = split->n;
    double square = split->kernel->task->bias * split->kernel->task->bias;
    uint32_t *index = memory_array(n, sizeof *index, "rows", err);
    for (size_t i = 0; index && i < n; i++) {
        index[i] = problem->rows ? problem->rows[i] : (uint32_t)i;
    }
    int status = index ? gram_block(problem->gram, index, n, index, n, split->K, err) : -1;
    for (size_t j = 0; status == 0 && square > 0 && j < n * n; j++) {
        split->K[j] += square;
    }
    free(index);
    return status;
}

/* Factors K + rho I, with a larger rho where rounding asks for one. */
static int factor(struct split *split) {
    size_t n = split->n;
    const double *q = split->kernel->q;
    for (int trial = 0; trial < 10; trial++, split->rho *= 10) {
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < i; j++) {
                split->K[i * n + j] = split->K[j * n + i];
            }
            split->K[i * n + i] = q[i] + split->rho;
        }
        if (cholesky_factor(split->K, n) == 0) {
            split->factored = 0;
            return 0;
        }
    }
    return -1;
}

/* out = (K + rho I)^-1 out, some columns of it. */
static void solve_columns(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct split *split = argument;
    size_t first = task * CLASSES, k = split->k, m = k - first < CLASSES ? k - first : CLASSES;
    const enum CBLAS_TRANSPOSE half[] = {CblasNoTrans, CblasTrans};
    for (int h = 0; h < 2; h++) {
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, half[h], CblasNonUnit, (int)split->n,
                    (int)m, 1, split->K, (int)split->n, split->out + first, (int)k);
    }
}

/* out = K in, some columns of it. */
static void multiply_columns(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct split *split = argument;
    size_t first = task * CLASSES, n = split->n, k = split->k;
    size_t m = k - first < CLASSES ? k - first : CLASSES;
    cblas_dsymm(CblasRowMajor, CblasLeft, CblasUpper, (int)n, (int)m, 1, split->K, (int)n,
                split->in + first, (int)k, 0, split->out + first, (int)k);
    for (size_t i = 0; i < n; i++) {
        double other = split->kernel->q[i] - split->K[i * n + i]; /* the factor's is there */
        for (size_t c = first; c < first + m; c++) {
            split->out[i * k + c] += other * split->in[i * k + c];
        }
    }
}

static void run_columns(struct split *split, threads_task task, double *in, double *out) {
    split->in = in;
    split->out = out;
    threads_run(split->kernel->task->problem->threads, (split->k + CLASSES - 1) / CLASSES, task,
                split);
}

void mc_split_multiply(struct split *split, double *in, double *out) {
    run_columns(split, multiply_columns, in, out);
}

/* ---- iterations ---- */

/* How far the sequences are from one another, squared, and how large. */
struct residuals {
    double apart, moved; /* U - Z; the change of Z */
    double u, z, w;      /* U, Z, W */
};

/* Z and W of row i. */
static int step_row(struct split *split, size_t i, struct residuals *residuals, struct error *err) {
    struct mc_kernel *kernel = split->kernel;
    size_t k = split->k, y = kernel->task->y[i];
    double *u = split->U + i * k, *z = split->Z + i * k, *w = split->W + i * k;
    double margin = kernel->task->shape.margin;
    if (!(kernel->q[i] > 0)) {
        return 0;
    }
    for (size_t c = 0; c < k; c++) { /* W becomes V + W */
        w[c] += RELAX * u[c] + (1 - RELAX) * z[c];
        kernel->s[c] = split->rho * (z[c] - w[c]);
    }
    mc_alpha_load(&kernel->alpha, i, kernel->row);
    if (mc_kernel_step(kernel, y, margin * margin * split->rho) != 0 &&
        mc_alpha_store(&kernel->alpha, i, kernel->row, err) < 0) {
        return -1;
    }
    mc_kernel_row_coefficients(kernel, i, kernel->row, kernel->u);
    for (size_t c = 0; c < k; c++) {
        double now = kernel->u[c], change = now - z[c], apart = u[c] - now;
        w[c] -= now;
        residuals->apart += apart * apart;
        residuals->moved += change * change;
        residuals->u += u[c] * u[c];
        residuals->z += now * now;
        residuals->w += w[c] * w[c];
        z[c] = now;
    }
    return 0;
}

static int iterate(struct split *split, struct residuals *residuals, struct error *err) {
    size_t size = split->n * split->k;
    *residuals = (struct residuals){0};
    split->factored++;
    for (size_t j = 0; j < size; j++) {
        split->S[j] = split->rho * (split->Z[j] - split->W[j]);
    }
    memcpy(split->U, split->S, size * sizeof *split->U);
    run_columns(split, solve_columns, NULL, split->U);
    for (size_t j = 0; j < size; j++) {
        split->S[j] -= split->rho * split->U[j];
    }
    for (size_t i = 0; i < split->n; i++) {
        if (step_row(split, i, residuals, err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Another rho, where Z moves too fast for what is between it and U, or too slowly. */
static int balance(struct split *split, const struct residuals *residuals) {
    double apart = sqrt(residuals->apart / fmax(residuals->u, residuals->z));
    double moved = sqrt(residuals->moved / residuals->w), factor_by = sqrt(apart / moved * APART);
    bool soon = split->factored * 6 * split->k < split->n;
    double most = soon ? UNBALANCED : LATER_UNBALANCED;
    if (!(factor_by > most || factor_by < 1 / most) || !isfinite(factor_by)) {
        return 0;
    }
    double before = split->rho;
    split->rho *= factor_by;
    int status = factor(split);
    for (size_t j = 0; j < split->n * split->k; j++) {
        split->W[j] *= before / split->rho;
    }
    return status;
}

/* ---- from the kernel's point to a fit ---- */

static int split_create(struct split *split, struct mc_kernel *kernel, struct error *err) {
    size_t n = kernel->n, k = kernel->k;
    *split = (struct split){
        .kernel = kernel, .n = n, .k = k, .primal = INFINITY, .dual = kernel->dual, .scale = 1};
    split->K = memory_array(n, n * sizeof *split->K, "a factor", err);
    split->U = memory_zeros(5 * n, k * sizeof *split->U, "coefficients", err);
    split->change = memory_array(MC_SPLIT_BLOCK, k * sizeof *split->change, "a block", err);
    if (!split->K || !split->U || !split->change || mc_alpha_create(&split->alpha, n, k, err) < 0 ||
        mc_alpha_create(&split->swept, n, k, err) < 0 ||
        mc_alpha_copy(&split->alpha, &kernel->alpha, err) < 0) {
        return -1;
    }
    split->Z = split->U + n * k;
    split->W = split->Z + n * k;
    split->S = split->W + n * k;
    split->best = split->S + n * k;
    return fill_kernel(split, err);
}

/* Z = the coefficients of the kernel's alpha. */
static void take_alpha(struct split *split) {
    struct mc_kernel *kernel = split->kernel;
    for (size_t i = 0; i < split->n; i++) {
        mc_alpha_load(&kernel->alpha, i, kernel->row);
        if (kernel->q[i] > 0) {
            mc_kernel_row_coefficients(kernel, i, kernel->row, split->Z + i * split->k);
        }
    }
}

/* Z is where the kernel is, W what its scores ask for, and rho their ratio. */
static int start(struct split *split) {
    struct mc_kernel *kernel = split->kernel;
    size_t size = split->n * split->k;
    take_alpha(split);
    double z = array_dot(split->Z, split->Z, size), s = array_dot(kernel->F, kernel->F, size);
    split->rho = z > 0 && s > 0 && isfinite(s) ? START * sqrt(s / z) : 1;
    return factor(split);
}

/* How the distance of the bounds has come down. */
struct course {
    double earlier; /* what it was at `mark`, half of the looks ago, about */
    size_t looks, mark;
};

/* Whether the looks will be too many at the rate of the later half. */
static bool is_slow(struct course *course, const struct split *split, double epsilon) {
    double distance = split->primal - split->dual;
    double left = log(distance / (epsilon * split->primal));
    double need = left / log(course->earlier / distance) * (double)(course->looks - course->mark);
    bool slow = course->looks >= TRIAL && !((double)course->looks + need <= MOST_LOOKS);
    if (course->looks >= 2 * course->mark + 1) {
        course->mark = course->looks;
        course->earlier = distance;
    }
    return slow;
}

/* Until the bounds are within epsilon of one another. */
static int run(struct split *split, double epsilon, const struct monitor *monitor,
               struct mc_fit *fit, struct error *err) {
    struct residuals residuals;
    struct course course = {.earlier = INFINITY};
    for (uint64_t t = 1; !fit->reason; t++) {
        if (monitor_late(monitor)) {
            fit->reason = monitor_check(monitor, fit->iterations, split->primal, split->dual);
            break;
        }
        if (iterate(split, &residuals, err) < 0) {
            return -1;
        }
        if (t % LOOK == 0) {
            if (mc_split_look(split, epsilon, err) < 0) {
                return -1;
            }
            fit->iterations++;
            course.looks++;
            if (gap_reached(split->primal, split->dual, epsilon)) {
                break;
            }
            fit->reason = monitor_check(monitor, fit->iterations, split->primal, split->dual);
            fit->reason =
                !fit->reason && is_slow(&course, split, epsilon) ? STOP_STALLED : fit->reason;
        }
        if (t % BALANCE == 0 && !fit->reason && balance(split, &residuals) < 0) {
            fit->reason = STOP_STALLED;
        }
    }
    return 0;
}

/* Alpha of the best dual point becomes the kernel's, for which the split gets that of Z; and
 * back. */
static void change_alpha(struct split *split) {
    struct mc_alpha alpha = split->kernel->alpha;
    split->kernel->alpha = split->alpha;
    split->alpha = alpha;
}

/* The kernel has the best dual point; its scores, in double. */
static void give_back(struct split *split) {
    struct mc_kernel *kernel = split->kernel;
    change_alpha(split);
    for (size_t i = 0; i < split->n; i++) {
        mc_alpha_scale(&kernel->alpha, i, split->scale);
    }
    split->scale = 1;
    mc_kernel_coefficients(kernel);
    mc_split_multiply(split, kernel->B, kernel->F);
    mc_kernel_rescaled(kernel, 0);
}

/* The matrix at hand serves for the certificate where it is what that would compute anew. */
static int certify(struct split *split, struct mc_fit *fit, struct error *err) {
    struct mc_kernel *kernel = split->kernel;
    const struct gram *gram = kernel->task->problem->gram;
    size_t size = split->n * split->k;
    bool found = split->primal < INFINITY;
    bool exact = kernel->task->bias == 0 && (gram_is_wide(gram) || gram_kept_bytes(gram) == 0);
    double *scores = split->U; /* (2, n, k), with Z */
    if (exact) {
        memcpy(scores + size, kernel->F, size * sizeof *scores);
        memcpy(scores, kernel->F, size * sizeof *scores);
    }
    if (exact && found) {
        mc_split_multiply(split, split->best, scores);
    }
    return mc_kernel_certify_point(kernel, found ? split->best : kernel->B, exact ? scores : NULL,
                                   fit, err);
}

/* To the gap that is asked for, or if the certificate does not find it, somewhat closer. */
static int solve(struct split *split, double wanted, const struct monitor *monitor,
                 struct mc_fit *fit, struct error *err) {
    double epsilon = wanted;
    for (int round = 1;; round++) {
        if (run(split, epsilon, monitor, fit, err) < 0) {
            return -1;
        }
        give_back(split);
        if (certify(split, fit, err) < 0) {
            return -1;
        }
        if (!fit->reason && fit->certificate.gap > wanted && mc_is_rounding(&fit->certificate)) {
            fit->reason = STOP_ROUNDING;
        }
        if (fit->reason || fit->certificate.gap <= wanted || round == MOST_ROUNDS) {
            return 0;
        }
        uint64_t iterations = fit->iterations;
        mc_fit_free(fit);
        fit->iterations = iterations;
        change_alpha(split);
        take_alpha(split);
        epsilon *= CLOSER;
    }
}

int mc_kernel_split(struct mc_kernel *kernel, const struct mc_goal *goal,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    struct split split;
    *fit = (struct mc_fit){0};
    int status = split_create(&split, kernel, err);
    if (status == 0 && start(&split) == 0) {
        status = solve(&split, goal->epsilon, monitor, fit, err);
    } else if (status == 0) {
        fit->reason = STOP_STALLED;
        give_back(&split);
        status = certify(&split, fit, err);
    }
    if (status < 0) {
        mc_fit_free(fit);
    }
    split_free(&split);
    return status;
}
