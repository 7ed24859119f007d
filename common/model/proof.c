/* Writing and strict reading of proofs. */
#include "common/model/proof.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/model/read_private.h"
#include "common/model/sink.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char BODY[] = "dual";

/* ---- writing ---- */

void proof_writer_text(struct proof_writer *writer, const char *key, const char *text) {
    output_format(writer->text, "%s %s\n", key, text);
}

void proof_writer_number(struct proof_writer *writer, const char *key, double number) {
    proof_writer_pair(writer, key, "", 0, number);
}

void proof_writer_pair(struct proof_writer *writer, const char *key, const char *word,
                       size_t length, double number) {
    output_format(writer->text, "%s %.*s%s", key, (int)length, word, length > 0 ? " " : "");
    output_number(writer->text, number);
    output_write(writer->text, "\n", 1);
}

int proof_writer_open(struct proof_writer *writer, struct output *output, const char *family,
                      uint64_t n_rows, uint32_t training, uint32_t model, struct error *err) {
    *writer = (struct proof_writer){0};
    if (model_sink_open(&writer->sink, output, &writer->text, err) < 0) {
        return -1;
    }
    output_format(writer->text,
                  "dualsvm proof %s 1\nrows %" PRIu64 "\ntraining %08" PRIx32 "\nmodel %08" PRIx32
                  "\n",
                  family, n_rows, training, model);
    return 0;
}

static void begin_body(struct proof_writer *writer) {
    if (!writer->in_body) {
        output_text(writer->text, BODY);
        writer->in_body = true;
    }
}

void proof_writer_value(struct proof_writer *writer, uint32_t row, uint32_t a, uint32_t b,
                        double value) {
    if (writer->trivial) {
        return;
    }
    begin_body(writer);
    if (writer->n_lines == 0 || row != writer->row) {
        output_format(writer->text, "\n%" PRIu64, row + (uint64_t)1);
        writer->row = row;
        writer->n_lines++;
    }
    output_format(writer->text, " %" PRIu32 ":", a);
    if (b > 0) {
        output_format(writer->text, "%" PRIu32 ":", b);
    }
    output_number(writer->text, value);
}

int proof_writer_end(struct proof_writer *writer, struct error *err) {
    begin_body(writer);
    output_write(writer->text, "\n", 1);
    return model_sink_end(writer->sink, writer->n_lines, NULL, err);
}

/* ---- reading ---- */

static int parse_first(const struct model_lines *in, struct proof *proof, struct error *err) {
    static const char magic[] = "dualsvm proof ", version[] = " 1";
    size_t before = sizeof magic - 1, after = sizeof version - 1, length = in->length;
    if (length <= before + after || strncmp(in->line, magic, before) != 0) {
        return model_lines_fail(in, "not a proof of dualsvm", in->line, err);
    }
    if (strcmp(in->line + length - after, version) != 0) {
        return model_lines_fail(in, "a proof of another version", in->line, err);
    }
    proof->family = memory_text(in->line + before, length - before - after, "a name", err);
    return proof->family ? 0 : -1;
}

static int parse_checksum(const struct model_lines *in, const char *key, uint32_t *checksum,
                          struct error *err) {
    size_t length = strlen(key);
    char text[NUMBER_LENGTH], *end;
    if (strncmp(in->line, key, length) != 0 || in->line[length] != ' ') {
        return model_lines_fail(in, "not the checksum that is expected", in->line, err);
    }
    *checksum = (uint32_t)strtoul(in->line + length + 1, &end, 16);
    snprintf(text, sizeof text, "%08" PRIx32, *checksum);
    return strcmp(in->line + length + 1, text) == 0
               ? 0
               : model_lines_fail(in, "not a checksum", in->line + length + 1, err);
}

static int parse_rows(const struct model_lines *in, struct proof *proof, struct error *err) {
    static const char key[] = "rows ";
    const char *end = in->line + in->length;
    bool begins = strncmp(in->line, key, sizeof key - 1) == 0;
    if (!begins || number_parse_unsigned(in->line + sizeof key - 1, end, &proof->n_rows) != end ||
        proof->n_rows < 1 || proof->n_rows >= UINT32_MAX) {
        return model_lines_fail(in, "not a number of rows", in->line, err);
    }
    return 0;
}

static int add_entry(const struct model_lines *in, struct proof *proof, struct error *err) {
    char *blank = strchr(in->line, ' ');
    if (!blank || blank == in->line || blank[1] == '\0') {
        return model_lines_fail(in, "not a key and a value", in->line, err);
    }
    if (model_read_grow(&proof->entry, proof->n_entries, sizeof *proof->entry, err) < 0) {
        return -1;
    }
    struct model_entry *entry = &proof->entry[proof->n_entries];
    entry->key = memory_text(in->line, (size_t)(blank - in->line), "the proof", err);
    entry->value = memory_text(blank + 1, strlen(blank + 1), "the proof", err);
    proof->n_entries++;
    return entry->key && entry->value ? 0 : -1;
}

static int read_header(struct model_lines *in, struct proof *proof, struct error *err) {
    if (model_lines_next(in, err) < 0 || parse_first(in, proof, err) < 0 ||
        model_lines_next(in, err) < 0 || parse_rows(in, proof, err) < 0 ||
        model_lines_next(in, err) < 0 ||
        parse_checksum(in, "training", &proof->training, err) < 0 ||
        model_lines_next(in, err) < 0 || parse_checksum(in, "model", &proof->model, err) < 0) {
        return -1;
    }
    for (;;) {
        if (model_lines_next(in, err) < 0) {
            return -1;
        }
        if (strcmp(in->line, BODY) == 0) {
            return 0;
        }
        if (add_entry(in, proof, err) < 0) {
            return -1;
        }
    }
}

static int add_value(struct proof *proof, const struct proof_value *value, struct error *err) {
    if (model_read_grow(&proof->value, proof->n_values, sizeof *proof->value, err) < 0) {
        return -1;
    }
    proof->value[proof->n_values++] = *value;
    return 0;
}

/* Parses A:VALUE or A:B:VALUE at *at, and advances *at. */
static int parse_value(const struct model_lines *in, const char **at, struct proof_value *value,
                       struct error *err) {
    const char *from = *at, *end = in->line + in->length;
    uint64_t a = 0, b = 0;
    const char *p = number_parse_unsigned(from, end, &a), *second = NULL;
    p = p && *p == ':' ? p + 1 : NULL;
    second = p ? number_parse_unsigned(p, end, &b) : NULL;
    bool two = second && *second == ':';
    p = p ? number_parse(two ? second + 1 : p, end, &value->value) : NULL;
    b = two ? b : 0;
    if (!p || a < 1 || a > UINT32_MAX || (two && b < 1) || b > UINT32_MAX ||
        !isfinite(value->value)) {
        return model_lines_fail(in, "not a number of the dual point", from, err);
    }
    bool ascends = a > value->a || (a == value->a && b > value->b);
    if (!ascends) {
        return model_lines_fail(in, "indices do not ascend", from, err);
    }
    value->a = (uint32_t)a;
    value->b = (uint32_t)b;
    *at = p;
    return 0;
}

static int parse_row(const struct model_lines *in, struct proof *proof, uint64_t *last,
                     struct error *err) {
    const char *end = in->line + in->length;
    uint64_t row = 0;
    const char *at = number_parse_unsigned(in->line, end, &row);
    if (!at || row <= *last || row > proof->n_rows || at == end) {
        return model_lines_fail(in, "not a row of the dual point, or out of order", in->line, err);
    }
    *last = row;
    struct proof_value value = {.row = (uint32_t)(row - 1)};
    while (at < end) {
        if (*at++ != ' ') {
            return model_lines_fail(in, "not a blank", at - 1, err);
        }
        if (parse_value(in, &at, &value, err) < 0 || add_value(proof, &value, err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int read_body(struct model_lines *in, struct proof *proof, struct error *err) {
    static const char last_word[] = "end ";
    uint64_t lines = 0, last = 0;
    for (;; lines++) {
        if (model_lines_next(in, err) < 0) {
            return -1;
        }
        if (strncmp(in->line, last_word, sizeof last_word - 1) == 0) {
            break;
        }
        if (parse_row(in, proof, &last, err) < 0) {
            return -1;
        }
    }
    return model_lines_end(in, lines, err);
}

int proof_read(struct proof *proof, const char *path, struct error *err) {
    struct model_lines in;
    *proof = (struct proof){0};
    int status = model_lines_open(&in, path, NULL, 0, err);
    in.what = "proof";
    status = status < 0 || read_header(&in, proof, err) < 0 ? -1 : read_body(&in, proof, err);
    model_lines_close(&in);
    if (status < 0) {
        proof_free(proof);
    }
    return status;
}

void proof_free(struct proof *proof) {
    for (size_t i = 0; i < proof->n_entries; i++) {
        free(proof->entry[i].key);
        free(proof->entry[i].value);
    }
    free(proof->entry);
    free(proof->value);
    free(proof->family);
    *proof = (struct proof){0};
}
