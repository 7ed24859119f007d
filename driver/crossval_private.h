/* Cross-validation in its parts: what rounds, folds and pieces are. crossval.c says who does what,
 * crossval_fit.c what a fit is, crossval_tally.c how far all are, and what ranks tell each
 * other. */
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
    bool own;     /* this rank solves it; guarded by the round's mutex */
    bool busy;    /* guarded by the round's mutex, as are next and done */
    size_t next;  /* the point to be solved next */
    size_t dealt; /* fits of all pieces of all rounds, to the end of this */
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
    size_t first_left;          /* pieces before it are done, or another rank's */
    struct cluster_tasks tasks; /* the pieces; guarded by the mutex */
    struct kernel kernel;
    struct gram *gram;     /* of all rows, for all folds; NULL: each fold has its own data */
    struct threads *inner; /* for the work within a fold */
    size_t n_workers;      /* fits at once */
    size_t cache_bytes;    /* for the matrix of one fold, or what that of all rows leaves of it */
    size_t most_open;      /* folds */

    pthread_mutex_t mutex; /* guards what follows */
    size_t n_open;         /* folds that have begun and are not released */
    struct tally *tally;
    size_t failed_point, failed_fold; /* of the first fit that failed; SIZE_MAX: none */
    struct error err;                 /* its own */
};

/* Fits of all rounds. */
struct tally {
    const struct crossval *crossval;
    double started;        /* progress_clock() */
    size_t n;              /* of all ranks */
    size_t n_planned;      /* those of the rounds so far */
    size_t n_unconverged;  /* of earlier runs */
    pthread_mutex_t mutex; /* guards what follows, and progress */
    size_t n_done;         /* of all ranks on rank 0, else of this one */
    size_t n_dealt;        /* those that some rank has taken, as far as this one knows */
    size_t n_own_left;     /* fits that this one has taken and not ended */
};

/* Begins the tally of a run, and ends it, when rank 0 has heard of all fits. All ranks. */
void crossval_tally_open(struct tally *tally, const struct crossval *crossval);
void crossval_tally_close(struct tally *tally);

/* This rank takes `own` more fits, or finds that others have; `dealt` of all are taken now. */
void crossval_tally_take(struct tally *tally, size_t own, size_t dealt);

/* When a fit that begins now is to end, of those that n_workers of this rank make at once. */
double crossval_tally_deadline(struct tally *tally, size_t n_workers);

/* Has what `scored` makes of a fit told to rank 0. */
int crossval_tally_scores(struct tally *tally, const struct crossval_fit *fit, struct error *err);

/* Counts a fit of this rank, and has rank 0 say how far all are. `log`: its rows, if rank 0 is
 * another, or NULL. */
int crossval_tally_count(struct tally *tally, bool converged, const struct text *log,
                         struct error *err);

/* What the pieces of a fold have in common: made by the first, released by the last. */
struct fold {
    pthread_mutex_t mutex; /* guards the making, and that of held */
    bool tried;
    struct error err; /* of the making */
    bool open;        /* guarded by the round's mutex, as are the next two */
    size_t n_left;    /* pieces to be done, by any rank */
    size_t n_busy;    /* of them those that this rank has taken */
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

/* Releases what the pieces of a fold have in common; they can make it again. */
void crossval_fold_free(struct fold *fold);

#endif
