/* The binary SVM with a free bias, also inside other methods (doc/mathematics, "smm"): its rows,
 * losses and solutions, and operations on them. newton.h solves it.
 *
 *   min over w, b of  1/2 |w|^2 + sum_i C_i l(1 - y_i (w'z_i + b)),   l = max(0,u) or max(0,u)^2
 *   max over alpha of sum_i alpha_i - 1/2 |sum_i alpha_i y_i z_i|^2 [- sum alpha_i^2/(4 C_i)],
 *                     y'alpha = 0, 0 <= alpha_i [<= C_i] */
#ifndef FAMILIES_SMM_SOLVER_BINARY_H
#define FAMILIES_SMM_SOLVER_BINARY_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/distributed/cluster.h"
#include "families/smm/solver/matrix_rows.h"
#include "fit/monitor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rows z_i, borrowed. If they are distributed, n, z, data and all arrays of length n are those
 * of this process; weights are the same on all processes, which make all calls together. */
struct binary_rows {
    size_t n, d;
    const double *z;         /* (n, d) row-major; NULL: the rows of data */
    const struct data *data; /* n_features <= d */
    struct threads *threads; /* NULL: serial; results do not depend on it */
    struct cluster *cluster; /* NULL: all rows are here */
};

/* The loss. Arrays have length n and are borrowed. Both signs must occur, on some process, and
 * costs are > 0. */
struct binary_loss {
    const double *y;    /* +1 or -1 */
    const double *cost; /* C_i */
    bool squared;
    struct cluster *cluster; /* over whose processes the rows are distributed */
};

/* A solution. w and alpha are the caller's arrays. */
struct binary_fit {
    double *w;     /* (d) */
    double *alpha; /* (n) of the dual bound */
    double bias;   /* the exact minimiser for this w; the midpoint of an interval of minimisers */
    double primal, dual;
    uint64_t iterations;     /* Newton steps */
    bool converged;          /* (primal - dual) <= epsilon primal */
    enum stop_reason reason; /* when not converged */
};

/* The matrices as rows of their cells. */
struct binary_rows binary_rows_of(const struct smm_matrices *matrices);

/* out (d) = z_i. */
void binary_row(const struct binary_rows *rows, size_t i, double *out);

/* s (n) = Z w, and the same for the rows at[0..n_at) only. */
void binary_scores(const struct binary_rows *rows, const double *w, double *s);
void binary_scores_at(const struct binary_rows *rows, const uint32_t *at, size_t n_at,
                      const double *w, double *s);

/* w (d) = Z' r. */
int binary_adjoint(const struct binary_rows *rows, const double *r, double *w, struct error *err);

/* w (d) = Z' diag(r) Z v, products (n) = diag(r) Z v for the rows with r other than 0. */
int binary_normal(const struct binary_rows *rows, const double *r, const double *v,
                  double *products, double *w, struct error *err);

/* The exact minimiser b of sum_i C_i l(1 - y_i (s_i + b)), and that sum. breaks (2n) is work. */
double binary_bias(const struct binary_loss *loss, const double *s, size_t n, double *breaks,
                   double *sum);

#endif
