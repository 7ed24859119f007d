/* What the files of mc's active-set method share; nobody else includes this. */
#ifndef FAMILIES_MC_SOLVER_ACTIVE_SET_PRIVATE_H
#define FAMILIES_MC_SOLVER_ACTIVE_SET_PRIVATE_H

#include "common/linear_algebra/cholesky_update.h"
#include "families/mc/solver/active_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A free variable: the alpha of one class of a row. Where the alpha of a row and a slack sum to its
 * cost (a simplex), another entry of the row, its reference, moves the other way. */
struct direction {
    uint32_t row;   /* of the face */
    uint32_t entry; /* class; k: the slack */
    double value, gain;
    bool out;     /* at a bound: does not move any more, */
    bool dropped; /* and is not in the factor */
};

/* How the scores change with a variable: at most two classes, and where scores are centred the mean
 * over all classes that is taken off. */
struct effect {
    size_t class[2];
    double value[2];
};

/* A row with directions. */
struct face_row {
    uint32_t i, y;
    uint32_t reference;     /* entry; MC_NO_ENTRY: the alpha of the row are in a box */
    double reference_value; /* of a simplex, */
    bool empty;             /* which has become 0 */
    size_t first, end;      /* its directions */
};

static const uint32_t MC_NO_ENTRY = UINT32_MAX;

struct mc_active {
    const struct mc_task *task;

    /* the face */
    size_t n_rows, n_directions, rows_room, directions_room;
    struct face_row *row;
    struct direction *direction;
    size_t n_moving; /* directions that are not out */

    /* (n_directions), in the order of the factor: the gradient of the dual, the step, the pull by
     * which the gradient falls along it, what was added to the diagonal */
    double *gradient, *step, *pull, *ridge;
    struct effect *effect;
    size_t work_room;

    struct factor factor;
    double *K;       /* (n_rows, n_rows) at the rows of the face */
    uint32_t *index; /* (n_rows) */
    size_t K_room;
    double *alpha, *slack; /* (k), (k + 1) of a row */
};

/* ---- the face (active_face.c) ---- */

/* Lists the free variables, of one class or (MC_NO_ENTRY) all. *inside: how many are inside their
 * bounds; beyond MC_ACTIVE_MOST the list is not complete. */
int mc_active_choose(struct mc_active *active, const struct mc_round *round, size_t only,
                     size_t *inside, struct error *err);

/* Sets all that goes with the list but the factor: room for it, the gradient at the scores of the
 * round. */
int mc_active_open_face(struct mc_active *active, const struct mc_round *round, struct error *err);

/* Factors the matrix of the face; *done is false where no ridge makes it positive definite: the
 * kernel is not positive semidefinite, or its numbers are without measure. */
int mc_active_factor(struct mc_active *active, bool *done, struct error *err);

/* The effect of direction t, whose row has another reference now. */
void mc_active_set_effect(struct mc_active *active, size_t t);

/* out (n_directions) from `first` on = the row of the matrix of direction s. */
void mc_active_matrix_row(const struct mc_active *active, size_t s, size_t first, double *out);

/* Writes the values to alpha. */
int mc_active_store(struct mc_active *active, struct mc_alpha *alpha, struct error *err);

/* Leaves out the directions that do not move any more. */
void mc_active_compact(struct mc_active *active);

#endif
