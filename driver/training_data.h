/* What a trainer reads: the training file, the rows to validate on or the folds, weights of rows;
 * and their scaling. */
#ifndef DRIVER_TRAINING_DATA_H
#define DRIVER_TRAINING_DATA_H

#include "common/base/threads.h"
#include "common/data/scale.h"
#include "driver/family.h"

#include <stdint.h>

struct training_data {
    struct cluster *spread; /* over whose ranks the rows are; NULL: all are here */
    struct data data;
    size_t n_rows;        /* of the training file; data may hold validation rows behind them */
    uint32_t n_features;  /* of the training file, for gamma's default: the largest index */
    bool compact;         /* the rows may be held compact */
    struct folds folds;   /* empty without cross-validation or validation rows */
    uint32_t fingerprint; /* of the training file's rows as read, if --proof asks for it */
    double seconds;       /* that reading took */
};

/* Reads the training file (the options' first operand), each rank of `spread` its part
 * (spread_read), and with `crossing`, not spread then, what --folds, --fold-file or --validate say.
 * The caller ends with training_data_free. */
int training_data_read(struct training_data *training, const struct family *family,
                       const struct options *options, bool cross_validating, struct cluster *spread,
                       struct threads *threads, struct error *err);

/* The same of rows that are there already, with `crossing` and folds that are, too (NULL: as the
 * options say). Both are borrowed until training_data_free, and left as they are. */
int training_data_take(struct training_data *training, const struct data *rows,
                       const struct folds *folds, const struct family *family,
                       const struct options *options, bool cross_validating,
                       struct threads *threads, struct error *err);

/* A CRC-32 of what cross-validation sees: the rows as read (those to validate on, too), their
 * weights and their folds. Before any scaling. */
uint32_t training_data_checksum(const struct training_data *training);

/* Scales the rows as --scale says, if that is row by row: once for all fits. */
int training_data_scale_rows(struct training_data *training, const struct options *options,
                             struct error *err);

/* Drops the validation rows, which have served. */
int training_data_end_validation(struct training_data *training, struct error *err);

/* Releases what was read, folds and validation rows included, and what is known of it. */
void training_data_free(struct training_data *training);

/* Fits the scaling that --scale and --query-features say to data. The caller calls scale_free. All
 * ranks. */
int training_data_fit_scale(struct scale *scale, const struct options *options,
                            const struct data *data, struct cluster *cluster, struct error *err);

/* True if the scaling of --scale or what --query-features adds looks at other rows: then it is
 * fitted anew for each fold. */
bool training_data_scale_depends_on_rows(const struct options *options);

/* How the ranks of a cluster share the fit of a model. Where rows are spread, that is seen when
 * they are read: rows that are few beside what ranks would tell one another go to where they are
 * fitted sooner. *share is for the fit at the point, to rows that all ranks have, or that are
 * spread (read->spread) and then stay so with FAMILY_APART only. cache_bytes: memory that a rank
 * has for all of them. Rows that are whole are never APART. All ranks, with the same cache_bytes.
 * */
int training_data_share(struct training_data *read, const struct family *family, struct point point,
                        size_t cache_bytes, struct cluster *cluster, enum family_share *share,
                        struct error *err);

#endif
