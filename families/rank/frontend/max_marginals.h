/* Max-marginals of the candidates of features. A feature is a signal of a chromatographic run with
 * mass spectrometry, here never a column of the data; it has the time at which it left the column
 * (it eluted), and its candidates are molecules of its mass. Which of them it is, is modelled as a
 * Markov random field: a node for each feature, whose states are its candidates r with scores
 * theta(r), and an edge for pairs of features i, j of which i elutes first, with the potential
 *   hinge:   -D max(0, f(r_i) - f(r_j))
 *   sigmoid:  D log(1 / (1 + exp(f(r_i) - f(r_j))))
 * for a weight D and order scores f, which are to be larger for molecules that elute later (Bach,
 * Szedmak, Brouard, Boecker & Rousu, "Liquid-chromatography retention order prediction for
 * metabolite identification", Bioinformatics 2018; Bach, Rogers, Williamson & Rousu, "Probabilistic
 * framework for integration of mass spectrum and retention time information in small molecule
 * identification", Bioinformatics 2020).
 *
 * The max-marginal of a candidate is the largest sum of all potentials over the assignments that
 * choose it. On a tree two passes of messages compute it (max-sum). A message from m to m'
 * candidates is max_r (a(r) + g(f(r) - f(r'))) with a concave g: with candidates in ascending order
 * of f the index of the maximiser does not decrease with r' (the matrix is totally monotone), and
 * divide and conquer over r' costs O((m + m') log m'). */
#ifndef FAMILIES_RANK_FRONTEND_MAX_MARGINALS_H
#define FAMILIES_RANK_FRONTEND_MAX_MARGINALS_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "families/rank/frontend/spanning_tree.h"

#include <stddef.h>
#include <stdint.h>

enum order_edges { ORDER_HINGE, ORDER_SIGMOID };

struct candidate_feature {
    size_t first, n; /* its candidates: n > 0, from number `first` on */
    double time;     /* minutes; NaN: unknown, and no edge */
    uint32_t run;    /* features of different runs have no edge */
};

struct candidates {
    struct candidate_feature *feature; /* (n_features) with all candidates between them */
    size_t n_features;
    const double *f; /* (n) order scores, finite */
    size_t n;        /* number of all candidates */
    size_t max_n;    /* the largest number of candidates of a feature */
};

/* What the edges are. */
struct order_model {
    enum order_edges edges;
    double weight;  /* D >= 0 */
    size_t n_trees; /* random spanning trees; 0: the chain by time */
    uint64_t seed;  /* of the trees */
};

/* The order of the candidates and of the features, computed once. */
struct max_marginals;

/* `candidates` is borrowed. -1 if memory runs out. The caller calls max_marginals_free. */
int max_marginals_create(struct max_marginals **marginals, const struct candidates *candidates,
                         struct error *err);
void max_marginals_free(struct max_marginals *marginals);

/* score (n) gets the max-marginals, averaged over the trees, less the largest one of the feature,
 * and rounded to multiples of 2^-30: candidates are often equal but for rounding, since hinges of a
 * chain cancel. theta (n) must be finite. The scores do not depend on the number of threads. -1 if
 * memory runs out, or if D f is beyond double precision. */
int max_marginals_compute(struct max_marginals *marginals, const struct order_model *model,
                          const double *theta, struct threads *threads, double *score,
                          struct error *err);

#endif
