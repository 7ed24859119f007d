/* Models, in memory and as text (doc/formats). read.c and read_header.c parse the text, write.c
 * writes it.
 *
 * A model is a header of `key value` lines, the scaling of the features, and a body: weights
 * (linear), or support vectors with coefficients, or support vectors with coefficients of pairs of
 * them. This module knows the keys that all families share; the other keys belong to the family and
 * are stored as text. */
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
    /* the fit: the keys of every family */
    char *formulation;
    char *loss; /* NULL: the family has only one */
    double cost;
    struct kernel kernel;
    uint64_t n_rows;     /* of the training file */
    uint32_t n_features; /* of the training file: its largest index */
    double primal, dual;
    double gap;     /* NAN: none */
    bool certified; /* true if the bounds are certified; false also in models without that key */
    uint64_t iterations;
    /* names of the algorithms that ran, separated by blanks; NULL: none, or unknown */
    char *solver;
    uint32_t checksum; /* only of a model that was read: the CRC of its last line */
    double norm;       /* |f| of the fit; not written, so it is 0 in a model that was read */
    struct scale scale;
    size_t n_outputs; /* scores of a row; 0 for a model of pairs */
    double *bias;     /* (n_outputs) added to the scores; NULL: none */

    /* the keys of the family, in the order of the file */
    struct model_entry *entry;
    size_t n_entries;

    /* The columns of scale and weights; at NULL: all of 0 .. n_features-1. Support vectors have the
     * same columns if there is a scaling by column. */
    struct indices columns;
    uint32_t n_columns;
    bool borrowed_columns; /* the list is borrowed */

    /* the body: one of three */
    double *weights;      /* linear, not pairs: (n_columns, n_outputs) row-major; or ... */
    bool lent;            /* the weights are borrowed */
    struct data vectors;  /* the support vectors, scaled */
    double *coefficients; /* (vectors.n_rows, n_outputs) row-major; or ... */
    struct pair_coefficient *pairs; /* (n_pairs) pair features: u < v number support vectors */
    size_t n_pairs;
    struct kernel_rows vector_rows; /* vectors, prepared for scoring */
    double *pair_matrix;            /* (vectors.n_rows, vectors.n_rows), for scoring */
};

/* Frees the arrays that the model owns, and empties it. */
void model_free(struct model *model);

/* Adds a line of the family (printf format). The key is a word of letters, digits and `-`; the
 * value has no newline. */
int model_add(struct model *model, struct error *err, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for a number, as the shortest decimal that reads back to the same bits. */
int model_add_number(struct model *model, struct error *err, const char *key, double number);

/* The value of a key of the family, or NULL; and as a number, `missing` if it is not there. */
const char *model_value(const struct model *model, const char *key);
int model_number(const struct model *model, const char *key, double missing, double *number,
                 struct error *err);

/* Prepares the body for model_scores. */
int model_prepare(struct model *model, struct error *err);

/* Writes the model to `output`, as gzip if its path ends in ".gz". Does not commit. *checksum (may
 * be NULL) gets the CRC of the last line. The bytes do not depend on the threads. */
int model_write(const struct model *model, const char *family, struct output *output,
                struct threads *threads, uint32_t *checksum, struct error *err);

/* Writes the text of a model in the same way. */
int model_write_text(const char *text, size_t n, struct output *output, struct error *err);

/* Reads a model of `family` from path, plain or gzip ("-": standard input), and prepares it for
 * scoring. Strict: own_keys (ended by NULL) are the only keys accepted besides the common ones.
 * With `classes`, a model of LIBLINEAR's solver MCSVM_CS (-s 4) is accepted too: its classes become
 * the outputs, in its order, and the value of the key `labels`. The caller calls model_free. */
int model_read(struct model *model, const char *family, const char *const *own_keys, bool classes,
               const char *path, struct error *err);

/* The same for `size` bytes in memory, which errors call `name`; bytes NULL: the file `name`. */
int model_read_bytes(struct model *model, const char *family, const char *const *own_keys,
                     bool classes, const char *name, const void *bytes, size_t size,
                     struct error *err);

/* The number of scores of a row: n_outputs or, for a model of pairs, twice the number of its
 * support vectors: k_i = (k(x_i, support vectors)), then S k_i; the margin of the pair (i,j) is 2
 * k_i'S k_j, see model_margin. */
size_t model_n_scores(const struct model *model);

/* Counts the non-zero values of rows, as read, in *n, and those of features that no training row
 * had in *unseen: indices above the largest of the training file and, if the model lists the
 * indices of the training rows, other indices. A precomputed kernel has no features. */
void model_count_unseen(const struct model *model, const struct data *rows, uint64_t *n,
                        uint64_t *unseen);

/* True if the model lists the indices of the training rows. */
bool model_lists_features(const struct model *model);

/* The largest index of the training file. */
uint32_t model_largest_index(const struct model *model);

/* Prepares rows as read, training rows or others, for model_scores: selects the columns of the
 * model and applies its scaling. Values in other columns are dropped, and count in the norm of a
 * row (--scale l2); if support vectors are not scaled by column, all columns are kept. */
int model_take_rows(const struct model *model, struct data *rows, struct error *err);

/* Extends the columns of a model, which has a list of columns if it has weights, to those of a
 * larger list, which is copied; support vectors do not change. Returns 1, with the model unchanged,
 * if a column of the weights is not in the list. */
int model_align(struct model *model, const struct indices *columns, struct error *err);

/* Expands a linear model without scaling to all columns, if it has a list; n_features must be
 * trusted. */
int model_expand(struct model *model, struct error *err);

/* The weights of an index, counted from 0; NULL: they are 0. */
const double *model_weights_of(const struct model *model, uint32_t index);

/* True if model_scores calls BLAS: it does with a kernel. */
bool model_scores_by_blas(const struct model *model);

/* scores (rows, model_n_scores) row-major, for rows with the columns and scaling of the model. */
int model_scores(const struct model *model, const struct data *rows, double *scores,
                 struct threads *threads, struct error *err);

/* The margin of two rows by a model of pairs, from their scores: positive if the first row is
 * preferred. Exchanging the rows changes exactly its sign. */
double model_margin(const double *scores_i, const double *scores_j, size_t n_scores);

/* Exports, for kernels and scaling that the other format can express. These two are checks before
 * training: of kernel and scaling, and, since LIBLINEAR lists all weights, of the largest index. */
int model_export_check(const struct kernel *kernel, enum scale_kind scale, bool libsvm,
                       struct error *err);
int model_export_check_width(uint32_t n_features, struct error *err);

/* Writes the first output as a model of LIBSVM (epsilon_svr) or else LIBLINEAR (L2R_L2LOSS_SVR), so
 * that svm-predict or liblinear-predict prints our scores. A linear model of several outputs with
 * `labels`, all of them integers that fit an int, becomes MCSVM_CS of LIBLINEAR, so that
 * liblinear-predict prints the label of the largest score. A scaling by column is folded into
 * weights and bias: rows are then scored without scaling. */
int model_export(const struct model *model, bool libsvm, struct output *output, struct error *err);

#endif
