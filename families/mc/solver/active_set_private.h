/* Shared by active_set.c and active_set_free.c; private to them. */
#ifndef FAMILIES_MC_SOLVER_ACTIVE_SET_PRIVATE_H
#define FAMILIES_MC_SOLVER_ACTIVE_SET_PRIVATE_H

#include "common/linear_algebra/cholesky_update.h"
#include "families/mc/solver/active_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A free variable: the alpha of one class of a row. If the loss is a maximum, the alpha of a row
 * and a slack variable sum to its cost (a simplex); then another entry of the row, the reference,
 * moves in the opposite direction. */
struct direction {
    uint32_t row;   /* of the free set */
    uint32_t entry; /* class; k: the slack variable */
    double value, gain;
    bool fixed;      /* at a bound, or one too many */
    bool eliminated; /* fixed, and eliminated from the factor */
};

/* The change of the coefficients with a variable: in at most two classes; if scores are centred,
 * the mean over all classes is subtracted as well. */
struct effect {
    size_t class[2];
    double value[2];
};

/* A row with free variables. */
struct free_row {
    uint32_t i, y;
    uint32_t reference;     /* entry; MC_NO_ENTRY: the alpha of the row are in a box */
    double reference_value; /* alpha of the reference, */
    bool empty;             /* which has become 0 */
    size_t first, end;      /* range of its directions */
};

static const uint32_t MC_NO_ENTRY = UINT32_MAX;

struct mc_active {
    const struct mc_task *task;

    /* the free set */
    size_t n_rows, n_directions, rows_room, directions_room;
    struct free_row *row;
    struct direction *direction;
    size_t n_moving; /* directions that are not fixed */

    /* (n_directions), in the order of the factor: the gradient of the dual; the Newton step; the
     * matrix times the step, by which the gradient falls along it; the ridge on the diagonal */
    double *gradient, *step, *decrease, *ridge;
    struct effect *effect;
    size_t work_room;
    void *work; /* these arrays */

    struct factor factor;
    bool outdated;   /* the factor is computed anew before the next step */
    double *K;       /* (n_rows, n_rows) at the rows of the free set */
    uint32_t *index; /* (n_rows) */
    size_t K_room;
    void *K_block;         /* both */
    double *alpha, *slack; /* (k), (k + 1) of a row */
};

/* ---- the free set (active_set_free.c) ---- */

/* Chooses the free set, of one class or (MC_NO_ENTRY) all. *inside: the number of variables
 * strictly between their bounds; above the maximum the free set is not complete. */
int mc_active_choose(struct mc_active *active, const struct mc_active_iteration *iteration,
                     size_t only, size_t *n_inside, struct error *err);

/* Allocates the arrays of the free set, and sets the gradient from the scores of the iteration. */
int mc_active_open(struct mc_active *active, const struct mc_active_iteration *iteration,
                   struct error *err);

/* Factors the matrix of the free set with the smallest ridge that makes it positive definite. *done
 * is false if none does: the kernel is not positive semidefinite, or its values overflow. */
int mc_active_factor(struct mc_active *active, bool *done, struct error *err);

/* Updates the effect of direction t after its row's reference has changed. */
void mc_active_set_effect(struct mc_active *active, size_t t);

/* out (n_directions), from `first` on, = row s of the matrix. */
void mc_active_matrix_row(const struct mc_active *active, size_t s, size_t first, double *out);

/* Writes the values of the free set to alpha. */
int mc_active_store(struct mc_active *active, struct mc_alpha *alpha, struct error *err);

/* Removes the fixed directions from the free set, and from gradient (n_directions) unless NULL. */
void mc_active_compact(struct mc_active *active, double *gradient);

#endif
