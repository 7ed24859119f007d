/* Scaling of features: fitted to the training rows and applied to any rows.
 *
 * std         x' = (x - mean) / sd by column if the training rows are dense;
 *             x' = x / sd if they are sparse, so that zeros stay zeros
 * std-center  x' = (x - mean) / sd; the rows become dense
 * minmax      each column from its training range to [-1, 1]; the rows become dense. Values outside
 *             the range go beyond [-1, 1], as with LIBSVM's svm-scale
 * l2          x' = x / |x| by row; zero rows stay
 * quantile    x' = the quantile of x among the training values of its column, from 0 to 1
 *             (quantiles.h); sparse rows become dense if a training value is negative
 *
 * query-minmax, query-std
 *             x' = (x - min) / (max - min) or (x - mean) / sd, of the rows of the query
 *             (query_features.h); the rows become dense
 *
 * sd is that of the population (divided by n). A column that is constant in training keeps its unit
 * with std (sd counts as 1) and becomes 0 with minmax, quantile and by query. All is computed in
 * double and rounded to float once.
 *
 * Scaled rows may also get the means of their queries (query_features.h). */
#ifndef COMMON_DATA_SCALE_H
#define COMMON_DATA_SCALE_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "common/data/quantiles.h"
#include "common/distributed/cluster.h"

#include <stdbool.h>
#include <stdint.h>

enum scale_kind {
    SCALE_NONE,
    SCALE_STD,
    SCALE_STD_CENTER,
    SCALE_MINMAX,
    SCALE_L2,
    SCALE_QUANTILE,
    SCALE_QUERY_MINMAX,
    SCALE_QUERY_STD
};

/* The names of the kinds, in order, NULL at the end; and without those by query. */
extern const char *const scale_names[], *const scale_names_by_row[];

/* x'_c = (x_c - shift[c]) * factor[c], or the quantile. none and l2 have no arrays (n = 0,
 * NULL), nor has scaling by query (NULL).
 * The reader of models fills the struct itself: arrays from malloc or memory_array, all numbers
 * finite. */
struct scale {
    enum scale_kind kind;
    uint32_t n;                 /* columns of the training rows */
    double *shift;              /* (n); NULL: zeros */
    double *factor;             /* (n) */
    struct quantiles quantiles; /* quantile only, of n columns */
    uint32_t query_means; /* number of columns whose means over the query are appended; 0: none */
};

/* True if columns are scaled by functions that the model stores; true if such a function is (x -
 * shift) factor. */
static inline bool scale_by_column(const struct scale *scale) {
    return scale->factor || scale->quantiles.start;
}
static inline bool scale_kind_affine(enum scale_kind kind) {
    return kind == SCALE_STD || kind == SCALE_STD_CENTER || kind == SCALE_MINMAX;
}
static inline bool scale_kind_by_query(enum scale_kind kind) {
    return kind == SCALE_QUERY_MINMAX || kind == SCALE_QUERY_STD;
}
/* True if the features of a row depend on the other rows of its query. */
static inline bool scale_by_query(const struct scale *scale) {
    return scale_kind_by_query(scale->kind) || scale->query_means > 0;
}

/* Fits the scaling to `data`, which does not change, and with a cluster, whose processes have rows
 * of the same form, to the rows of all. The caller calls scale_free. Fails if memory runs out, if a
 * factor is not finite, and by query as query_features_check does. quantile does not support a
 * cluster. Collective. */
int scale_fit(struct scale *scale, enum scale_kind kind, const struct data *data,
              struct cluster *cluster, struct error *err);

/* Makes scale_apply append the means of queries, too. `data` are the rows that the scaling was
 * fitted to. Not for l2, where rows may have been scaled before. Fails as
 * query_features_check does. */
int scale_add_query_means(struct scale *scale, const struct data *data, struct error *err);

/* Scales data in place, training rows or others. For all kinds but none and l2:
 *
 * - sparse data become dense if in some column 0 does not stay 0;
 * - features that training did not have (index over n) become 0, since their scale is unknown (rows
 *   that are compact like the training rows have lost them already: data_select);
 * - dense rows with fewer than n features get the others as zeros, scaled.
 *
 * By query and with means of queries, data must have all rows of each query; means double the
 * columns. Fails if memory runs out, if a scaled value does not fit into float, and as
 * query_features_check does; data is then partly scaled. */
int scale_apply(const struct scale *scale, struct data *data, struct error *err);

/* Frees the arrays; the kind becomes none. */
void scale_free(struct scale *scale);

#endif
