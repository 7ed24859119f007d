/* Proofs: files that a trainer writes so that svm-check can verify the bounds of a model
 * (doc/formats, "Proofs"), in memory and as text.
 *
 * A proof identifies the rows and the model, has `key value` lines for properties of the problem
 * that the model does not have, and the numbers of a dual point, row by row. Their meaning depends
 * on the family. */
#ifndef COMMON_MODEL_PROOF_H
#define COMMON_MODEL_PROOF_H

#include "common/base/error.h"
#include "common/base/output.h"
#include "common/model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_sink;

/* ---- reading ---- */

/* A number of the dual point: row counts from 0, a and b from 1; b is 0 if it is absent. */
struct proof_value {
    uint32_t row, a, b;
    double value;
};

struct proof {
    char *family;
    uint64_t n_rows;          /* of the training file */
    uint32_t training, model; /* data_fingerprint of the rows as read, and CRC of the model */
    struct model_entry *entry;
    size_t n_entries;          /* the other keys, in the order of the file */
    struct proof_value *value; /* (n_values) sorted by row, then a, then b, all different */
    size_t n_values;
};

/* Reads a proof, plain or gzip, as strictly as models. The caller calls proof_free. */
int proof_read(struct proof *proof, const char *path, struct error *err);
void proof_free(struct proof *proof);

/* ---- writing ---- */

struct proof_writer {
    struct model_sink *sink;
    struct output *text;
    uint64_t n_lines; /* of the body */
    uint32_t row;     /* of the current line */
    bool in_body;
    bool trivial; /* set by the caller: the dual bound is 0, and no numbers of the dual point are
                    written */
};

/* Writes the first lines. Borrows output. The caller ends with proof_writer_end. */
int proof_writer_open(struct proof_writer *writer, struct output *output, const char *family,
                      uint64_t n_rows, uint32_t training, uint32_t model, struct error *err);

/* Writes a line of the header; all of them come before the first value. The key is one word, the
 * text is not empty. */
void proof_writer_text(struct proof_writer *writer, const char *key, const char *text);
void proof_writer_number(struct proof_writer *writer, const char *key, double number);

/* The same with a word of `length` bytes before the number: `weight LABEL W`. */
void proof_writer_pair(struct proof_writer *writer, const char *key, const char *word,
                       size_t length, double number);

/* Writes a number of the dual point, in the order of struct proof_value. */
void proof_writer_value(struct proof_writer *writer, uint32_t row, uint32_t a, uint32_t b,
                        double value);

/* Writes the last line; see model_sink_end. */
int proof_writer_end(struct proof_writer *writer, struct error *err);

#endif
