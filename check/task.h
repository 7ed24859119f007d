/* A model with its training rows and its proof, read and found to belong together, and what
 * families tell of them. */
#ifndef CHECK_TASK_H
#define CHECK_TASK_H

#include "check/ball.h"
#include "check/definite.h"
#include "check/function.h"
#include "check/points.h"
#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/data/labels.h"
#include "common/model/model.h"
#include "common/model/proof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The unit of a check. Bounds far below 1, as a C of 1e-300 makes them, would leave no room for the
 * low bits of a double-double: the primal, the dual, C, coefficients and dual variables are in
 * units of 4^half_unit, features are multiplied by 2^half_unit and weights divided by it. Scores
 * stay what they are. half_unit is 0 where the model's primal is of ordinary size. */

/* What a check finds, in its unit. Of the bounds each is a ball that holds its true value. */
struct findings {
    struct ball primal;  /* of the model's function */
    struct ball dual;    /* of the dual point, at least 0 */
    struct ball nothing; /* the primal of f = 0, with the best bias if that is free */
    struct ball highest; /* no repair of the dual point as near to it as this one has a larger D */
    double moved;        /* how far repairs have moved its numbers, summed up */
    double ratio;        /* the largest alpha / (2 C v) of the squared hinge */
    char wrong[256];     /* what refutes; empty: nothing so far */
    char unknown[256];   /* why there is no telling; empty: there is */
};

struct task {
    const struct check_family *family;
    struct threads *threads;
    struct data data; /* scaled as the model's */
    struct model model;
    struct proof proof;
    struct points points;
    struct labels labels; /* the model's, in the order of its scores; none in rank */
    double constant;      /* value of the constant feature, 0: none */
    int half_unit;        /* as above */
    bool squared;         /* the loss */
    struct ball *weight;  /* (n) the weights of rows and of their labels, */
    struct ball *cost;    /* (n) and these times C */
    uint32_t *class; /* (n) numbers of `labels`, or LABELS_UNKNOWN; where rows have one label */
    struct findings *findings;
};

/* A family of models, as far as reading goes, and its check: it fills the findings. */
struct check_family {
    const char *name;
    enum data_labels labels;
    bool many;                     /* a label for each score is kept in the model */
    const char *const *model_keys; /* of the family's own lines, ended by NULL */
    const char *const *proof_keys; /* likewise, besides those that all have */
    int (*check)(struct task *task, struct error *err);
};

extern const struct check_family check_rank, check_top, check_mc, check_ml, check_smm;

/* Reads the three files. What does not fit together goes into findings->wrong; then, and on
 * failure, only task_close may follow. */
int task_open(struct task *task, const char *const paths[3], struct threads *threads,
              struct findings *findings, struct error *err);
void task_close(struct task *task);

/* Notes what refutes, or why there is no telling; the first of each stays. */
void task_wrong(struct task *task, const char *format, ...) __attribute__((format(printf, 2, 3)));
void task_unknown(struct task *task, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `NAME NUMBER` of a key's value: *length of the name, and the number, which is not negative. */
int task_split(const char *text, size_t *length, double *number, struct error *err);

/* The value of a key of the proof, NULL: it is not there. */
const char *task_text(const struct task *task, const char *key);

/* A cost, a coefficient or a dual variable, in the unit of the check. */
struct ball task_scaled(const struct task *task, double value);

/* Whether a number of the dual point, or a sum of such, is at most `most` but for rounding: so much
 * is repaired, more is not feasible. */
bool task_within(const struct task *task, struct ball number, struct ball most);

/* *number = repaired, of a dual point that rounding alone has left infeasible. Notes what it
 * moves. */
void task_repair(struct task *task, struct ball *number, struct ball repaired);

/* Takes a number to its upper bound if rounding alone has it above; false where it is above by
 * more. */
bool task_clip(struct task *task, struct ball most, struct ball *number);

/* The conjugate's part of the dual of a coefficient alpha of a loss with that weight: alpha, less
 * alpha^2 / (4 weight) for the square. */
struct ball task_linear(struct task *task, struct ball weight, struct ball alpha);

/* A number of the proof or the model; `missing` if it is not there. */
int task_proof_number(const struct task *task, const char *key, double missing, double *number,
                      struct error *err);
int task_model_number(const struct task *task, const char *key, double missing, double *number,
                      struct error *err);

/* How much is added to the diagonal of the kernel matrix of the points of `definite` for it to be
 * positive semidefinite, where a kernel need not be: as much as its rounding may hide. Fills in
 * definite->shift. */
int task_shift(struct task *task, struct definite *definite, struct error *err);

/* Sets primal = |f|^2/2 and dual = linear - |g|^2/2. */
void task_bounds(struct task *task, struct ball f_norm, struct ball linear, struct ball g_norm);

/* Sets the dual alone. */
void task_set_dual(struct task *task, struct ball linear, struct ball g_norm);

/* Makes f, the model's function, and g with k outputs and coefficients 0; the caller calls function_free
 * for both, also when it fails. constant: as function_of_model has it. */
int task_functions(const struct task *task, size_t k, double constant, struct function *f,
                   struct function *g, struct error *err);

/* Both from the model's function and that of the dual point, whose coefficients are filled in, of
 * the matrix with task_shift. Then f's scores are known, for the family to add its loss to the
 * primal, and g's if `with_g`. */
int task_evaluate(struct task *task, struct function *f, struct function *g, struct ball linear,
                  bool with_g, struct error *err);

/* Adds to the primal. */
void task_add_loss(struct task *task, struct ball loss);

#endif
