/* The convex programs of the five families, with all pairs and terms listed: the duals for the
 * interior-point method, the primals by definition. The formulas are those of doc/mathematics. */
#ifndef TESTS_OPTIMA_TASK_H
#define TESTS_OPTIMA_TASK_H

#include "tests/optima/interior.h"
#include "tests/optima/trial.h"

enum { MAX_BOUNDS = 400, MAX_VARIABLES = 160 };

/* The primal is 1/2 sum_c b_c'K b_c [+ T |W|_*] + loss(s), s = K b + bias, over b (n, k); the dual
 *     max over a of  linear'a - 1/2 sum square a^2 - 1/2 b'K b - (family's own),  b = basis a,
 * 0 <= a <= most, with further bounds and equations. */
struct task {
    const struct trial *trial;
    size_t n, k;     /* rows of the kernel matrix (of pairs, with features of pairs), outputs */
    num *gram, *off; /* (n, n) with the constant feature; its error bounds */
    size_t m;        /* dual variables */
    real *basis;     /* (n k, m) */
    real linear[MAX_VARIABLES], square[MAX_VARIABLES], most[MAX_VARIABLES], start[MAX_VARIABLES];
    size_t n_bounds; /* besides those of single variables */
    struct bound bound[MAX_BOUNDS];
    size_t equal;
    real *e; /* (equal, m) */

    /* The loss with each score of row i moved by off[i] in the direction that raises it (off < 0:
     * lowers it). bias (k): added to the scores. */
    num (*loss)(const struct task *task, const num *s, const num *off, const num *bias);

    /* Makes a feasible for the constraints that are not equations. Returns the terms of the dual
     * besides linear and square. NULL: there are none. */
    num (*finish)(const struct task *task, num *a);

    /* Computes the bias (k) from the multipliers of the equations and the scores without bias.
     * NULL: no bias. */
    void (*find_bias)(const struct task *task, const num *y, const num *s, const num *off,
                      num *bias);
    void (*more)(const void *context, const num *a, num *gradient, num *hessian);

    /* of single families */
    size_t n_pairs; /* rank: better and worse row, C; ml: row, relevant and irrelevant label, C */
    struct pair {
        size_t row, better, worse;
        real cost;
    } pair[MAX_VARIABLES];
    size_t n_labels;
    size_t class[MAX_ROWS];                   /* mc: of a row */
    real cost[MAX_ROWS];                      /* mc, smm: of a row */
    unsigned label[MAX_LABELS];               /* the labels that occur */
    int above[MAX_LABELS];                    /* ml, free bias: the level of a label (find_bias) */
    size_t n_positive, n_top;                 /* top */
    size_t positive[MAX_ROWS], top[MAX_ROWS]; /* rows of I+ and J */
    real positive_cost[MAX_ROWS], multiple[MAX_ROWS], cap[MAX_ROWS]; /* C c_i; m_j; kappa_j */
    real budget, theta;                                              /* top: B */
    size_t level;             /* top: the variable that caps depend on */
    bool fixed;               /* top: all beta at their caps */
    bool matrix;              /* smm: the nuclear norm */
    real sign[MAX_ROWS], tau; /* smm */
};

/* The number of problems whose sum a trial's bounds concern: one, or for smm one per label. */
size_t task_count(const struct trial *trial);

/* The problem with the given number. NULL: there is nothing to fit. The caller frees. */
struct task *task_create(const struct trial *trial, size_t number);
void task_free(struct task *task);

/* Lists the labels that occur. Returns their number. */
size_t task_labels(struct task *task);

/* For the families: allocates the arrays and fills the kernel matrix. */
void task_allocate(struct task *task, size_t n, size_t k);
/* Adds a variable within 0 and most. Returns its number. */
size_t task_variable(struct task *task, real linear, real square, real most, real start);
/* basis[(row, output), variable] += value; rows of the basis are MAX_VARIABLES apart. */
void task_entry(struct task *task, size_t row, size_t output, size_t variable, real value);
/* Adds an equation. Returns its coefficients (m of MAX_VARIABLES), which the caller sets. */
real *task_equation(struct task *task);

/* Builds the problem of a family, from task's trial. False: there is nothing to fit. */
bool rank_task(struct task *task);
bool top_task(struct task *task);
bool mc_task(struct task *task);
bool ml_task(struct task *task);
/* number: the label that is +1 against the rest, of more than two labels. */
bool smm_task(struct task *task, size_t number);

/* mc: the dual variable of row i and class c; m if the loss has no such term. */
size_t mc_variable(const struct task *task, size_t i, size_t c);

/* smm with the nuclear norm. smm_norms: 1/2 |W|^2 + T |W|_* of W (features). smm_lowered: W = the
 * matrix of the dual point a with its singular values soft-thresholded by T. */
num smm_norms(const struct task *task, const num *w);
void smm_lowered(const struct task *task, const num *a, num *w);

static inline num hinge(const struct task *task, num u) {
    u = n_maximum(u, n_of(0));
    return trial_is(task->trial, LOSS, 1) ? n_multiply(u, u) : u;
}

/* 1 / (2 C) for the squared hinge, whose dual has no upper bound. */
static inline real square_of(const struct task *task, real cost) {
    return trial_is(task->trial, LOSS, 1) ? 1 / (2 * cost) : 0;
}

#endif
