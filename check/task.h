/* A model with its training rows and its proof, read and found to belong together, and the
 * functions shared by the checks of the families. */
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

/* The unit of a check. If bounds are far below 1, as for C = 1e-300, the low parts of
 * double-doubles would underflow: so the primal, the dual, C, coefficients and dual variables are
 * in units of 4^half_unit, features are multiplied by 2^half_unit and weights divided by it. Scores
 * do not change. half_unit is 0 if the primal of the model is of ordinary size. */

/* The results of a check, in its unit. Each bound is a ball that contains its true value. */
struct findings {
    struct ball primal;      /* the primal of the function of the model */
    struct ball dual;        /* the dual of the dual point, >= 0 */
    struct ball zero_primal; /* the primal of f = 0, with the best bias if the bias is free */
    struct ball
        highest;     /* no repair of the dual point that is as near as this one has a larger dual */
    double moved;    /* sum of the changes of its numbers by repairs */
    double ratio;    /* squared hinge: the largest alpha / (2 C v) */
    char wrong[256]; /* the reason of a refutation; empty: none so far */
    char unknown[256]; /* why no verdict is possible; empty: one is */
};

struct task {
    const struct check_family *family;
    struct threads *threads;
    struct data data; /* scaled by the scaling of the model */
    struct model model;
    struct proof proof;
    struct points points;
    struct labels labels; /* of the model, in the order of its scores; empty for rank */
    double constant;      /* value of the constant feature; 0: none */
    int half_unit;        /* see above */
    bool squared;         /* the squared hinge, not the hinge */
    struct ball *weight;  /* (n) the weight of each row and of its label */
    struct ball *cost;    /* (n) the same times C */
    /* (data.names.n) number in `labels` of each label of the rows, or LABELS_UNKNOWN */
    uint32_t *class;
    struct function f, g; /* of the model and of the dual point, see task_functions */
    struct findings *findings;
};

/* A family of models: what its files contain, and its check, which fills the findings. */
struct check_family {
    const char *name;
    enum data_labels labels;
    bool many;                     /* the model has a label for each score */
    const char *const *model_keys; /* of the lines of the family, ended by NULL */
    const char *const *proof_keys; /* likewise, besides the common keys */
    int (*check)(struct task *task, struct error *err);
};

extern const struct check_family check_rank, check_top, check_mc, check_ml, check_smm;

/* Reads the three files. If they do not belong together, findings->wrong says so; then, and on
 * failure, only task_close may follow. */
int task_open(struct task *task, const char *const paths[3], struct threads *threads,
              struct findings *findings, struct error *err);
void task_close(struct task *task);

/* Stores the reason of a refutation, or why no verdict is possible; the first of each is kept. */
void task_wrong(struct task *task, const char *format, ...) __attribute__((format(printf, 2, 3)));
void task_unknown(struct task *task, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Splits the value of a key, `NAME NUMBER`: *length of the name, and the number, which may not be
 * negative. */
int task_split(const char *text, size_t *length, double *number, struct error *err);

/* The value of a key of the proof; NULL if it is not there. */
const char *task_text(const struct task *task, const char *key);

/* A cost, a coefficient or a dual variable, in the unit of the check. */
struct ball task_scaled(const struct task *task, double value);

/* True if a number of the dual point, or a sum of such numbers, is at most `bound` up to rounding:
 * violations so small are repaired, larger ones make the point infeasible. */
bool task_within(const struct task *task, struct ball number, struct ball bound);

/* *number = repaired, for a dual point that is infeasible only by rounding. Records the change. */
void task_repair(struct task *task, struct ball *number, struct ball repaired);

/* Reduces a number to its upper bound if it is above it only by rounding; returns false if it is
 * above by more. */
bool task_clip(struct task *task, struct ball bound, struct ball *number);

/* The contribution of a dual variable alpha to the linear part of the dual, for a loss with that
 * weight: alpha, less alpha^2 / (4 weight) for the squared hinge. */
struct ball task_linear(struct task *task, struct ball weight, struct ball alpha);

/* A number in the proof or the model; `missing` if it is not there. */
int task_proof_number(const struct task *task, const char *key, double missing, double *number,
                      struct error *err);
int task_model_number(const struct task *task, const char *key, double missing, double *number,
                      struct error *err);

/* For kernels that need not be positive semidefinite: fills definite->shift with twice the shift of
 * the diagonal that makes the kernel matrix of the points of `definite` positive semidefinite, as
 * far as rounding may explain it (fit/definiteness.h says why twice). The shift is 0 at first, and
 * stays so if there is none. */
int task_shift(struct task *task, struct definite *definite, struct error *err);

/* Sets primal = |f|^2/2 and dual = linear - |g|^2/2. */
void task_bounds(struct task *task, struct ball f_norm, struct ball linear, struct ball g_norm);

/* Sets only the dual. */
void task_set_dual(struct task *task, struct ball linear, struct ball g_norm);

/* The number in task->labels of the label of row i, for rows with one label. */
static inline uint32_t task_class(const struct task *task, size_t i) {
    return task->class[task->data.label[i]];
}

/* Creates task->f and task->g. constant: see function_create. */
int task_functions(struct task *task, double constant, struct error *err);

/* Sets both from task->f and task->g, whose coefficients are set, with the shifted matrix of
 * task_shift. Afterwards the scores of f are known, for the family to add its loss to the primal,
 * and those of g if `with_g`. */
int task_evaluate(struct task *task, struct ball linear, bool with_g, struct error *err);

/* Adds to the primal. */
void task_add_loss(struct task *task, struct ball loss);

#endif
