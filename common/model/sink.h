/* Where models and proofs are written: text that counts its checksum (checksum.h) on the way to a
 * file, as gzip where the file's name ends in ".gz". */
#ifndef COMMON_MODEL_SINK_H
#define COMMON_MODEL_SINK_H

#include "common/base/error.h"
#include "common/base/output.h"

#include <stddef.h>
#include <stdint.h>

struct model_sink;

/* Borrows output. *text is where the caller writes until model_sink_end, which reports failures. */
int model_sink_open(struct model_sink **sink, struct output *output, struct output **text,
                    struct error *err);

/* Adds the last line, `lines` of the body before it; flushes, does not commit, and frees the sink,
 * also when it fails. *checksum (NULL: unwanted) gets that of all text before the last line. */
int model_sink_end(struct model_sink *sink, uint64_t lines, uint32_t *checksum, struct error *err);

/* The same of text that has its last line already: nothing is added. */
int model_sink_close(struct model_sink *sink, struct error *err);

#endif
