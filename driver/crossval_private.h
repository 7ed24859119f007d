/* Cross-validation in its parts: what rounds, folds and pieces are. crossval.c says who does what,
 * crossval_fit.c what a fit is. */
#ifndef DRIVER_CROSSVAL_PRIVATE_H
#define DRIVER_CROSSVAL_PRIVATE_H

#include "common/kernel/gram.h"
#include "common/kernel/kernel.h"
#include "common/kernel/problem.h"
#include "driver/crossval.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Points first..end (indices) of a fold, solved one from the other. Who has it in hands (busy) may
 * change what is below. */
struct piece {
    size_t fold, first, end;
    bool busy;   /* guarded by the round's mutex, as are next and done */
    size_t next; /* the point to be solved next */
    bool done;
    void *state; /* the family's, open; NULL before the first point */
};

/* All folds at the points of one kernel. */
struct round {
    const struct crossval *crossval;
    size_t first_point;  /* index */
    struct fold *fold;   /* (folds) */
    struct piece *piece; /* those of points that are solved one from the other side by side */
    size_t n_pieces;
    size_t first_left; /* pieces before it are done */
    struct kernel kernel;
    struct gram *gram;     /* of all rows, for all folds; NULL: each fold has its own data */
    struct threads *inner; /* for the work within a fold */
    size_t n_workers;      /* fits at once */
    size_t cache_bytes;    /* for the matrix of one fold, or what that of all rows leaves of it */
    size_t most_open;      /* folds */

    pthread_mutex_t mutex; /* guards what follows, and progress */
    size_t n_open;         /* folds that have begun and are not released */
    struct tally *tally;
    size_t failed_point, failed_fold; /* of the first fit that failed; SIZE_MAX: none */
    struct error err;                 /* its own */
};

/* Fits of all rounds. */
struct tally {
    size_t n, n_done;
    double started; /* progress_clock() */
};

/* What the pieces of a fold have in common: made by the first, released by the last. */
struct fold {
    pthread_mutex_t mutex; /* guards the making, and that of held */
    bool tried;
    struct error err; /* of the making */
    bool open;        /* guarded by the round's mutex, as is n_left */
    size_t n_left;    /* pieces to be done */
    size_t n_pieces;  /* with those that nobody wants: what the memory is split by */
    size_t number;
    uint32_t *rows; /* all row numbers: n_held that are held out, then n_train */
    size_t n_held, n_train;
    struct data train, held; /* copies of those rows, where the data are its own; scaled */
    struct gram *gram;       /* of train, or NULL */
    struct problem problem;
};

/* Solves the next point of a piece, and hands over the scores if that is wanted. */
int crossval_fit_next(struct round *round, struct piece *piece, struct error *err);

/* Releases what the pieces of a fold have in common. */
void crossval_fold_free(struct fold *fold);

#endif
