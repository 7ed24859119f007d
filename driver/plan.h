/* What a run of the trainer does, decided from its options before any file is read. */
#ifndef DRIVER_PLAN_H
#define DRIVER_PLAN_H

#include "driver/family.h"
#include "driver/train.h"

struct plan {
    bool cross_validating; /* there are folds or validation rows */
    bool table;            /* a sweep: a list was given, or an option that needs a table */
    bool fitting;          /* a model is wanted */
    /* each process of a cluster holds rows of its own: for a single fit to features */
    bool distributed;
    /* all processes hold all rows, and process 0 fits the model: after fits to folds, unless
     * it is a fit to a kernel whose matrix can be distributed */
    bool replicated;
};

/* Makes the plan, or refuses inconsistent options (ERROR_USAGE). application: NULL for
 * a command line. cluster: NULL, or the processes, which all make the same plan. */
int plan_make(struct plan *plan, const struct family *family, const struct options *options,
              const struct application *application, const struct cluster *cluster,
              struct error *err);

#endif
