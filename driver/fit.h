/* What a fit to all rows and a fit of cross-validation have in common: the kernel and the storage
 * of its matrix, the limits, and the model made of a solution. */
#ifndef DRIVER_FIT_H
#define DRIVER_FIT_H

#include "driver/family.h"
#include "driver/progress.h"

#include <stdint.h>

/* The kernel at a point; the default of gamma is 1 / n_features. */
struct kernel fit_kernel(const struct family *family, struct point point, uint32_t n_features);

/* Returns whether rows hold values of a kernel with the training rows. */
bool fit_precomputed(const struct family *family, const struct options *options);

/* Returns whether the problem is stated by a kernel matrix rather than by features. */
bool fit_wants_gram(const struct family *family, const struct options *options,
                    const struct kernel *kernel);

/* Builds the kernel matrix of the data's rows, in double if the target gap needs that, and stores
 * as much of it as the family's solvers use; the rest of cache_bytes is left to them, and with
 * FAMILY_LANDMARKS a part of it if the matrix does not fit. If several thousand rows contain many
 * duplicates and the solvers only form products (FAMILY_DISTRIBUTED_GRAM), the matrix is that of
 * the distinct rows. for_folds: several folds use it. cluster: of families with
 * FAMILY_DISTRIBUTED_GRAM, whose processes store a part of the matrix each; or NULL. */
int fit_gram(struct gram **gram, const struct family *family, struct point point,
             const struct kernel *kernel, const struct data *data, bool for_folds,
             size_t cache_bytes, struct cluster *cluster, struct threads *threads,
             struct error *err);

/* Fits the thresholds to the last solution of the state, and fills the header of its model: the
 * fields of all families, and the family's own lines. The caller sets the scale. *late: the
 * deadline ended the fit of the thresholds. */
int fit_header(const struct family *family, void *state, struct point point,
               const struct kernel *kernel, const struct problem *problem,
               const struct solution *solution, const struct monitor *monitor, struct model *model,
               bool *late, struct error *err);

/* Sets the body and the bounds of the model from the solution of `problem` (whose data are not
 * referenced afterwards). Linear weights are borrowed: the solution must outlive the model. Before
 * model_scores the body needs model_prepare. */
int fit_body(struct model *model, const struct problem *problem, const struct solution *solution,
             struct error *err);

/* A watch for a run of the solver, with the iteration limit of the options and this deadline; not
 * open yet. */
struct watch fit_watch(const struct options *options, double deadline);

#endif
