/* A trial: a small training file and the options of a program, generated from a seed or read from a
 * file whose first line is the command. */
#ifndef TESTS_OPTIMA_TRIAL_H
#define TESTS_OPTIMA_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum family { RANK, TOP, MC, ML, SMM, FAMILIES };

enum { MAX_ROWS = 16, MAX_FEATURES = 16, MAX_LABELS = 6 };

enum kernel {
    LINEAR,
    POLYNOMIAL,
    RBF,
    SIGMOID,
    PRECOMPUTED,
    TANIMOTO,
    MINMAX,
    LAPLACIAN,
    RATIONAL
};

/* Options, all with numerical values; choices are numbered. */
enum option {
    FORMULATION,
    COST,
    LAMBDA,
    LOSS,
    KERNEL,
    DEGREE,
    GAMMA,
    COEF0,
    BIAS,
    FREE_BIAS,
    EPSILON,
    SOLVER,
    CACHE,
    THREADS,
    MAX_ITER,
    SEED,
    SHRINKING,
    TOP_K,
    TAU,
    THETA,
    MARGIN_SCALE,
    COST_PER,
    PAIR_FEATURES,
    STEP,
    GAP_LOW,
    GAP_HIGH,
    OPTIONS
};

struct trial {
    enum family family;
    bool given[OPTIONS];
    double option[OPTIONS];
    bool weighted[MAX_LABELS]; /* -w of the label, or query, with that number */
    double label_weight[MAX_LABELS];
    size_t matrix_rows; /* smm: rows of a matrix; n_features is a multiple */
    bool row_weights;   /* not rank: `weight` is written to a file */

    size_t n, n_features;
    double x[MAX_ROWS][MAX_FEATURES]; /* floats; precomputed: the matrix (n, n) */
    double target[MAX_ROWS];          /* rank */
    unsigned label[MAX_ROWS];         /* mc, smm: number of the label; top: 1 positive, 0 negative;
                                         ml: a bit for each label */
    unsigned query[MAX_ROWS];         /* rank */
    double weight[MAX_ROWS];          /* not rank */
};

extern const char *const family_name[FAMILIES];

/* The value of an option, given or default. */
double trial_option(const struct trial *trial, enum option option);
bool trial_is(const struct trial *trial, enum option option, double value);

/* The width of the file: features up to the last that is nonzero in some row. */
size_t trial_width(const struct trial *trial);

/* Writes the command, with the names of the training file and the file of row weights. */
void trial_command(const struct trial *trial, const char *rows, const char *weights, FILE *file);

/* Writes the training file: a comment with the command, then the rows. */
int trial_write(const struct trial *trial, const char *path);

/* Reads such a file. False, with a line on stderr, if it is not one. */
bool trial_read(struct trial *trial, const char *path);

/* Generates the trial of a seed. */
void trial_generate(struct trial *trial, uint64_t seed);

/* Removes a row or feature. */
void trial_drop_row(struct trial *trial, size_t i);
void trial_drop_feature(struct trial *trial, size_t j);

#endif
