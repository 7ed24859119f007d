/* Models: what training leaves and predicting needs, in memory and as text (doc/formats).
 *
 * A model is a header of `key value` lines, the scaling of the features, and a body: weights
 * (linear), or support vectors with coefficients, or support vectors and coefficients of pairs of
 * them. This module knows the keys that all families have; the others are the family's, kept as
 * they are written. */
#ifndef COMMON_MODEL_MODEL_H
#define COMMON_MODEL_MODEL_H

#include "common/base/error.h"
#include "common/base/output.h"
#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/data/scale.h"
#include "common/kernel/kernel.h"
#include "common/kernel/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_entry {
    char *key, *value; /* owned */
};

struct model {
    /* what fit it is: the keys of every family */
    char *formulation;
    char *loss; /* NULL: the family has no choice */
    double cost;
    struct kernel kernel;
    uint64_t n_rows;     /* of the training file */
    uint32_t n_features; /* of the training file: its largest index */
    double primal, dual;
    double gap;     /* NAN: none */
    bool certified; /* whether the bounds are; false also in models that do not say it */
    uint64_t iterations;
    char *solver; /* names of the algorithms that ran, blanks between; NULL: none, or unknown */
    uint32_t checksum; /* of a model that was read: the CRC of its last line */
    double norm;       /* |f| of the fit; not written, so 0 in a model that was read */
    struct scale scale;
    size_t n_outputs; /* scores a row; 0 for a model of pairs */
    double *bias;     /* (n_outputs) added to the scores; NULL: nothing is */

    /* the family's own keys, in the order of the file */
    struct model_entry *entry;
    size_t n_entries;

    /* The columns of scale and weights; at NULL: all of 0 .. n_features-1. Support vectors have
     * them too where there is a scale by column. */
    struct indices columns;
    uint32_t n_columns;
    bool lent_columns; /* the list is somebody else's */

    /* the body: one of the two */
    double *weights;      /* linear, not pairs: (n_columns, n_outputs) row-major; or ... */
    bool lent;            /* the weights are somebody else's */
    struct data vectors;  /* the support vectors, scaled */
    double *coefficients; /* (vectors.n_rows, n_outputs) row-major; or ... */
    struct pair_coefficient *pairs; /* (n_pairs) pair features: u < v number support vectors */
    size_t n_pairs;
    struct kernel_rows vector_rows; /* vectors, prepared for scoring */
    double *pair_matrix;            /* (vectors.n_rows, vectors.n_rows), for scoring */
};

/* Releases what the model owns. */
void model_free(struct model *model);

/* Adds a line of the family's own (printf format). The key is a word of letters, digits and `-`;
 * the value has no newline. */
int model_add(struct model *model, struct error *err, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for a number, as the shortest decimal that reads back to the same bits. */
int model_add_number(struct model *model, struct error *err, const char *key, double number);

/* The value of one of the family's own keys, or NULL; and as a number, `missing` if not there. */
const char *model_value(const struct model *model, const char *key);
int model_number(const struct model *model, const char *key, double missing, double *number,
                 struct error *err);

/* Makes the body ready for model_scores. */
int model_prepare(struct model *model, struct error *err);

/* Writes the model to `output`, as gzip if its path ends in ".gz". Does not commit. *checksum
 * (NULL: unwanted) gets the CRC of its last line. */
int model_write(const struct model *model, const char *family, struct output *output,
                uint32_t *checksum, struct error *err);

/* Writes text that is a model already, likewise. */
int model_write_text(const char *text, size_t n, struct output *output, struct error *err);

/* Reads a model of `family` from path, plain or gzip ("-": standard input), and prepares it for
 * scoring. Strict: own_keys (ended by NULL) are the only keys that it may have besides the common
 * ones. The caller calls model_free. */
int model_read(struct model *model, const char *family, const char *const *own_keys,
               const char *path, struct error *err);

/* The same, but a model of LIBLINEAR's solver MCSVM_CS (-s 4) is read too: the classes are its
 * outputs, in its order, and go to the key `labels`. */
int model_read_classes(struct model *model, const char *family, const char *const *own_keys,
                       const char *path, struct error *err);

/* The same as model_read, or with `classes` as model_read_classes, from `size` bytes in memory,
 * which errors call `name`. */
int model_read_bytes(struct model *model, const char *family, const char *const *own_keys,
                     bool classes, const char *name, const void *bytes, size_t size,
                     struct error *err);

/* How many scores model_scores gives a row: n_outputs; for a model of pairs twice the number of
 * its support vectors: k_i = (k(x_i, support vectors)) and then S k_i, where the margin of the
 * pair (i,j) is 2 k_i'S k_j, see model_margin. */
size_t model_n_scores(const struct model *model);

/* Adds to *n the values of rows, as they were read, that are not 0, and to *unseen those of them
 * whose features no training row had: of indices above the largest of the training file, and where
 * the model lists the indices that the training rows had, of others. A precomputed kernel has no
 * features. */
void model_count_unseen(const struct model *model, const struct data *rows, uint64_t *n,
                        uint64_t *unseen);

/* Whether it lists them. */
bool model_lists_features(const struct model *model);

/* The largest index of the training file. */
uint32_t model_largest_index(const struct model *model);

/* Makes rows as they were read, training rows or others, ready for model_scores: gives them the
 * model's columns and its scaling. What has no column counts for nothing; where support vectors are
 * not scaled by column, all columns are theirs. */
int model_take_rows(const struct model *model, struct data *rows, struct error *err);

/* Gives a model, which has a list of columns if it has weights, the columns of a list that has
 * these too, which is copied; support vectors stay as they are. Returns 1, with the model as it
 * was, if a column of the weights is not in the list. */
int model_align(struct model *model, const struct indices *columns, struct error *err);

/* Gives a linear model without scaling all columns, if it has a list; n_features is believed. */
int model_expand(struct model *model, struct error *err);

/* The weights of an index, counted from 0, NULL: they are 0. *place begins at 0 and moves on:
 * indices ascend from call to call. */
const double *model_weights_of(const struct model *model, uint32_t index, size_t *place);

/* Whether model_scores calls BLAS: it does with a kernel. */
bool model_scores_by_blas(const struct model *model);

/* scores (rows, model_n_scores) row-major of rows that have the model's columns and scaling. */
int model_scores(const struct model *model, const struct data *rows, double *scores,
                 struct threads *threads, struct error *err);

/* The margin of two rows by a model of pairs, from their scores: positive if the first has the
 * larger target. Its sign changes exactly when the two change places. */
double model_margin(const double *scores_i, const double *scores_j, size_t n_scores);

/* Exports, for kernels and scaling that the other format can express: checks before training, and
 * of LIBLINEAR's, which lists all weights, of the largest index ... */
int model_export_check(const struct kernel *kernel, enum scale_kind scale, bool libsvm,
                       struct error *err);
int model_export_check_width(uint32_t n_features, struct error *err);

/* ... and writes the first output as LIBSVM's epsilon_svr or LIBLINEAR's L2R_L2LOSS_SVR, with which
 * svm-predict and liblinear-predict print our scores. A linear model of several outputs with
 * `labels`, all of them whole numbers that fit an int, becomes LIBLINEAR's MCSVM_CS, with which
 * liblinear-predict prints the label of the largest score. A scaling by column becomes part of the
 * weights and the bias: rows are then scored as they are. */
int model_write_libsvm(const struct model *model, struct output *output, struct error *err);
int model_write_liblinear(const struct model *model, struct output *output, struct error *err);

#endif
