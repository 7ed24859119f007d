/* The files that a trainer writes. They are opened before any work, so that a path that cannot be
 * written is reported at once, and put in place together when the model is complete. */
#ifndef DRIVER_OUTPUTS_H
#define DRIVER_OUTPUTS_H

#include "driver/family.h"

#include <stdint.h>

/* In the order in which they are put in place. */
enum {
    OUTPUTS_LIBSVM,
    OUTPUTS_LIBLINEAR,
    OUTPUTS_LOG,
    OUTPUTS_JSON,
    OUTPUTS_EXTRA, /* file of the family's extra_option */
    OUTPUTS_PROOF,
    OUTPUTS_MODEL,
    OUTPUTS_TABLE,   /* table of a sweep */
    OUTPUTS_RESULTS, /* report */
    OUTPUTS_FILES
};

struct outputs {
    const struct output_hold *hold; /* set before outputs_open; NULL: none */
    bool discards;                  /* set before outputs_open: everything is discarded */
    /* set before outputs_open: number of files that the training file stands for, 0: one, itself */
    size_t n_parts;
    struct output *file[OUTPUTS_FILES]; /* NULL: not wanted */
    char *default_model;                /* the path, if none was given; owned */
};

/* Opens the results, the table of a sweep if `table`, --log, and if a model is wanted (`fitting`)
 * the files for it that options name; run_files_check states which combinations are errors.
 * Standard output is reserved for a model, --json or a table: other results then go to standard
 * error, or beside a table with --quiet nowhere. The options must outlive the outputs; the caller
 * ends with outputs_close. */
int outputs_open(struct outputs *outputs, const struct family *family,
                 const struct options *options, bool fitting, bool table, struct error *err);

/* Writes the model in all wanted formats; *checksum gets the CRC of its last line. */
int outputs_write_model(struct outputs *outputs, const struct family *family,
                        const struct model *model, struct threads *threads, uint32_t *checksum,
                        struct error *err);

/* Puts all files in place together, the model last, see output_end_all. */
int outputs_commit(struct outputs *outputs, struct error *err);

/* Discards files that are not in place, and releases what the outputs own. */
void outputs_close(struct outputs *outputs);

#endif
