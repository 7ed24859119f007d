/* Scaling of features, learnt from the training rows and applied to any.
 *
 *   std         x' = (x - mean) / sd by column when the training rows are dense;
 *               x' = x / sd when they are sparse, so that zeros stay zeros
 *   std-center  x' = (x - mean) / sd; the rows become dense
 *   minmax      each column from its training range to [-1, 1]; the rows become dense. Values
 *               outside that range go beyond [-1, 1], as with LIBSVM's svm-scale
 *   l2          x' = x / |x| by row; zero rows stay
 *   quantile    x' = the rank of x among the values of its column in training, from 0 to 1
 *               (ranks.h); sparse rows become dense if a training value is below 0: else 0 stays 0
 * sd is that of the population (divided by n). A column that is constant in training keeps its
 * unit with std (sd counts as 1) and becomes 0 with minmax and quantile. All is computed in double
 * and rounded to float once.
 *
 * Rows that are scaled may also get the means of their queries (query_means.h). */
#ifndef COMMON_DATA_SCALE_H
#define COMMON_DATA_SCALE_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "common/data/quantiles.h"
#include "common/distributed/cluster.h"

#include <stdbool.h>
#include <stdint.h>

enum scale_kind { SCALE_NONE, SCALE_STD, SCALE_STD_CENTER, SCALE_MINMAX, SCALE_L2, SCALE_QUANTILE };

/* The names of the kinds, in order, NULL at the end. */
extern const char *const scale_names[];

/* x'_c = (x_c - shift[c]) * factor[c], or with quantile that of ranks. none and l2 have no arrays
 * (n = 0, NULL). A reader of models fills the struct itself: arrays from malloc or memory_array,
 * all numbers finite. */
struct scale {
    enum scale_kind kind;
    uint32_t n;           /* columns of the training rows */
    double *shift;        /* (n); NULL: zeros */
    double *factor;       /* (n) */
    struct ranks ranks;   /* quantile alone, of n columns */
    uint32_t query_means; /* how many columns' means over the query stand behind them; 0: none do */
};

/* Whether it is a map of each column, which a model keeps, and whether that map is (x - shift)
 * factor. */
static inline bool scale_by_column(const struct scale *scale) {
    return scale->factor || scale->ranks.start;
}
static inline bool scale_kind_affine(enum scale_kind kind) {
    return kind == SCALE_STD || kind == SCALE_STD_CENTER || kind == SCALE_MINMAX;
}

/* Learns the scaling from `data`, which stays as it is, and over a cluster, whose ranks each have
 * rows that are held alike, from those of all. The caller calls scale_free. Fails for lack of
 * memory, and when a factor would not be finite. quantile is not for a cluster. All ranks. */
int scale_fit(struct scale *scale, enum scale_kind kind, const struct data *data,
              struct cluster *cluster, struct error *err);

/* Makes scale_apply give rows the means of their queries too, as `data`, from which it was fitted,
 * can have them. Not for l2, whose rows may have been scaled before. Fails as query_means_check
 * does. */
int scale_add_query_means(struct scale *scale, const struct data *data, struct error *err);

/* Scales data in place, training rows or others. With all but none and l2:
 * - sparse data become dense if there is a column where 0 does not stay 0;
 * - features that training did not have (index over n) become 0: nothing is known of their scale
 *   (rows that are compact as the training rows were have lost these already: data_select);
 * - dense rows with fewer than n features get the others as zeros, scaled.
 * With means of queries data are all rows of these, and get twice the columns.
 * Fails for lack of memory, when a scaled value does not fit into float, and as query_means_append;
 * data is then partly scaled. */
int scale_apply(const struct scale *scale, struct data *data, struct error *err);

/* Releases what the scale owns and makes it empty (none). */
void scale_free(struct scale *scale);

#endif
