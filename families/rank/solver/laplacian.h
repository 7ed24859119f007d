/* The Laplacian of the active pairs of RankSVM: the curvature of its squared and huberised losses,
 * applied by counts, never formed. */
#ifndef FAMILIES_RANK_SOLVER_LAPLACIAN_H
#define FAMILIES_RANK_SOLVER_LAPLACIAN_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "families/rank/solver/pairs.h"

#include <stddef.h>
#include <stdint.h>

/* The Laplacian L of the pairs whose margin lies in [delta_low, delta_high) at s:
 * v'Lv = sum over these pairs of weight (v_i - v_j)^2. Holds no pair. */
struct rank_laplacian {
    struct rank_pairs *pairs;
    struct rank_scored *order;   /* the groups in score order at s */
    uint32_t *first[2], *end[2]; /* per place in order: the run of partners that it is preferred
                                     to, and the one of partners preferred to it */
    double low, high;            /* the band of margins */
    double *degree;              /* (n) weights of the pairs that touch a row */
};

/* Room for the rows of the pairs, which are borrowed; no band is fixed yet. Fails when memory is
 * short. The caller calls rank_laplacian_free. */
int rank_laplacian_create(struct rank_laplacian *laplacian, struct rank_pairs *pairs,
                          struct error *err);
void rank_laplacian_free(struct rank_laplacian *laplacian);

/* Fixes the band. delta_low = -INFINITY: all active pairs. */
void rank_laplacian_set(struct rank_laplacian *laplacian, const double *s, double delta_low,
                        double delta_high);

/* out (n) = L v, v (n). */
void rank_laplacian_apply(const struct rank_laplacian *laplacian, const double *v, double *out);

/* H (d, d) = X' L X in double, X the first d features of the problem's rows of `data` (rows[i] is
 * the row of data that is problem row i; NULL: i). The result does not depend on the number of
 * threads. */
int rank_laplacian_gram(const struct rank_laplacian *laplacian, const struct data *data,
                        const uint32_t *rows, size_t d, double *H, struct error *err);

/* diagonal (d) = diag of X' D X less the groups' means: sum over rows of degree (x - mean)^2, mean
 * the degree-weighted mean of the group: what X' L X would have on its diagonal if each row were
 * paired with the group's mean. */
int rank_laplacian_diagonal(const struct rank_laplacian *laplacian, const struct data *data,
                            double *diagonal, struct error *err);

#endif
