/* Spanning trees of features: the pairs of features whose order of elution is compared. A feature
 * is a signal of a chromatographic run, with the time at which it left the column (it eluted), as
 * in max_marginals.h. Features of different runs, and features of one run with equal times, are not
 * compared, so what is stored is a forest: a tree for each run, or one for each feature of a run in
 * which all times are equal. */
#ifndef FAMILIES_RANK_FRONTEND_SPANNING_TREE_H
#define FAMILIES_RANK_FRONTEND_SPANNING_TREE_H

#include "common/base/error.h"
#include "common/base/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parent of a root. */
#define SPANNING_ROOT UINT32_MAX

struct spanning_tree {
    uint32_t *order;  /* (n) the features, each after its parent */
    uint32_t *parent; /* (n) by feature */
    uint32_t *next;   /* (n) scratch, by position in struct elution: the next step of a walk */
    bool *in_tree;    /* (n) scratch, by position */
    size_t n;
    void *block; /* all arrays */
};

/* The features in the order of run and time. */
struct elution {
    uint32_t *feature; /* (n) features in ascending order of run, time and number */
    /* (n) by position: the positions where its run, and the features of its run with its time,
     * begin and end */
    uint32_t *run_first, *run_end, *tie_first, *tie_end;
    size_t n;
    void *block; /* all arrays */
};

/* Sorts n < 2^32 - 1 features with a run and a finite time each. The caller calls
 * elution_free, also on failure. -1 if memory runs out. */
int elution_create(struct elution *elution, const uint32_t *run, const double *time, size_t n,
                   struct error *err);
void elution_free(struct elution *elution);

/* -1 if memory runs out. The caller calls spanning_tree_free, also on failure. */
int spanning_tree_create(struct spanning_tree *tree, size_t n, struct error *err);
void spanning_tree_free(struct spanning_tree *tree);

/* The chain by time. A feature is joined to the feature of the next smaller time in its run, the
 * one of lowest number if several have that time. Features of the smallest time, but the one of
 * lowest number, are joined to the feature of lowest number of the second smallest time. */
void spanning_tree_chain(struct spanning_tree *tree, const struct elution *elution);

/* A tree drawn uniformly from all spanning trees of the pairs that are compared (Wilson,
 * "Generating random spanning trees more quickly than the cover time", STOC 1996). */
void spanning_tree_draw(struct spanning_tree *tree, const struct elution *elution,
                        struct random *random);

#endif
