/* The input of a trainer: the training file, validation rows or folds, row weights, and the scaling
 * of the rows. */
#ifndef DRIVER_TRAINING_DATA_H
#define DRIVER_TRAINING_DATA_H

#include "common/base/threads.h"
#include "common/data/scale.h"
#include "driver/family.h"

#include <stdint.h>

struct training_data {
    /* the processes over which the rows are distributed; NULL: all rows are here */
    struct cluster *distributed;
    struct data data;
    size_t n_rows;   /* of the training file; data may hold validation rows after them */
    size_t n_labels; /* names of its labels; data may hold those of validation rows after them */
    uint32_t n_features;  /* of the training file, for the default of gamma: the largest index */
    bool compact;         /* the rows may be stored compact */
    struct folds folds;   /* empty without cross-validation or validation rows */
    uint32_t fingerprint; /* of the training file's rows as read, if --proof is given */
    double seconds;       /* that reading took */
};

/* Reads the training file (the first operand), each process of `distributed` its own part
 * (distribute_read). If cross_validating (then distributed is NULL), also what --folds, --fold-file
 * or --validate name. The caller ends with training_data_free. */
int training_data_read(struct training_data *training, const struct family *family,
                       const struct options *options, bool cross_validating,
                       struct cluster *distributed, struct threads *threads, struct error *err);

/* The same for rows of the application, with its folds (NULL: as the options say). Both are
 * borrowed until training_data_free, and not modified. */
int training_data_take(struct training_data *training, const struct data *rows,
                       const struct folds *folds, const struct family *family,
                       const struct options *options, bool cross_validating,
                       struct threads *threads, struct error *err);

/* A CRC-32 of the input of cross-validation before any scaling: the rows as read, including
 * validation rows, their weights and their folds. */
uint32_t training_data_checksum(const struct training_data *training);

/* Scales the rows by --scale if that works row by row: once for all fits. */
int training_data_scale_rows(struct training_data *training, const struct options *options,
                             struct error *err);

/* Removes the validation rows, after cross-validation. */
int training_data_end_validation(struct training_data *training, struct error *err);

/* Releases everything, and makes it empty. */
void training_data_free(struct training_data *training);

/* Fits the scaling of --scale and --query-features to data. The caller calls scale_free. Called by
 * all processes. */
int training_data_fit_scale(struct scale *scale, const struct options *options,
                            const struct data *data, struct cluster *cluster, struct error *err);

/* Returns whether the scaling of a row depends on other rows, by --scale or --query-features: then
 * it is fitted again for each fold. */
bool training_data_scale_depends_on_rows(const struct options *options);

/* Decides how the processes of a cluster share the fit of the model at a point. Distributed rows
 * (read->distributed) stay distributed only with FAMILY_DISTRIBUTED_ROWS, otherwise they are
 * gathered: a small fit takes longer with communication. Rows that every process has are never
 * FAMILY_DISTRIBUTED_ROWS. cache_bytes: the memory of a process for all rows. Called by all
 * processes, with the same cache_bytes. */
int training_data_share(struct training_data *read, const struct family *family, struct point point,
                        size_t cache_bytes, struct cluster *cluster,
                        enum family_distribution *share, struct error *err);

#endif
