/* The trainer of every family: its options, and a run of it. */
#ifndef DRIVER_TRAIN_H
#define DRIVER_TRAIN_H

#include "common/base/cluster.h"
#include "common/base/error.h"
#include "driver/family.h"
#include "driver/options.h"
#include "driver/voice.h"

#include <stdbool.h>

/* The names of the losses of FAMILY_LOSS, NULL at the end. */
extern const char *const loss_names[];

/* Fills *options with the common options and the family's own. */
int train_options(struct options *options, const struct family *family, struct error *err);

struct train_end {
    bool short_of_gap; /* a fit did not reach the gap that was asked for */
    bool running;      /* a solver passed the limit of time and was left to itself: the caller keeps
                          the options and the voice for it, and ends the program by _exit */
};

/* Does what the options, read from a command line, say: fits, cross-validates or sweeps. `program`
 * is its name in what it says; hold may be NULL, see output.h. Of a cluster all ranks run it, and
 * the one that leads writes. *end is filled also when it fails. */
int train_run(const struct family *family, const struct options *options, const char *program,
              const struct voice *voice, const struct output_hold *hold, struct cluster *cluster,
              struct train_end *end, struct error *err);

#endif
