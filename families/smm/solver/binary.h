/* The binary SVM with a free bias, as other methods need it inside (doc/mathematics, "smm"):
 *
 *   min over w, b of  1/2 |w|^2 + sum_i C_i l(1 - y_i (w'z_i + b)),   l = max(0,u) or max(0,u)^2
 *   max over alpha of sum_i alpha_i - 1/2 |sum_i alpha_i y_i z_i|^2 [- sum alpha_i^2/(4 C_i)],
 *                     y'alpha = 0, 0 <= alpha_i [<= C_i]
 *
 * by Newton's method with the bias minimised out exactly. For the hinge the loss is huberised, u^2
 * / (2 mu) for 0 < u < mu and u - mu/2 above, and mu goes down: alpha_i = C_i clip(u_i/mu, 0, 1) is
 * feasible for the dual of the hinge at every step, so its own gap is known all the time. Only the
 * rows of the band 0 < u < mu enter the Hessian: rows far from the margin drop out by themselves.
 *
 * A step is by the d x d Hessian when there are fewer features than rows and few of both, else by
 * the system of the band's rows (newton_system.h). */
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

/* The rows z_i, borrowed. Where they are spread over ranks n, z and data are this one's, as all
 * that has n entries below; weights are the same on all, and all calls are for all ranks. */
struct binary_rows {
    size_t n, d;
    const double *z;         /* (n, d) row-major; NULL: the rows of data */
    const struct data *data; /* n_features <= d */
    struct threads *threads; /* NULL: serial; results do not depend on it */
    struct cluster *cluster; /* NULL: all rows are here */
};

/* The loss of a row; arrays are of length n, borrowed. Both signs must occur, on some rank, and
 * costs are > 0. */
struct binary_loss {
    const double *y;    /* +1 or -1 */
    const double *cost; /* C_i */
    bool squared;
    struct cluster *cluster; /* of the rows */
};

/* A solution. w and alpha are the caller's. */
struct binary_fit {
    double *w;     /* (d) */
    double *alpha; /* (n) of the dual bound; NULL: unwanted */
    double bias;   /* the exact minimum for this w, the middle of it where it is an interval */
    double primal, dual;
    uint64_t iterations;     /* Newton steps */
    bool converged;          /* (primal - dual) <= epsilon primal */
    enum stop_reason reason; /* when not converged */
};

/* A solver for these rows. Every solve starts from the last one's weights. */
struct binary;
int binary_create(struct binary **binary, const struct binary_rows *rows, struct error *err);
void binary_free(struct binary *binary);

/* Makes w (d) the start of the next solve. */
void binary_start(struct binary *binary, const double *w);

/* Makes the next solve start afresh. */
void binary_forget(struct binary *binary);

/* Solves to a relative gap of epsilon, or as far as rounding admits. Fails for lack of memory, and
 * when scores overflow. */
int binary_solve(struct binary *binary, const struct binary_loss *loss, double epsilon,
                 const struct monitor *monitor, struct binary_fit *fit, struct error *err);

/* ---- parts, for those who need them alone ---- */

/* The cells of matrices as rows. */
struct binary_rows binary_rows_of(const struct smm_matrices *matrices);

/* out (d) = z_i. */
void binary_row(const struct binary_rows *rows, size_t i, double *out);

/* s (n) = Z w; the same of the rows at[0..n_at) alone. */
void binary_scores(const struct binary_rows *rows, const double *w, double *s);
void binary_scores_at(const struct binary_rows *rows, const uint32_t *at, size_t n_at,
                      const double *w, double *s);

/* w (d) = Z' r. */
int binary_adjoint(const struct binary_rows *rows, const double *r, double *w, struct error *err);

/* The bias that minimises sum_i C_i l(1 - y_i (s_i + b)), exactly, and that sum. breaks (2n) is
 * work. */
double binary_bias(const struct binary_loss *loss, const double *s, size_t n, double *breaks,
                   double *sum);

#endif
