/* Folds: random, stratified, by query, or from a file (folds.h). */
#include "driver/folds.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/base/order.h"
#include "common/base/random.h"
#include "common/data/duplicates.h"
#include "common/data/lines.h"
#include "common/data/names.h"
#include "common/data/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_STREAM = 2 }; /* tells this use of the seed from others */

static int allocate(struct folds *folds, size_t n, size_t n_rows, struct error *err) {
    folds->n = n;
    folds->n_rows = n_rows;
    folds->fold = memory_array(n_rows, sizeof folds->fold[0], "folds", err);
    return folds->fold ? 0 : -1;
}

void folds_free(struct folds *folds) {
    free(folds->fold);
    *folds = (struct folds){0};
}

size_t folds_rows(const struct folds *folds, size_t fold, bool held_out, uint32_t *rows) {
    size_t n = 0;
    for (size_t i = 0; i < folds->n_rows; i++) {
        if ((folds->fold[i] == fold) == held_out) {
            rows[n++] = (uint32_t)i;
        }
    }
    return n;
}

/* ---- numbering of keys that several rows share ---- */

/* Sets number[i] to the index of the key of row i among the distinct keys in ascending order, for
 * keys (n_rows), which are sorted; returns the number of distinct keys. */
static size_t number_keys(struct keyed_row *keys, size_t n_rows, uint32_t *number) {
    size_t n = 0;
    keyed_rows_sort(keys, n_rows);
    for (size_t i = 0; i < n_rows; i++) {
        n += i == 0 || keys[i].key != keys[i - 1].key;
        number[keys[i].row] = (uint32_t)(n - 1);
    }
    return n;
}

static size_t number_queries(const struct data *data, uint32_t *number, struct error *err) {
    struct keyed_row *keys = memory_array(data->n_rows, sizeof *keys, "queries", err);
    if (!keys) {
        return 0;
    }
    for (size_t i = 0; i < data->n_rows; i++) {
        keys[i] = (struct keyed_row){data->query ? data->query[i] : 0, (uint32_t)i};
    }
    size_t n = number_keys(keys, data->n_rows, number);
    free(keys);
    return n;
}

size_t folds_count_queries(const struct data *data, struct error *err) {
    uint32_t *number = memory_array(data->n_rows, sizeof *number, "queries", err);
    size_t n = number ? number_queries(data, number, err) : 0;
    free(number);
    return n;
}

/* 0..n-1 in random order; the caller frees. */
static uint32_t *random_order(size_t n, uint64_t seed, struct error *err) {
    uint32_t *order = memory_array(n, sizeof *order, "an order", err);
    if (!order) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
    }
    struct random random;
    random_start(&random, seed, RANDOM_STREAM);
    random_shuffle(&random, order, n);
    return order;
}

/* Assigns keys to n folds at random; fold[i] is the key of row i at first. */
static int deal(struct folds *folds, size_t n_keys, size_t n, uint64_t seed, struct error *err) {
    uint32_t *order = random_order(n_keys, seed, err);
    if (!order) {
        return -1;
    }
    for (size_t i = 0; i < folds->n_rows; i++) {
        folds->fold[i] = (uint32_t)(order[folds->fold[i]] % n);
    }
    folds->n = n;
    free(order);
    return 0;
}

int folds_by_query(struct folds *folds, const struct data *data, size_t n, uint64_t seed,
                   struct error *err) {
    if (allocate(folds, n, data->n_rows, err) < 0) {
        return -1;
    }
    size_t n_queries = number_queries(data, folds->fold, err);
    if (n_queries == 0) {
        return -1;
    }
    if (n_queries < n) {
        return error_set(err, ERROR_RUNTIME,
                         "%zu %s cannot make %zu folds: folds hold out whole queries (qid); "
                         "--fold-file FILE can hold out rows",
                         n_queries, n_queries == 1 ? "query" : "queries", n);
    }
    return deal(folds, n_queries, n, seed, err);
}

/* The label of each unit's first row among n_labels, n_labels - 1 for rows without one; folds->fold
 * is the unit of each row. The caller frees. */
static uint32_t *unit_labels(const struct folds *folds, const struct data *data, size_t n_units,
                             size_t n_labels, struct error *err) {
    uint32_t *label = memory_zeros(n_units, sizeof *label, "folds", err);
    for (size_t i = data->labels == DATA_NAME ? folds->n_rows : 0; label && i-- > 0;) {
        uint32_t own = data->label[i];
        label[folds->fold[i]] = own == UINT32_MAX ? (uint32_t)(n_labels - 1) : own;
    }
    return label;
}

/* Assigns units to n folds at random, stratified by the label of the first row if rows have one
 * label name each; folds->fold is the unit of each row at first. */
static int stratify(struct folds *folds, const struct data *data, size_t n_units, size_t n,
                    uint64_t seed, struct error *err) {
    /* one more for rows without a label */
    size_t n_labels = data->labels == DATA_NAME ? data->names.n + 1 : 1;
    uint32_t *order = random_order(n_units, seed, err);
    size_t *next = order ? memory_zeros(n_labels + 1, sizeof *next, "folds", err) : NULL;
    uint32_t *label = next ? unit_labels(folds, data, n_units, n_labels, err) : NULL;
    if (!label) {
        free(next);
        free(order);
        return -1;
    }
    /* next[label] becomes the position of the label's first unit in an order by label. Folds are
     * assigned in turn along that order, so that their sizes differ by at most one */
    for (size_t unit = 0; unit < n_units; unit++) {
        next[label[unit] + (size_t)1]++;
    }
    for (size_t k = 0; k < n_labels; k++) {
        next[k + 1] += next[k];
    }
    uint32_t *fold = label; /* replaces the labels, each of which is read once more */
    for (size_t i = 0; i < n_units; i++) {
        fold[order[i]] = (uint32_t)(next[label[order[i]]]++ % n);
    }
    for (size_t i = 0; i < folds->n_rows; i++) {
        folds->fold[i] = fold[folds->fold[i]];
    }
    free(label);
    free(next);
    free(order);
    return 0;
}

int folds_by_distinct_row(struct folds *folds, const struct data *data, size_t n, uint64_t seed,
                          struct error *err) {
    size_t n_rows = data->n_rows;
    size_t different = 0;
    if (allocate(folds, n, n_rows, err) < 0 ||
        duplicates_find(data, NULL, n_rows, folds->fold, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n_rows; i++) {
        uint32_t first = folds->fold[i];
        folds->fold[i] = first == i ? (uint32_t)different++ : folds->fold[first];
    }
    if (data->labels != DATA_NAME) {
        return different < n ? error_set(err, ERROR_RUNTIME,
                                         "%zu different rows cannot make %zu folds", different, n)
                             : deal(folds, different, n, seed, err);
    }
    if (different < n) {
        folds_free(folds);
        return folds_by_row(folds, data, n, seed, err);
    }
    return stratify(folds, data, different, n, seed, err);
}

int folds_by_row(struct folds *folds, const struct data *data, size_t n, uint64_t seed,
                 struct error *err) {
    size_t n_rows = data->n_rows;
    if (n_rows < n) {
        return error_set(err, ERROR_RUNTIME, "%zu rows cannot make %zu folds", n_rows, n);
    }
    if (allocate(folds, n, n_rows, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n_rows; i++) {
        folds->fold[i] = (uint32_t)i;
    }
    return stratify(folds, data, n_rows, n, seed, err);
}

/* The contents of a fold file. */
struct words {
    const char *path; /* as shown in errors */
    /* (n_rows) the word of each row by its number, at the end by its value if all words are
     * numbers */
    struct keyed_row *key;
    struct names names; /* the distinct words */
    uint64_t *number;   /* (names.n) their values; valid while `numbers` */
    bool numbers;
};

static int add_word(struct words *words, const char *word, size_t length, size_t row,
                    struct error *err) {
    uint32_t name;
    size_t n = words->names.n;
    if (names_add(&words->names, word, length, &name, err) < 0) {
        return -1;
    }
    if (words->names.n > n) {
        if (memory_grow(&words->number, memory_room(0, n), n + 1, sizeof *words->number, "folds",
                        err) < 0) {
            return -1;
        }
        words->numbers &=
            number_parse_unsigned(word, word + length, &words->number[n]) == word + length;
    }
    words->key[row] = (struct keyed_row){name, (uint32_t)row};
    return 0;
}

/* Takes the word of a line, after blanks. */
static int take_word(void *context, size_t row, const char *text, size_t length,
                     struct error *err) {
    struct words *words = context;
    const char *end = text + length, *word = text;
    while (word < end && (*word == ' ' || *word == '\t')) {
        word++;
    }
    length = (size_t)(end - word);
    const char *path = words->path;
    if (length == 0) {
        return error_set(err, ERROR_RUNTIME, "%s:%zu:1: no word to tell the fold by", path,
                         row + 1);
    }
    if (memchr(word, '\0', length)) {
        return error_set(err, ERROR_RUNTIME, "%s:%zu:1: a NUL byte", path, row + 1);
    }
    if (memchr(word, ' ', length) || memchr(word, '\t', length)) {
        return error_set(err, ERROR_RUNTIME, "%s:%zu:1: not one word: '%.*s'", path, row + 1,
                         length < 100 ? (int)length : 100, word);
    }
    return add_word(words, word, length, row, err);
}

/* Numbers the folds by the words. */
static int number_words(struct folds *folds, struct words *words, size_t n, uint64_t seed,
                        struct error *err) {
    for (size_t i = 0; words->numbers && i < folds->n_rows; i++) {
        words->key[i].key = words->number[words->key[i].key];
    }
    folds->n = number_keys(words->key, folds->n_rows, folds->fold);
    if (folds->n < 2 || folds->n < n) {
        return folds->n < 2
                   ? error_set(err, ERROR_RUNTIME, "%s: all rows are in one fold", words->path)
                   : error_set(err, ERROR_RUNTIME, "%s: %zu words cannot make %zu folds",
                               words->path, folds->n, n);
    }
    return n == 0 ? 0 : deal(folds, folds->n, n, seed, err);
}

int folds_read(struct folds *folds, const char *path, size_t n_rows, size_t n, uint64_t seed,
               struct error *err) {
    if (allocate(folds, 0, n_rows, err) < 0) {
        return -1;
    }
    struct words words = {.path = source_shown(path), .numbers = true};
    words.key = memory_array(n_rows, sizeof *words.key, "folds", err);
    if (!words.key) {
        return -1;
    }
    int status = lines_each(path, n_rows, take_word, &words, err);
    status = status < 0 ? -1 : number_words(folds, &words, n, seed, err);
    names_free(&words.names);
    free(words.number);
    free(words.key);
    return status;
}

int folds_copy(const struct folds *folds, struct folds *copy, struct error *err) {
    if (allocate(copy, folds->n, folds->n_rows, err) < 0) {
        return -1;
    }
    memcpy(copy->fold, folds->fold, folds->n_rows * sizeof *copy->fold);
    return 0;
}

int folds_join(struct folds *folds, struct data *data, struct data *held, struct error *err) {
    size_t n = data->n_rows, m = held->n_rows;
    if (n + m > UINT32_MAX) {
        return error_set(err, ERROR_RUNTIME, "more than %" PRIu32 " rows", UINT32_MAX);
    }
    if (!data->query != !held->query) {
        return error_set(err, ERROR_RUNTIME,
                         "only one of the training and validation files has queries (qid)");
    }
    if (data_own(data, true, err) < 0 || allocate(folds, 1, n + m, err) < 0 ||
        data_make_sparse(data, err) < 0 || data_make_sparse(held, err) < 0 ||
        data_append(data, held, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n + m; i++) {
        folds->fold[i] = i < n ? FOLDS_NEVER : 0;
    }
    return 0;
}
