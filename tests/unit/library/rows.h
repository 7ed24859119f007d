/* Random rows of every family as arrays, and the same rows as a file, for the tests of the
 * library. */
#ifndef TESTS_UNIT_LIBRARY_ROWS_H
#define TESTS_UNIT_LIBRARY_ROWS_H

#include "include/dualsvm.h"
#include "tests/unit/check.h"

#include <stdbool.h>
#include <string.h>

enum { ROWS = 60, COLUMNS = 6, SETS = 3 };

static const char *const set_names[SETS] = {"news", "sport", "art"};

struct rows {
    const char *family;
    float dense[ROWS * COLUMNS];
    double wide[ROWS * (COLUMNS + 2)]; /* the same with two more columns that are ignored */
    int32_t start[ROWS + 1], column[ROWS * COLUMNS];
    int64_t start64[ROWS + 1], column64[ROWS * COLUMNS];
    float value[ROWS * COLUMNS];
    double value64[ROWS * COLUMNS];
    double label[ROWS];
    uint64_t set_start[ROWS + 1];
    uint32_t set[ROWS * SETS];
    uint64_t query[ROWS];
    double weight[ROWS];
};

/* The error of the last call that failed, in this thread. */
static _Thread_local __attribute__((unused)) dualsvm_error error;

/* CALL(function call): fails the test unless the call succeeds. */
#define CALL(call) CHECK((call) == 0, "%s", error.text)

static inline double rows_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 40) / (double)(1 << 24);
}

/* share: of the nonzero values; above about half the rows are dense. */
static inline void rows_make(struct rows *rows, const char *family, double share, uint64_t seed) {
    int n = 0;
    memset(rows, 0, sizeof *rows);
    rows->family = family;
    for (int i = 0; i < ROWS; i++) {
        int kind = i % 3;
        rows->label[i] = strcmp(family, "rank") == 0 ? i % 7 + rows_random(&seed)
                         : strcmp(family, "mc") == 0 ? kind
                                                     : (kind == 0 ? 1 : -1);
        rows->query[i] = (uint64_t)i / 12 + 1;
        rows->weight[i] = 1 + i % 2;
        rows->set_start[i + 1] = rows->set_start[i];
        for (int c = 0; c < SETS; c++) {
            if (c == kind || rows_random(&seed) < 0.2) {
                rows->set[rows->set_start[i + 1]++] = (uint32_t)c;
            }
        }
        for (int j = 0; j < COLUMNS; j++) {
            double draw = rows_random(&seed), value = rows_random(&seed) + (j == kind ? 0.7 : 0);
            value = draw < share || (i == 0 && j == COLUMNS - 1) ? value + rows->label[i] / 20 : 0;
            float rounded = (float)value;
            rows->dense[i * COLUMNS + j] = rounded;
            rows->wide[i * (COLUMNS + 2) + j] = (double)rounded;
            if (rounded != 0) {
                rows->column[n] = j;
                rows->column64[n] = j;
                rows->value[n] = rounded;
                rows->value64[n++] = (double)rounded;
            }
        }
        rows->wide[i * (COLUMNS + 2) + COLUMNS] = 1e9;
        rows->start[i + 1] = n;
        rows->start64[i + 1] = n;
    }
}

/* Writes the rows as svmlight text. */
static inline void rows_write(const struct rows *rows, const char *path) {
    FILE *file = fopen(path, "w");
    CHECK(file, "%s cannot be written", path);
    for (int i = 0; i < ROWS; i++) {
        if (strcmp(rows->family, "ml") == 0) {
            for (uint64_t k = rows->set_start[i]; k < rows->set_start[i + 1]; k++) {
                fprintf(file, "%s%s", k > rows->set_start[i] ? "," : "", set_names[rows->set[k]]);
            }
        } else {
            fprintf(file, "%.17g", rows->label[i]);
        }
        if (strcmp(rows->family, "rank") == 0) {
            fprintf(file, " qid:%d", (int)rows->query[i]);
        }
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            fprintf(file, " %d:%.9g", rows->column[k] + 1, (double)rows->value[k]);
        }
        fputc('\n', file);
    }
    CHECK_TRUE(fclose(file) == 0);
}

/* Labels, and in rank queries. */
static inline void rows_label(const struct rows *rows, dualsvm_data *data) {
    if (strcmp(rows->family, "ml") == 0) {
        CALL(dualsvm_data_set_label_codes(data, rows->set_start, rows->set, set_names, SETS,
                                          &error));
        return;
    }
    CALL(dualsvm_data_set_label_numbers(data, rows->label, &error));
    if (strcmp(rows->family, "rank") == 0) {
        CALL(dualsvm_data_set_queries(data, rows->query, &error));
    }
}

/* The dense rows without labels, as data of any family. */
static inline dualsvm_data *rows_bare(const struct rows *rows, const char *family) {
    dualsvm_data *data;
    CALL(dualsvm_data_dense(&data, family, rows->dense, DUALSVM_FLOAT, ROWS, COLUMNS, COLUMNS, 0,
                            &error));
    return data;
}

enum { WAYS = 7 };

/* Creates the data from arrays in way 0 .. WAYS - 1: dense floats, borrowed or copied, dense
 * doubles with a stride, CSR of all types. */
static inline dualsvm_data *rows_data(const struct rows *rows, int way) {
    dualsvm_data *data = NULL;
    const char *family = rows->family;
    switch (way) {
    case 0:
    case 1:
        CALL(dualsvm_data_dense(&data, family, rows->dense, DUALSVM_FLOAT, ROWS, COLUMNS, COLUMNS,
                                way == 1 ? DUALSVM_LENT : 0, &error));
        break;
    case 2:
        CALL(dualsvm_data_dense(&data, family, rows->wide, DUALSVM_DOUBLE, ROWS, COLUMNS,
                                COLUMNS + 2, DUALSVM_LENT, &error));
        break;
    case 3:
    case 4:
        CALL(dualsvm_data_csr(&data, family, rows->start, rows->column, DUALSVM_INT32, rows->value,
                              DUALSVM_FLOAT, ROWS, COLUMNS, way == 4 ? DUALSVM_LENT : 0, &error));
        break;
    case 5:
        CALL(dualsvm_data_csr(&data, family, rows->start64, rows->column64, DUALSVM_INT64,
                              rows->value64, DUALSVM_DOUBLE, ROWS, COLUMNS, 0, &error));
        break;
    default: /* with columns beyond the stored ones */
        CALL(dualsvm_data_csr(&data, family, rows->start, rows->column, DUALSVM_INT32,
                              rows->value64, DUALSVM_DOUBLE, ROWS, 1000000, 0, &error));
    }
    rows_label(rows, data);
    return data;
}

static inline void rows_set(dualsvm_options *options, const char *name, const char *value) {
    CHECK(dualsvm_options_set(options, name, value, &error) == 0, "%s", error.text);
}

static inline dualsvm_options *rows_options(const char *family, int role) {
    dualsvm_options *options;
    CALL(dualsvm_options_create(&options, family, role, &error));
    if (role == DUALSVM_TRAIN && strcmp(family, "smm") == 0) {
        rows_set(options, "shape", "2x3");
    }
    return options;
}

static inline dualsvm_model *rows_train(const dualsvm_options *options, dualsvm_data *data) {
    dualsvm_model *model;
    CALL(dualsvm_train(&model, options, data, NULL, &error));
    return model;
}

/* All that a fit takes. */
struct task {
    struct rows rows;
    dualsvm_options *options;
    dualsvm_data *data;
};

/* way: of rows_data */
static inline void task_open(struct task *task, const char *family, int way) {
    rows_make(&task->rows, family, 1, 3);
    task->options = rows_options(family, DUALSVM_TRAIN);
    task->data = rows_data(&task->rows, way);
}

static inline void task_close(struct task *task) {
    dualsvm_data_free(task->data);
    dualsvm_options_free(task->options);
}

/* REFUSED(call, kind, words): the call fails with this kind and message. */
#define REFUSED(call, of_kind, words)                                                              \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        CHECK((call) == -1, "done");                                                               \
        CHECK(error.kind == (of_kind) && strstr(error.text, words), "%d: %s", error.kind,          \
              error.text);                                                                         \
    } while (0)

/* the kinds, short for tables of calls */
enum { F = DUALSVM_FAILED, U = DUALSVM_USAGE };

#endif
