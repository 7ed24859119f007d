/* Buffered text output of rows. Numbers are integers, or decimals with a fixed number of digits
 * written from integers: the text does not depend on the machine. */
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
    bool failed; /* reported by writer_close */
    char buffer[WRITER_BYTES];
};

/* Opens path (borrowed; "-": standard output) for writing, see output_open. The caller calls
 * writer_close. */
int writer_open(struct writer *writer, const char *path, struct error *err);

/* Flushes the buffer and commits the file. Fails if any write has failed; the old file is then
 * unchanged. */
int writer_close(struct writer *writer, struct error *err);

/* Text of less than WRITER_ITEM bytes. */
void writer_text(struct writer *writer, const char *text);

/* A whole number in decimal. */
void writer_count(struct writer *writer, uint64_t count);

/* units / 10^digits, with trailing zeros of the fraction left out; digits <= 9. */
void writer_decimal(struct writer *writer, int64_t units, int digits);

/* A feature of a row: a blank, its index (the column counts from 0), a colon, and a decimal. */
void writer_feature(struct writer *writer, uint64_t column, int64_t units, int digits);

/* Calls write(set, path, test, err) for the path `output` or, with `split`, for output.train and,
 * with test true, for output.test. */
int writer_split(const char *output, bool split, const void *set,
                 int (*write)(const void *set, const char *path, bool test, struct error *err),
                 struct error *err);

#endif
