/* Fast buffered text output of rows. Numbers are integers or decimals with a fixed count of
 * digits, written from integers: the text does not depend on the machine. */
#ifndef DATASETS_WRITER_H
#define DATASETS_WRITER_H

#include "common/base/error.h"
#include "common/base/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WRITER_BYTES = 1 << 16, WRITER_ITEM = 256 };

struct writer {
    struct output *output;
    size_t used;
    bool failed; /* kept until writer_close says so */
    char buffer[WRITER_BYTES];
};

/* Opens path (borrowed; "-": standard output) for writing, see output_open. The caller calls
 * writer_close. */
int writer_open(struct writer *writer, const char *path, struct error *err);

/* Writes what is left and puts the file in place. Fails if any write has failed; then the old file
 * is as it was. */
int writer_close(struct writer *writer, struct error *err);

/* Text of less than WRITER_ITEM bytes. */
void writer_text(struct writer *writer, const char *text);

/* A whole number in decimal. */
void writer_count(struct writer *writer, uint64_t count);

/* units / 10^digits, with trailing zeros of the fraction left out; digits <= 9. */
void writer_decimal(struct writer *writer, int64_t units, int digits);

#endif
