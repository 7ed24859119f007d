/* Output of models and proofs: text whose checksum (checksum.h) is computed on its way to a file,
 * which is gzip if its name ends in ".gz". */
#ifndef COMMON_MODEL_SINK_H
#define COMMON_MODEL_SINK_H

#include "common/base/error.h"
#include "common/base/output.h"

#include <stddef.h>
#include <stdint.h>

struct model_sink;

/* Opens a sink on output, which is borrowed. The caller writes to *text until model_sink_end, which
 * reports failures. */
int model_sink_open(struct model_sink **sink, struct output *output, struct output **text,
                    struct error *err);

/* Writes the last line, with the number of lines of the body; flushes but does not commit, and
 * frees the sink, also on failure. *checksum (may be NULL) gets the checksum of all text before the
 * last line. */
int model_sink_end(struct model_sink *sink, uint64_t lines, uint32_t *checksum, struct error *err);

/* The same for text that has its last line already. */
int model_sink_close(struct model_sink *sink, struct error *err);

#endif
