/* What a run of the trainer is to do: decided from its options, before anything is read. */
#ifndef DRIVER_PLAN_H
#define DRIVER_PLAN_H

#include "driver/family.h"
#include "driver/train.h"

struct plan {
    bool crossing; /* cross-validation or validation rows */
    bool table;    /* a sweep: a list was given, or an option that is for a table */
    bool fitting;  /* a model is wanted */
    bool spread; /* each rank of a cluster is to have rows of its own: of a fit to features, once */
    bool alone;  /* all ranks have all rows, and rank 0 fits the model: behind fits to folds, unless
                    it is to a kernel whose matrix can be spread */
};

/* Makes the plan, or refuses what cannot be asked for together (ERROR_USAGE). host: NULL, or whom
 * the options have no files of; cluster: NULL, or whose ranks make the same plan. */
int plan_make(struct plan *plan, const struct family *family, const struct options *options,
              const struct train_host *host, const struct cluster *cluster, struct error *err);

#endif
