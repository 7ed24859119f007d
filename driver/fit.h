/* The policy of a fit, the same for a plain one and for those of cross-validation: which kernel and
 * which form of its matrix, which limits, and what of the solution goes into the model. */
#ifndef DRIVER_FIT_H
#define DRIVER_FIT_H

#include "driver/family.h"
#include "driver/progress.h"

#include <stdint.h>

/* The kernel of a point; its default gamma is 1 / n_features. */
struct kernel fit_kernel(const struct family *family, struct point point, uint32_t n_features);

/* True if rows are values of a kernel with the training rows. */
bool fit_precomputed(const struct family *family, const struct options *options);

/* True if the problem is one of a kernel matrix, not of features. */
bool fit_wants_gram(const struct family *family, const struct options *options,
                    const struct kernel *kernel);

/* Builds the kernel matrix of the data's rows, in double where the gap asked for needs it, and
 * keeps of it what the family's solvers want; the rest of cache_bytes is for them. Of some
 * thousand rows that repeat others it is made of the distinct ones, where solvers take
 * products only (FAMILY_SPREAD_GRAM). `for_folds`: for several of them. Over the ranks of a cluster
 * (of families that have FAMILY_SPREAD_GRAM), or NULL, each keeps its own part. */
int fit_gram(struct gram **gram, const struct family *family, struct point point,
             const struct kernel *kernel, const struct data *data, bool for_folds,
             size_t cache_bytes, struct cluster *cluster, struct threads *threads,
             struct error *err);

/* Fits the thresholds to the last solution of the state, and fills the header of its model: what
 * all families have, and the family's lines. The scale is the caller's. *late: the monitor ended
 * the fit of the thresholds. */
int fit_header(const struct family *family, void *state, struct point point,
               const struct kernel *kernel, const struct problem *problem,
               const struct solution *solution, const struct monitor *monitor, struct model *model,
               bool *late, struct error *err);

/* Sets the body and the figures of the model from the solution of `problem` (whose data the model
 * does not keep). Linear weights are lent: the solution must outlive the model. The body is not
 * ready for model_scores, see model_prepare. */
int fit_body(struct model *model, const struct problem *problem, const struct solution *solution,
             struct error *err);

/* The watch of a run of the solver, with the limit of iterations of the options, and this one of
 * time. It is not open. */
struct watch fit_watch(const struct options *options, double deadline);

#endif
