/* Kernels and primals of a trial, by their definitions, in numbers of 640 bits. */
#ifndef TESTS_OPTIMA_WIDE_EXACT_H
#define TESTS_OPTIMA_WIDE_EXACT_H

#include "tests/optima/task.h"
#include "tests/optima/wide/number.h"

/* K (n, n) of the task's rows or pairs, with the constant feature. The caller frees. */
num *exact_gram(const struct task *task);

/* Scores of a function, |f|^2, and how far rounding may have moved them. */
struct scores {
    num *s;   /* (n, k), without what `bias` of the loss adds */
    num *off; /* (n), one bound for all of a row's scores */
    num norm, norm_off;
};

/* s = K b of coefficients b (n, k). The caller frees with scores_free. */
struct scores scores_of_coefficients(const struct task *task, const num *gram, const num *b);

/* The same of a model: coefficients of rows, where a bias that is a feature's part is taken as it
 * is written, in scores and norm, for rows whose kernel values are 0 are left out of a model; or
 * weights of features (n_features, k). */
struct scores scores_of_model(const struct task *task, const num *gram, const num *b,
                              const num *bias);
struct scores scores_of_weights(const struct task *task, const num *w, const num *bias);
void scores_free(struct scores *scores);

/* |f|^2 / 2, with the nuclear norm's part where the task has that, plus the loss: from above, or
 * with direction -1 from below. bias (k). */
num exact_primal(const struct task *task, const struct scores *scores, const num *bias,
                 int direction);

/* The loss alone, every score of row i moved by move[i] in the direction that raises it. */
num exact_loss(const struct task *task, const num *s, const num *move, const num *bias);

/* Singular values of W (r, c), r c numbers row-major, into value (the smaller of r and c); with the
 * vectors: left (m, r) and right (m, c), rows. NULL: unwanted. */
void exact_singular(const num *w, size_t r, size_t c, num *value, num *left, num *right);

#endif
