/* The files that a trainer writes: opened before anything is read, so that what cannot be written
 * is known before hours of work, and put in place all together when the model is there. */
#ifndef DRIVER_OUTPUTS_H
#define DRIVER_OUTPUTS_H

#include "driver/family.h"

#include <stdint.h>

/* In the order in which they are put in place. */
enum {
    OUTPUTS_LIBSVM,
    OUTPUTS_LIBLINEAR,
    OUTPUTS_LOG,
    OUTPUTS_EXTRA, /* of the family's option */
    OUTPUTS_PROOF,
    OUTPUTS_MODEL,
    OUTPUTS_TABLE,   /* of a sweep */
    OUTPUTS_RESULTS, /* the report */
    OUTPUTS_FILES
};

struct outputs {
    const struct output_hold *hold; /* set before outputs_open; NULL: none */
    bool nowhere;                   /* likewise: nothing is kept of what is written */
    size_t n_parts; /* likewise: files that the training file stands for, 0: itself */
    struct output *file[OUTPUTS_FILES]; /* NULL: not wanted */
    char *default_model;                /* path, where none was given */
};

/* Opens results, with `table` the table of a sweep, --log, and if a model is wanted (`fitting`) the
 * files for that, which the options name; see run_files_check for what is an error. A model or a
 * table has standard output for itself: results then go to standard error, or beside a table with
 * --quiet nowhere. The options must outlive it; the caller ends with outputs_close. */
int outputs_open(struct outputs *outputs, const struct family *family,
                 const struct options *options, bool fitting, bool table, struct error *err);

/* Writes a model in all wanted formats; *checksum gets the CRC of its last line. */
int outputs_write_model(struct outputs *outputs, const struct family *family,
                        const struct model *model, uint32_t *checksum, struct error *err);

/* Puts all files in place together, the model last, see output_commit_all. */
int outputs_commit(struct outputs *outputs, struct error *err);

/* Drops what is not in place, and releases what the outputs own. */
void outputs_close(struct outputs *outputs);

#endif
