/* Labels, queries, weights and folds of rows. */
#include "library/private.h"

#include "common/base/memory.h"
#include "common/base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- labels ---- */

/* New labels while they are set. */
struct labels_made {
    struct data data; /* only the fields of labels are used */
    size_t n;         /* of data.label, for sets */
};

/* Replaces the labels of data. */
static void replace(struct data *data, struct data *made) {
    struct data old = {.target = data->target,
                       .label = data->label,
                       .label_start = data->label_start,
                       .names = data->names};
    data->target = made->target;
    data->label = made->label;
    data->label_start = made->label_start;
    data->names = made->names;
    data_free(&old);
}

/* Refuses a label that a file could not contain as one word. */
static int check_word(const char *word, size_t length, size_t row, struct error *err) {
    if (length == 0 || *word == '#' || strcspn(word, " \t\r\n:,") < length) {
        return error_set(err, ERROR_RUNTIME, "label of row %zu: not a word: '%.*s'", row + 1,
                         (int)(length < 100 ? length : 100), word);
    }
    return 0;
}

/* Sets the label of a row, or adds it to the row's set. */
static int add_word(struct labels_made *made, size_t row, const char *word, size_t length,
                    struct error *err) {
    struct data *data = &made->data;
    uint32_t number;
    if (check_word(word, length, row, err) < 0 ||
        names_add(&data->names, word, length, &number, err) < 0) {
        return -1;
    }
    if (data->labels == DATA_NAME) {
        data->label[row] = number;
        return 0;
    }
    for (size_t k = (size_t)data->label_start[row]; k < made->n; k++) {
        if (data->label[k] == number) {
            return error_set(err, ERROR_RUNTIME, "label of row %zu: it is there twice: '%.*s'",
                             row + 1, (int)(length < 100 ? length : 100), word);
        }
    }
    if (memory_grow(&data->label, memory_room(0, made->n), made->n + 1, sizeof *data->label,
                    "labels", err) < 0) {
        return -1;
    }
    data->label[made->n++] = number;
    return 0;
}

/* Adds the words of a row, with commas between them in a set; NULL or "": no label. */
static int add_words(struct labels_made *made, size_t row, const char *words, struct error *err) {
    struct data *data = &made->data;
    if (!words || !*words) {
        if (data->labels == DATA_NUMBER) {
            data->target[row] = NAN;
        } else if (data->labels == DATA_NAME) {
            data->label[row] = UINT32_MAX;
        }
        return 0;
    }
    if (data->labels == DATA_NUMBER) {
        return number_parse_whole(words, &data->target[row])
                   ? 0
                   : error_set(err, ERROR_RUNTIME, "label of row %zu: not a number: '%.100s'",
                               row + 1, words);
    }
    for (const char *word = words;; word++) {
        size_t length = data->labels == DATA_SET ? strcspn(word, ",") : strlen(word);
        if (add_word(made, row, word, length, err) < 0) {
            return -1;
        }
        word += length;
        if (!*word) {
            return 0;
        }
    }
}

/* Sets all labels; `add` makes those of a row. */
static int set_labels(struct dualsvm_data *data,
                      int (*add)(struct labels_made *made, size_t row, const void *source,
                                 struct error *err),
                      const void *source, dualsvm_error *error) {
    struct error err = {0};
    size_t n = data->data.n_rows;
    struct labels_made made = {.data = {.n_rows = n}};
    int status = data_make_labels(&made.data, data->data.labels, &err);
    for (size_t i = 0; i < n && status == 0; i++) {
        status = add(&made, i, source, &err);
        if (status == 0 && made.data.label_start) {
            made.data.label_start[i + 1] = made.n;
        }
    }
    if (status < 0) {
        data_free(&made.data);
        return library_fail(error, &err);
    }
    replace(&data->data, &made.data);
    return 0;
}

static int add_number(struct labels_made *made, size_t row, const void *source, struct error *err) {
    double label = ((const double *)source)[row];
    char text[NUMBER_LENGTH];
    if (isinf(label) && !(label < 0 && made->data.labels == DATA_NUMBER)) {
        return error_set(err, ERROR_RUNTIME, "label of row %zu: it is infinite", row + 1);
    }
    if (made->data.labels == DATA_NUMBER) {
        made->data.target[row] = label;
        return 0;
    }
    if (isnan(label)) {
        return add_words(made, row, NULL, err);
    }
    number_format(label, text);
    return add_words(made, row, text, err);
}

int library_check_labels(const struct dualsvm_data *data, struct error *err) {
    const struct data *rows = &data->data;
    for (size_t i = 0; rows->labels == DATA_NUMBER && i < rows->n_rows; i++) {
        if (isinf(rows->target[i])) {
            return error_set(err, ERROR_RUNTIME, "label of row %zu: it is infinite", i + 1);
        }
    }
    return 0;
}

int dualsvm_data_set_label_numbers(dualsvm_data *data, const double *label, dualsvm_error *error) {
    return data && label ? set_labels(data, add_number, label, error)
                         : library_refuse(error, "no data, or no labels");
}

static int add_text(struct labels_made *made, size_t row, const void *source, struct error *err) {
    return add_words(made, row, ((const char *const *)source)[row], err);
}

int dualsvm_data_set_label_words(dualsvm_data *data, const char *const *label,
                                 dualsvm_error *error) {
    return data && label ? set_labels(data, add_text, (const void *)label, error)
                         : library_refuse(error, "no data, or no labels");
}

/* Labels as indices into a list of names. */
struct codes {
    const uint64_t *start;
    const uint32_t *label;
    const char *const *name;
    size_t n_names;
};

static int add_codes(struct labels_made *made, size_t row, const void *source, struct error *err) {
    const struct codes *codes = source;
    uint64_t first = codes->start ? codes->start[row] : row;
    uint64_t end = codes->start ? codes->start[row + 1] : row + 1;
    if (end < first || (codes->start && end > codes->start[made->data.n_rows])) {
        return error_set(err, ERROR_RUNTIME, "start of row %zu: not between its neighbours",
                         row + 2);
    }
    if (made->data.labels == DATA_NAME && end - first != 1) {
        if (end == first) {
            return add_words(made, row, NULL, err);
        }
        return error_set(err, ERROR_RUNTIME, "row %zu: several labels, where one is wanted",
                         row + 1);
    }
    for (uint64_t k = first; k < end; k++) {
        uint32_t label = codes->label[k];
        if (label == UINT32_MAX && !codes->start) {
            return add_words(made, row, NULL, err);
        }
        const char *name = label < codes->n_names ? codes->name[label] : NULL;
        if (!name) {
            return error_set(err, ERROR_RUNTIME, "row %zu: no label has the number %lu", row + 1,
                             (unsigned long)label);
        }
        if (add_word(made, row, name, strlen(name), err) < 0) {
            return -1;
        }
    }
    return 0;
}

int dualsvm_data_set_label_codes(dualsvm_data *data, const uint64_t *start, const uint32_t *label,
                                 const char *const *name, size_t names, dualsvm_error *error) {
    if (!data || (!label && !(start && start[data->data.n_rows] == 0)) || (!name && names > 0)) {
        return library_refuse(error, "no data, or no labels");
    }
    const struct codes codes = {start, label, name, names};
    return data->data.labels == DATA_NUMBER
               ? library_refuse(error, "labels of %s are numbers", data->family->train->name)
               : set_labels(data, add_codes, &codes, error);
}

/* ---- queries ---- */

static int take_query_word(struct names *names, const char *word, size_t row, uint64_t *query,
                           struct error *err) {
    size_t length = word ? strlen(word) : 0;
    uint32_t name;
    if (length == 0 || strpbrk(word, " \t\r\n#")) {
        return error_set(err, ERROR_RUNTIME, "query of row %zu: not a word: '%.100s'", row + 1,
                         word ? word : "");
    }
    if (data_query_number(word, length, query)) {
        return 0;
    }
    if (names_add(names, word, length, &name, err) < 0) {
        return -1;
    }
    *query = DATA_QUERY_NAME + name;
    return 0;
}

/* Sets queries by number or by word. */
static int set_queries(dualsvm_data *data, const uint64_t *number, const char *const *word,
                       dualsvm_error *error) {
    if (!data || (!number && !word)) {
        return library_refuse(error, "no data, or no queries");
    }
    struct error err = {0};
    struct names names = {0};
    size_t n = data->data.n_rows;
    uint64_t *made = memory_array(n, sizeof *made, "queries", &err);
    int status = made ? 0 : -1;
    for (size_t i = 0; i < n && status == 0; i++) {
        if (word) {
            status = take_query_word(&names, word[i], i, &made[i], &err);
        } else if (number[i] < DATA_QUERY_NAME) {
            made[i] = number[i];
        } else {
            status = error_set(&err, ERROR_USAGE, "query of row %zu: not below 2^63", i + 1);
        }
    }
    if (status < 0) {
        free(made);
        names_free(&names);
        return library_fail(error, &err);
    }
    free(data->data.query);
    names_free(&data->data.queries);
    data->data.query = made;
    data->data.queries = names;
    return 0;
}

int dualsvm_data_set_queries(dualsvm_data *data, const uint64_t *query, dualsvm_error *error) {
    return set_queries(data, query, NULL, error);
}

int dualsvm_data_set_query_words(dualsvm_data *data, const char *const *query,
                                 dualsvm_error *error) {
    return set_queries(data, NULL, query, error);
}

/* ---- weights, folds, precomputed kernels ---- */

int dualsvm_data_set_weights(dualsvm_data *data, const double *weight, dualsvm_error *error) {
    if (!data) {
        return library_refuse(error, "no data");
    }
    struct error err = {0};
    size_t n = data->data.n_rows;
    double *copy = NULL;
    if (weight) {
        copy = memory_array(n, sizeof *copy, "weights of rows", &err);
        if (!copy) {
            return library_fail(error, &err);
        }
        for (size_t i = 0; i < n; i++) {
            if (!(weight[i] >= 0) || isinf(weight[i])) {
                free(copy);
                return library_refuse(error, "weight of row %zu: not a number of 0 or more", i + 1);
            }
            copy[i] = weight[i];
        }
    }
    free(data->data.weight);
    data->data.weight = copy;
    return 0;
}

/* Checks that fold numbers are in range, and that each fold holds out a row, but not all. */
static int check_folds(const uint32_t *fold, size_t n_rows, size_t n, struct error *err) {
    bool *seen = n > 0 && n <= n_rows ? memory_zeros(n, sizeof *seen, "folds", err) : NULL;
    if (!seen) {
        return n > 0 && n <= n_rows
                   ? -1
                   : error_set(err, ERROR_USAGE, "%zu folds of %zu rows", n, n_rows);
    }
    int status = 0;
    for (size_t i = 0; i < n_rows && status == 0; i++) {
        if (fold[i] != FOLDS_NEVER && fold[i] >= n) {
            status = error_set(err, ERROR_USAGE, "fold of row %zu: not below %zu", i + 1, n);
        } else if (fold[i] != FOLDS_NEVER) {
            seen[fold[i]] = true;
        }
    }
    bool all = n == 1; /* whether the only fold holds out all rows */
    for (size_t i = 0; i < n_rows; i++) {
        all = all && fold[i] != FOLDS_NEVER;
    }
    if (status == 0 && all) {
        status = error_set(err, ERROR_USAGE, "the fold holds out all rows");
    }
    for (size_t f = 0; f < n && status == 0; f++) {
        status = seen[f] ? 0 : error_set(err, ERROR_USAGE, "fold %zu holds no row out", f + 1);
    }
    free(seen);
    return status;
}

int dualsvm_data_set_folds(dualsvm_data *data, const uint32_t *fold, size_t folds,
                           dualsvm_error *error) {
    if (!data) {
        return library_refuse(error, "no data");
    }
    struct error err = {0};
    struct folds made = {0};
    if (fold) {
        uint32_t *lent;
        memcpy(&lent, &fold, sizeof lent); /* folds_copy only reads it */
        const struct folds given = {.n = folds, .n_rows = data->data.n_rows, .fold = lent};
        if (check_folds(fold, given.n_rows, folds, &err) < 0 ||
            folds_copy(&given, &made, &err) < 0) {
            return library_fail(error, &err);
        }
    }
    folds_free(&data->folds);
    data->folds = made;
    return 0;
}

int dualsvm_data_set_precomputed(dualsvm_data *data, const uint64_t *serial, dualsvm_error *error) {
    if (!data) {
        return library_refuse(error, "no data");
    }
    struct error err = {0};
    size_t n = data->data.n_rows;
    uint64_t *copy = memory_array(n, sizeof *copy, "serial numbers", &err);
    if (!copy) {
        return library_fail(error, &err);
    }
    for (size_t i = 0; i < n; i++) {
        copy[i] = serial ? serial[i] : i + 1;
    }
    free(data->data.serial);
    data->data.serial = copy;
    return 0;
}
