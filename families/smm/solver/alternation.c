/* Alternation and joint steps (alternation.h). */
#include "families/smm/solver/alternation.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/svd.h"
#include "families/smm/solver/newton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SWEEPS = 2, /* sweeps before each joint step */
    MAX_JOINT_STEPS = 1000,
    MAX_SWEEPS = 2000 /* as published, without joint steps */
};

static const double INNER = 0.02; /* gap of the SVMs, relative to epsilon */
/* relative gain below which a sweep is not repeated, relative to epsilon */
static const double SWEEP_GAIN = 0.1;
/* the same for joint steps: the least gain that a halved one is to foresee, and the gain with its
 * sweeps below which the method has stalled; and for the published method */
static const double STALLED = 1e-3;
/* share of the predicted gain that a step must reach (Armijo) */
static const double SUFFICIENT_DECREASE = 1e-3;

/* ---- points ---- */

int smm_point_create(struct smm_point *point, const struct smm_matrices *matrices, size_t rank,
                     struct error *err) {
    size_t total = rank * (matrices->height + matrices->width + 1);
    point->U = memory_zeros(total + matrices->n, sizeof *point->U, "a matrix's factors", err);
    if (!point->U) {
        return -1;
    }
    point->s = point->U + matrices->height * rank;
    point->Vt = point->s + rank;
    point->alpha = point->U + total;
    point->bias = 0;
    point->objective = INFINITY;
    return 0;
}

void smm_point_free(struct smm_point *point) {
    free(point->U);
    *point = (struct smm_point){0};
}

/* out (r, width) = diag(s) Vt. */
static void scaled_right(const struct smm_point *point, size_t rank, size_t width, double *out) {
    for (size_t k = 0; k < rank; k++) {
        for (size_t c = 0; c < width; c++) {
            out[k * width + c] = point->s[k] * point->Vt[k * width + c];
        }
    }
}

int smm_point_matrix(const struct smm_point *point, const struct smm_matrices *matrices,
                     size_t rank, double *W, struct error *err) {
    size_t width = matrices->width;
    double *right = memory_array(rank * width, sizeof *right, "a matrix", err);
    if (!right) {
        return -1;
    }
    scaled_right(point, rank, width, right);
    matrix_product(point->U, right, matrices->height, rank, width, W);
    free(right);
    return 0;
}

/* ---- SVMs on projected features ---- */

/* Solves on features Z (n, d), from the weights `start` and the point's dual variables, which
 * become those of the solution; or from zero if start is NULL. fit->w is the caller's (d). */
static int solve(const struct smm_lowrank *problem, const double *Z, size_t d, const double *start,
                 struct smm_point *point, struct binary_fit *fit, struct error *err) {
    const struct binary_rows rows = {.n = problem->matrices->n,
                                     .d = d,
                                     .z = Z,
                                     .threads = problem->matrices->threads,
                                     .cluster = problem->matrices->cluster};
    struct smm_newton *newton;
    *fit = (struct binary_fit){
        .w = fit->w, .alpha = point->alpha, .primal = INFINITY, .dual = -INFINITY};
    if (smm_newton_create(&newton, &rows, 0, 0, err) < 0) {
        return -1;
    }
    if (start) {
        smm_newton_start(newton, start, point->alpha, point->mu);
    }
    const struct monitor inner = monitor_deadline_only(problem->monitor);
    int status =
        smm_newton_solve(newton, problem->loss, 0, INNER * problem->epsilon, &inner, fit, err);
    point->mu = smm_newton_mu(newton);
    smm_newton_free(newton);
    return status;
}

/* Sets the point to the r leading singular triples of L (height, k) R (k, width). */
static int set_product(const struct smm_lowrank *problem, const double *L, const double *R,
                       size_t k, struct smm_point *point, struct error *err) {
    const struct smm_matrices *matrices = problem->matrices;
    return svd_product(L, R, matrices->height, k, matrices->width, problem->rank, point->U,
                       point->s, point->Vt, err);
}

/* Gives the point W = 0 the factors of steepest descent: the leading singular vectors of the
 * gradient, sum_i y_i alpha_i X_i. Those of W itself are arbitrary, and no factor might improve. */
static int set_zero(const struct smm_lowrank *problem, struct smm_point *point, struct error *err) {
    const struct smm_matrices *matrices = problem->matrices;
    const struct binary_rows rows = binary_rows_of(matrices);
    size_t n = matrices->n, height = matrices->height, width = matrices->width;
    size_t r = problem->rank, k = smaller(height, width);
    double *M =
        memory_array(height * width + n + k * (height + width + 1), sizeof *M, "a matrix", err);
    if (!M) {
        return -1;
    }
    double *signed_alpha = M + height * width, *U = signed_alpha + n, *s = U + height * k;
    double *Vt = s + k;
    for (size_t i = 0; i < n; i++) {
        signed_alpha[i] = problem->loss->y[i] * point->alpha[i];
    }
    int status = binary_adjoint(&rows, signed_alpha, M, err) < 0
                     ? -1
                     : svd_thin(M, height, width, U, s, Vt, err);
    for (size_t a = 0; status == 0 && a < height; a++) {
        memcpy(point->U + a * r, U + a * k, r * sizeof *U);
    }
    if (status == 0) {
        memcpy(point->Vt, Vt, r * width * sizeof *Vt);
        memset(point->s, 0, r * sizeof *s);
    }
    free(M);
    return status;
}

/* Computes the best U for the point's V if `right`, else the best V for its U, by an SVM on the
 * rows projected by the other factor. Replaces the point if that is better. */
static int improve_factor(const struct smm_lowrank *problem, bool right, struct smm_point *point,
                          struct error *err) {
    const struct smm_matrices *matrices = problem->matrices;
    size_t r = problem->rank, d = r * (right ? matrices->height : matrices->width);
    double *F = memory_array(matrices->n, d * sizeof *F, "projected rows", err);
    double *w = memory_array(d, 2 * sizeof *w, "weights", err);
    int status =
        F && w ? smm_project(matrices, right ? NULL : point->U, right ? point->Vt : NULL, r, F, err)
               : -1;
    if (status == 0) {
        struct binary_fit fit = {.w = w};
        double *start = w + d;
        if (right) {
            for (size_t a = 0; a < d; a++) {
                start[a] = point->U[a] * point->s[a % r];
            }
        } else {
            scaled_right(point, r, matrices->width, start);
        }
        status = solve(problem, F, d, isfinite(point->objective) ? start : NULL, point, &fit, err);
        if (status == 0 && fit.primal < point->objective) {
            point->objective = fit.primal;
            point->bias = fit.bias;
            status = array_dot(w, w, d) == 0 ? set_zero(problem, point, err)
                     : right                 ? set_product(problem, w, point->Vt, r, point, err)
                                             : set_product(problem, point->U, w, r, point, err);
        }
    }
    free(F);
    free(w);
    return status;
}

/* ---- the joint step ---- */

/* Data of the line search along a joint step: W + t (Z - W) = [U K] [(1-t) diag(s) Vt + t M; t
 * Vt]. */
struct joint {
    const struct smm_lowrank *problem;
    const struct smm_point *from;
    const double *M, *K;    /* (r, width), (height, r) */
    double *L, *R;          /* (height, 2r), (2r, width) */
    double *W, *s, *breaks; /* (height, width), (n), (2n) */
    struct smm_point trial;
};

/* The point at length t. If its objective is not below `target`, the best U for its V replaces it:
 * truncation to rank r violates margins slightly, which matters at a large C. */
static int try_length(struct joint *joint, double t, double target, struct error *err) {
    const struct smm_lowrank *problem = joint->problem;
    const struct smm_matrices *matrices = problem->matrices;
    const struct smm_point *from = joint->from;
    struct smm_point *trial = &joint->trial;
    size_t r = problem->rank, height = matrices->height, width = matrices->width;
    for (size_t a = 0; a < height; a++) {
        memcpy(joint->L + a * 2 * r, from->U + a * r, r * sizeof *joint->L);
        memcpy(joint->L + a * 2 * r + r, joint->K + a * r, r * sizeof *joint->L);
    }
    for (size_t k = 0; k < r; k++) {
        for (size_t c = 0; c < width; c++) {
            size_t at = k * width + c;
            joint->R[at] = (1 - t) * from->s[k] * from->Vt[at] + t * joint->M[at];
            joint->R[r * width + at] = t * from->Vt[at];
        }
    }
    if (set_product(problem, joint->L, joint->R, 2 * r, trial, err) < 0 ||
        smm_point_matrix(trial, matrices, r, joint->W, err) < 0) {
        return -1;
    }
    double sum;
    smm_scores(matrices, joint->W, joint->s);
    trial->bias = binary_bias(problem->loss, joint->s, matrices->n, joint->breaks, &sum);
    trial->objective = 0.5 * array_dot(trial->s, trial->s, r) + sum;
    return trial->objective < target ? 0 : improve_factor(problem, true, trial, err);
}

/* Takes the longest of the steps 1, 1/2, 1/4 ... with a sufficient decrease; none after the
 * deadline. */
static int search(struct joint *joint, double foreseen, struct smm_point *point, bool *moved,
                  struct error *err) {
    const struct smm_matrices *matrices = joint->problem->matrices;
    size_t total = joint->problem->rank * (matrices->height + matrices->width + 1);
    double min_gain = STALLED * joint->problem->epsilon * point->objective;
    *moved = false;
    for (double t = 1; t * foreseen > min_gain && !monitor_past_deadline(joint->problem->monitor);
         t *= 0.5) {
        double target = point->objective - SUFFICIENT_DECREASE * t * foreseen;
        if (try_length(joint, t, target, err) < 0) {
            return -1;
        }
        if (joint->trial.objective < target) {
            memcpy(point->U, joint->trial.U, total * sizeof *point->U);
            point->bias = joint->trial.bias;
            point->objective = joint->trial.objective;
            *moved = true;
            return 0;
        }
    }
    return 0;
}

int smm_lowrank_joint(const struct smm_lowrank *problem, struct smm_point *point,
                      double *stationarity, bool *moved, struct error *err) {
    const struct smm_matrices *matrices = problem->matrices;
    size_t r = problem->rank, height = matrices->height, width = matrices->width;
    size_t n = matrices->n, d = r * (height + width);
    double *T = memory_array(n, d * sizeof *T, "projected rows", err);
    double *work = memory_zeros(2 * d + 2 * r * (height + width) + height * width + 3 * n,
                                sizeof *work, "a joint step", err);
    struct joint joint = {.problem = problem, .from = point};
    int status = -1;
    if (T && work && smm_point_create(&joint.trial, matrices, r, err) == 0 &&
        smm_project(matrices, point->U, point->Vt, r, T, err) == 0) {
        double *w = work, *start = w + d;
        struct binary_fit fit = {.w = w};
        joint.M = w;
        joint.K = w + r * width;
        joint.L = start + d;
        joint.R = joint.L + 2 * r * height;
        joint.W = joint.R + 2 * r * width;
        joint.s = joint.W + height * width;
        joint.breaks = joint.s + n;
        scaled_right(point, r, width, start);
        status = solve(problem, T, d, start, point, &fit, err);
        memcpy(joint.trial.alpha, point->alpha, n * sizeof *point->alpha);
        joint.trial.mu = point->mu;
        if (status == 0) {
            *stationarity = fmax(0, (point->objective - fit.dual) / point->objective);
            status = search(&joint, fmax(0, point->objective - fit.primal), point, moved, err);
        }
    }
    smm_point_free(&joint.trial);
    free(T);
    free(work);
    return status;
}

/* ---- descent ---- */

/* Alternates at most `sweeps` times, while a sweep gains more than the share min_gain. */
static int alternate(const struct smm_lowrank *problem, struct smm_point *point, int sweeps,
                     double min_gain, struct smm_trace *trace, struct error *err) {
    for (int k = 0; k < sweeps; k++) {
        double before = point->objective;
        if (improve_factor(problem, true, point, err) < 0 ||
            improve_factor(problem, false, point, err) < 0) {
            return -1;
        }
        trace->iterations += 2;
        trace->limit =
            monitor_check(problem->monitor, trace->iterations, point->objective, problem->bound);
        if (trace->limit || before - point->objective <= min_gain * point->objective) {
            return 0;
        }
    }
    return 0;
}

int smm_lowrank_descend(const struct smm_lowrank *problem, struct smm_point *point,
                        struct smm_trace *trace, struct error *err) {
    *trace = (struct smm_trace){.stationarity = INFINITY};
    double min_gain = (problem->alternate ? STALLED : SWEEP_GAIN) * problem->epsilon;
    if (alternate(problem, point, problem->alternate ? MAX_SWEEPS : SWEEPS, min_gain, trace, err) <
        0) {
        return -1;
    }
    if (problem->alternate) { /* measures stationarity at the end */
        const struct smm_matrices *matrices = problem->matrices;
        struct smm_point end;
        bool moved;
        if (smm_point_create(&end, matrices, problem->rank, err) < 0) {
            return -1;
        }
        memcpy(end.U, point->U,
               problem->rank * (matrices->height + matrices->width + 1) * sizeof *end.U);
        memcpy(end.alpha, point->alpha, matrices->n * sizeof *end.alpha);
        end.mu = point->mu;
        end.objective = point->objective;
        int status = smm_lowrank_joint(problem, &end, &trace->stationarity, &moved, err);
        smm_point_free(&end);
        trace->stalled = !trace->limit;
        return status;
    }
    for (int round = 0; round < MAX_JOINT_STEPS && !trace->limit; round++) {
        double before = point->objective;
        bool moved;
        if (smm_lowrank_joint(problem, point, &trace->stationarity, &moved, err) < 0) {
            return -1;
        }
        trace->iterations++;
        if (alternate(problem, point, SWEEPS, min_gain, trace, err) < 0) {
            return -1;
        }
        double gain = (before - point->objective) / point->objective;
        trace->stalled = gain <= STALLED * problem->epsilon ||
                         (gain <= min_gain && trace->stationarity <= problem->epsilon);
        if (trace->stalled) {
            break;
        }
    }
    return 0;
}
