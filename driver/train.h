/* The trainer of every family: its options, and a run of it. */
#ifndef DRIVER_TRAIN_H
#define DRIVER_TRAIN_H

#include "common/base/error.h"
#include "driver/family.h"
#include "driver/options.h"
#include "driver/voice.h"

#include <stdbool.h>

/* The names of the losses of FAMILY_LOSS, NULL at the end. */
extern const char *const loss_names[];

/* Fills *options with the common options and the family's own. */
int train_options(struct options *options, const struct family *family, struct error *err);

/* Does what the options, read from a command line, say: fits, cross-validates or sweeps. `program`
 * is its name in what it says; hold may be NULL, see output.h. *short_of_gap: a fit did not reach
 * the gap that was asked for. */
int train_run(const struct family *family, const struct options *options, const char *program,
              const struct voice *voice, const struct output_hold *hold, bool *short_of_gap,
              struct error *err);

#endif
