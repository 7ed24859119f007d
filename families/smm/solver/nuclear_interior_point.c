/* The cone of the nuclear norm and the Newton systems (nuclear_interior_point.h). */
#include "families/smm/solver/nuclear_interior_point.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/cholesky.h"
#include "common/linear_algebra/least_squares.h"
#include "common/linear_algebra/svd.h"
#include "families/smm/solver/binary_interior_point.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CELLS = 1536 };

/* an error of the solution that refinement does not correct in a few steps */
static const double INACCURATE = 0.1;

struct nuclear_interior {
    struct interior_rows rows;         /* the cells and the bias as columns */
    size_t height, width, cells, side; /* side = height + width */
    double tau;

    /* The cone. All are (side, side), but Z is (height, width). */
    double *S, *Z, *Y, *inverse; /* of Y */
    double *S_step, *Z_step, *Y_step, *second_order;
    double *one, *two; /* work */

    double *Q; /* (cells, cells) lower half; after factor_Q its Cholesky factor K, zeros above */
    double *residual;   /* (cells) */
    double *XK;         /* (n, cells + 1): sqrt(theta) times the rows of X diag(K, 1) */
    double *B;          /* (cells + 1, cells + 1) I + K'K + (XK)'theta XK */
    double *work;       /* (2 (cells + 1)) */
    double *U, *s, *Vt; /* of singular values */
    void *block;        /* all arrays except Q and the rows */
    /* factorisation by the stacked rows of which B is the sum of squares; or NULL */
    struct least_squares *stacked;
    bool is_stacked;

    struct error *err; /* of the callbacks, which return none; a failure ends the run */
    bool failed;
};

bool smm_nuclear_interior_possible(const struct smm_matrices *matrices) {
    double cells = (double)matrices->height * (double)matrices->width;
    return !matrices->cluster && cells <= MAX_CELLS &&
           (double)matrices->n * (cells + 1) <= SMM_INTERIOR_VALUES;
}

/* ---- small dense matrices ---- */

/* A (n, n) = (A + A') / 2. */
static void symmetrise(double *A, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            A[i * n + j] = A[j * n + i] = (A[i * n + j] + A[j * n + i]) / 2;
        }
    }
}

/* Sets both off-diagonal corners of A (side, side) to factor times C (height, width) and its
 * transpose. */
static void set_corner(const struct nuclear_interior *in, const double *C, double factor,
                       double *A) {
    size_t side = in->side, height = in->height, width = in->width;
    for (size_t a = 0; a < height; a++) {
        for (size_t b = 0; b < width; b++) {
            A[a * side + height + b] = A[(height + b) * side + a] = factor * C[a * width + b];
        }
    }
}

/* Y of Z, or its change if `diagonal` is 0. */
static void fill_Y(const struct nuclear_interior *in, const double *Z, double diagonal, double *Y) {
    size_t side = in->side;
    memset(Y, 0, side * side * sizeof *Y);
    for (size_t i = 0; i < side; i++) {
        Y[i * side + i] = diagonal / 2;
    }
    set_corner(in, Z, -0.5, Y);
}

/* out = sym(A B C); uses in->one. */
static void triple(const struct nuclear_interior *in, const double *A, const double *B,
                   const double *C, double *out) {
    matrix_product(A, B, in->side, in->side, in->side, in->one);
    matrix_product(in->one, C, in->side, in->side, in->side, out);
    symmetrise(out, in->side);
}

/* The maximal step from A, positive definite, along D that stays in the cone, by the smallest
 * eigenvalue of L^-1 D L^-T. */
static double max_step_length(struct nuclear_interior *in, const double *A, const double *D) {
    size_t side = in->side;
    double *L = in->one, *M = in->two, min_eigenvalue;
    memcpy(L, A, side * side * sizeof *L);
    if (cholesky_factor(L, side) < 0) {
        return 0;
    }
    memcpy(M, D, side * side * sizeof *M);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)side,
                (int)side, 1, L, (int)side, M, (int)side);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)side,
                (int)side, 1, L, (int)side, M, (int)side);
    if (least_eigenvalue(M, side, &min_eigenvalue, in->err) < 0) {
        in->failed = true;
        return 0;
    }
    return min_eigenvalue < 0 ? -1 / min_eigenvalue : min_eigenvalue >= 0 ? INFINITY : 0;
}

/* ---- the cone ---- */

static void cone_start(void *context, double mu) {
    struct nuclear_interior *in = context;
    memset(in->S, 0, in->side * in->side * sizeof *in->S);
    memset(in->Z, 0, in->cells * sizeof *in->Z);
    for (size_t i = 0; i < in->side; i++) {
        in->S[i * in->side + i] = 2 * mu / in->tau;
    }
    fill_Y(in, in->Z, in->tau, in->Y);
}

static double cone_products(void *context) {
    const struct nuclear_interior *in = context;
    return array_dot(in->S, in->Y, in->side * in->side);
}

static void cone_subtract_slope(void *context, double *g) {
    const struct nuclear_interior *in = context;
    array_add(g, -1, in->Z, in->cells);
}

/* The corner of target Y^-1 - S - second_order. */
static void set_residual(struct nuclear_interior *in, double target) {
    size_t side = in->side;
    for (size_t a = 0; a < in->height; a++) {
        for (size_t b = 0; b < in->width; b++) {
            size_t at = a * side + in->height + b;
            in->residual[a * in->width + b] =
                target * in->inverse[at] - in->S[at] - in->second_order[at];
        }
    }
}

static void cone_add_residual(void *context, double target, const double *step, double *x) {
    struct nuclear_interior *in = context;
    set_residual(in, target);
    array_add(in->residual, -1, step, in->cells);
    cholesky_solve(in->Q, in->cells, in->residual);
    array_add(x, 1, in->residual, in->cells);
}

/* S's corner is W, so its step is that of W; the linearised step agrees with it up to rounding
 * only. */
static void cone_set_step(void *context, double target, const double *step, const double *z_step) {
    struct nuclear_interior *in = context;
    size_t size = in->side * in->side;
    memcpy(in->Z_step, z_step, in->cells * sizeof *in->Z_step);
    fill_Y(in, in->Z_step, 0, in->Y_step);
    triple(in, in->S, in->Y_step, in->inverse, in->S_step);
    for (size_t k = 0; k < size; k++) {
        in->S_step[k] = target * in->inverse[k] - in->S[k] - in->second_order[k] - in->S_step[k];
    }
    set_corner(in, step, 1, in->S_step);
}

static double cone_longest_step(void *context) {
    struct nuclear_interior *in = context;
    return fmin(max_step_length(in, in->S, in->S_step), max_step_length(in, in->Y, in->Y_step));
}

static double cone_predict(void *context, double length) {
    struct nuclear_interior *in = context;
    double sum = 0;
    for (size_t k = 0; k < in->side * in->side; k++) {
        sum += (in->S[k] + length * in->S_step[k]) * (in->Y[k] + length * in->Y_step[k]);
    }
    triple(in, in->S_step, in->Y_step, in->inverse, in->second_order);
    return sum;
}

static void cone_reset_second_order(void *context) {
    struct nuclear_interior *in = context;
    memset(in->second_order, 0, in->side * in->side * sizeof *in->second_order);
}

static void cone_move(void *context, double length) {
    struct nuclear_interior *in = context;
    array_add(in->S, length, in->S_step, in->side * in->side);
    array_add(in->Z, length, in->Z_step, in->cells);
    fill_Y(in, in->Z, in->tau, in->Y);
}

/* Singular values of A in in->s. False if A is not finite or the SVD fails. */
static bool singular_values(struct nuclear_interior *in, const double *A) {
    for (size_t j = 0; j < in->cells; j++) {
        if (!isfinite(A[j])) {
            return false;
        }
    }
    bool found = svd_thin(A, in->height, in->width, in->U, in->s, in->Vt, in->err) == 0;
    in->failed = in->failed || !found;
    return found;
}

static double cone_value(void *context, const double *w) {
    struct nuclear_interior *in = context;
    double sum = 0;
    if (!singular_values(in, w)) {
        return INFINITY;
    }
    for (size_t k = 0; k < smaller(in->height, in->width); k++) {
        sum += in->s[k] * (in->s[k] / 2 + in->tau);
    }
    return sum;
}

static double cone_conjugate(void *context, const double *g) {
    struct nuclear_interior *in = context;
    double sum = 0;
    if (!singular_values(in, g)) {
        return INFINITY;
    }
    for (size_t k = 0; k < smaller(in->height, in->width); k++) {
        double over = fmax(in->s[k] - in->tau, 0);
        sum += over * over / 2;
    }
    return sum;
}

/* ---- the system ---- */

/* Y^-1 by Cholesky factorisation. */
static int invert_Y(struct nuclear_interior *in) {
    size_t side = in->side;
    memcpy(in->one, in->Y, side * side * sizeof *in->one);
    if (cholesky_factor(in->one, side) < 0) {
        return -1;
    }
    memset(in->inverse, 0, side * side * sizeof *in->inverse);
    for (size_t i = 0; i < side; i++) {
        in->inverse[i * side + i] = 1;
        cholesky_solve(in->one, side, in->inverse + i * side);
    }
    symmetrise(in->inverse, side);
    return 0;
}

/* Q[dZ] = 1/4 (P dZ R + W dZ' N + M dZ V + N dZ' W) with S = [P W; . V] and Y^-1 = [M N; . R].
 * Rejected: coordinates in which Z is diagonal. They would make small values of Q more accurate,
 * but mix features in different units, which loses more. */
static void form_Q(struct nuclear_interior *in) {
    size_t side = in->side, height = in->height, width = in->width, cells = in->cells;
    const double *S = in->S, *inverse = in->inverse;
    for (size_t a = 0; a < height; a++) {
        const double *W_a = S + a * side + height, *N_a = inverse + a * side + height;
        for (size_t b = 0; b < width; b++) {
            const double *V_b = S + (height + b) * side + height;
            const double *R_b = inverse + (height + b) * side + height;
            double *row = in->Q + (a * width + b) * cells;
            for (size_t c = 0; c <= a; c++) {
                double P = S[a * side + c], M = inverse[a * side + c];
                double W = S[c * side + height + b], N = inverse[c * side + height + b];
                for (size_t d = 0; d < width; d++) {
                    row[c * width + d] = (P * R_b[d] + W_a[d] * N + M * V_b[d] + N_a[d] * W) / 4;
                }
            }
        }
    }
}

/* Replaces Q by its Cholesky factor, with zeros above the diagonal. */
static int factor_Q(struct nuclear_interior *in) {
    size_t cells = in->cells;
    form_Q(in);
    if (cholesky_regularised(in->Q, cells, in->work) < 0) {
        return -1;
    }
    for (size_t k = 0; k < cells; k++) {
        memset(in->Q + k * cells + k + 1, 0, (cells - k - 1) * sizeof *in->Q);
    }
    return 0;
}

/* XK = sqrt(theta) X diag(K, 1). */
static void form_XK(struct nuclear_interior *in, const double *theta) {
    size_t m = in->cells + 1;
    memcpy(in->XK, in->rows.F, in->rows.n * m * sizeof *in->XK);
    cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (int)in->rows.n,
                (int)in->cells, 1, in->Q, (int)in->cells, in->XK, (int)m);
    for (size_t i = 0; i < in->rows.n; i++) {
        double root = sqrt(theta[i]);
        for (size_t k = 0; k < m; k++) {
            in->XK[i * m + k] *= root;
        }
    }
}

/* Factors the stacked rows of XK, K and I, of which B is the sum of squares. False if they cannot
 * be factored, or if memory runs out. */
static bool factor_stacked(struct nuclear_interior *in) {
    size_t cells = in->cells, m = cells + 1, rows = in->rows.n + cells;
    if (!in->stacked && least_squares_create(&in->stacked, rows, m, cells, false, in->err) < 0) {
        in->failed = true;
        return false;
    }
    for (size_t i = 0; i < in->rows.n; i++) {
        memcpy(least_squares_row(in->stacked, i), in->XK + i * m, m * sizeof *in->XK);
    }
    for (size_t k = 0; k < cells; k++) {
        memcpy(least_squares_row(in->stacked, in->rows.n + k), in->Q + k * cells,
               cells * sizeof *in->Q);
    }
    return least_squares_factor(in->stacked) == 0;
}

static void form_B(struct nuclear_interior *in) {
    size_t cells = in->cells, m = cells + 1;
    memset(in->B, 0, m * m * sizeof *in->B);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)cells, (int)cells, 1, in->Q, (int)cells,
                0, in->B, (int)m);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)m, (int)in->rows.n, 1, in->XK, (int)m,
                1, in->B, (int)m);
    for (size_t k = 0; k < cells; k++) {
        in->B[k * m + k] += 1;
    }
}

/* Whether B's factor recovers a vector from its product with B, computed by rows. */
static bool is_accurate(struct nuclear_interior *in) {
    size_t cells = in->cells, m = cells + 1;
    double *x = in->work, *product = x + m, *scores = in->rows.signed_alpha, error = 0;
    for (size_t k = 0; k < m; k++) {
        x[k] = 1 + (double)(k % 7) / 7;
    }
    memcpy(product, x, m * sizeof *x);
    cblas_dtrmv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)cells, in->Q,
                (int)cells, product, 1);
    cblas_dtrmv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)cells, in->Q, (int)cells,
                product, 1);
    array_add(product, 1, x, cells);
    product[cells] = 0;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)in->rows.n, (int)m, 1, in->XK, (int)m, x, 1, 0,
                scores, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)in->rows.n, (int)m, 1, in->XK, (int)m, scores, 1, 1,
                product, 1);
    cholesky_solve(in->B, m, product);
    for (size_t k = 0; k < m; k++) {
        error = fmax(error, fabs(product[k] - x[k]));
    }
    return error <= INACCURATE;
}

/* With Q = K K' the system is diag(K, 1)^-T B diag(K, 1)^-1, which avoids the inverse of Q, nearly
 * singular at the end. If theta of some rows is so large that forming B rounds the others and I
 * away, the factor is computed from the stacked rows instead. */
static int factor(void *context, const double *theta) {
    struct nuclear_interior *in = context;
    in->is_stacked = false;
    if (in->failed || invert_Y(in) < 0 || factor_Q(in) < 0) {
        return -1;
    }
    form_XK(in, theta);
    form_B(in);
    if (cholesky_factor(in->B, in->cells + 1) == 0 && is_accurate(in)) {
        return 0;
    }
    in->is_stacked = factor_stacked(in);
    if (in->is_stacked || in->failed) {
        return in->failed ? -1 : 0;
    }
    form_B(in);
    return cholesky_regularised(in->B, in->cells + 1, in->work);
}

static void solve(void *context, double *x) {
    const struct nuclear_interior *in = context;
    cblas_dtrmv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)in->cells, in->Q,
                (int)in->cells, x, 1);
    if (in->is_stacked) {
        least_squares_solve(in->stacked, x);
    } else {
        cholesky_solve(in->B, in->cells + 1, x);
    }
    cblas_dtrmv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)in->cells, in->Q,
                (int)in->cells, x, 1);
}

/* ---- solving ---- */

static int create(struct nuclear_interior *in, const struct smm_matrices *matrices,
                  struct error *err) {
    size_t n = matrices->n, cells = in->cells, m = cells + 1, side = in->side;
    size_t k = smaller(in->height, in->width);
    in->block = ARRAYS_CREATE("matrices", err, ARRAYS(n * m, double, &in->XK),
                              ARRAYS(side * side, double, &in->S, &in->Y, &in->inverse, &in->S_step,
                                     &in->Y_step, &in->second_order, &in->one, &in->two),
                              ARRAYS(cells, double, &in->Z, &in->Z_step, &in->residual),
                              ARRAYS(m * m, double, &in->B), ARRAYS(2 * m, double, &in->work),
                              ARRAYS(in->height * k, double, &in->U), ARRAYS(k, double, &in->s),
                              ARRAYS(k * in->width, double, &in->Vt));
    in->Q = memory_array(cells, cells * sizeof(double), "a system", err);
    if (!in->block || !in->Q || interior_rows_create(&in->rows, n, m, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        data_row_dense(matrices->data, i, cells, in->rows.F + i * m);
    }
    return 0;
}

static void release(struct nuclear_interior *in) {
    interior_rows_free(&in->rows);
    free(in->block);
    free(in->Q);
    least_squares_free(in->stacked);
}

int smm_nuclear_interior(const struct smm_matrices *matrices, const struct binary_loss *loss,
                         double tau, double epsilon, const struct monitor *monitor,
                         struct binary_fit *fit, struct error *err) {
    struct nuclear_interior in = {.height = matrices->height,
                                  .width = matrices->width,
                                  .cells = matrices->height * matrices->width,
                                  .side = matrices->height + matrices->width,
                                  .tau = tau,
                                  .err = err};
    const struct interior_term term = {.context = &in,
                                       .n_products = (double)in.side,
                                       .start = cone_start,
                                       .products = cone_products,
                                       .subtract_slope = cone_subtract_slope,
                                       .add_residual = cone_add_residual,
                                       .set_step = cone_set_step,
                                       .longest_step = cone_longest_step,
                                       .predict = cone_predict,
                                       .clear_second_order_terms = cone_reset_second_order,
                                       .move = cone_move,
                                       .value = cone_value,
                                       .conjugate = cone_conjugate};
    struct interior_problem problem = {.term = &term, .factor = factor, .solve = solve};
    int status = create(&in, matrices, err);
    if (status == 0) {
        status = interior_rows_solve(&in.rows, &problem, loss, epsilon, monitor, fit, err);
        status = in.failed ? -1 : status;
    }
    release(&in);
    return status;
}
