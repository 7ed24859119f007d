/* The bytes of the rows in a fixed order, buffered for zlib. */
#include "common/data/fingerprint.h"

#include <string.h>
#include <zlib.h>

enum { BUFFER_BYTES = 1 << 14, WORD_BYTES = 8 };

struct print {
    uLong crc;
    size_t used;
    unsigned char bytes[BUFFER_BYTES];
};

static void flush(struct print *print) {
    print->crc = crc32(print->crc, print->bytes, (uInt)print->used);
    print->used = 0;
}

/* Adds the n <= 8 low bytes of a number, lowest first. */
static void add_word(struct print *print, uint64_t word, size_t n) {
    if (print->used + WORD_BYTES > BUFFER_BYTES) {
        flush(print);
    }
    for (size_t i = 0; i < n; i++) {
        print->bytes[print->used++] = (unsigned char)(word >> (8 * i));
    }
}

/* Adds a name and its NUL. */
static void add_name(struct print *print, const char *name) {
    do {
        add_word(print, (unsigned char)*name, 1);
    } while (*name++);
}

static void add_labels(struct print *print, const struct data *data, size_t row) {
    if (data->labels == DATA_NUMBER) {
        uint64_t bits;
        memcpy(&bits, &data->target[row], sizeof bits);
        add_word(print, bits, sizeof bits);
        return;
    }
    uint64_t first = data->labels == DATA_SET ? data->label_start[row] : row;
    uint64_t end = data->labels == DATA_SET ? data->label_start[row + 1] : first + 1;
    add_word(print, end - first, sizeof end);
    for (uint64_t i = first; i < end; i++) {
        if (data->label[i] != UINT32_MAX) {
            add_name(print, data->names.name[data->label[i]]);
        }
    }
}

static void add_values(struct print *print, const struct data *data, size_t row) {
    struct stored_row stored = data_stored(data, row);
    for (size_t k = 0; k < stored.n; k++) {
        uint32_t bits;
        if (stored.value[k] != 0) {
            memcpy(&bits, &stored.value[k], sizeof bits);
            add_word(print, stored_column(stored, k), sizeof(uint32_t));
            add_word(print, bits, sizeof bits);
        }
    }
    add_word(print, UINT32_MAX, sizeof(uint32_t)); /* no column */
}

uint32_t data_fingerprint(const struct data *data, size_t n_rows) {
    struct print print = {.crc = crc32(0, NULL, 0)};
    for (size_t i = 0; i < n_rows; i++) {
        add_labels(&print, data, i);
        if (data->query && data->query[i] >= DATA_QUERY_NAME) {
            add_name(&print, data->queries.name[data->query[i] - DATA_QUERY_NAME]);
        } else if (data->query) {
            add_word(&print, data->query[i], sizeof data->query[i]);
        }
        if (data->serial) {
            add_word(&print, data->serial[i], sizeof data->serial[i]);
        }
        add_values(&print, data, i);
    }
    flush(&print);
    return (uint32_t)print.crc;
}
