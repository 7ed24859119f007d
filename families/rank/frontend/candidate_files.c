/* Reads the tables line by line (candidate_files.h). */
#include "families/rank/frontend/candidate_files.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/data/lines.h"
#include "common/data/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 3 };

struct field {
    const char *text;
    size_t length;
};

/* A file that is being read, and what is read from it: one of the two. */
struct table {
    const char *path; /* as shown in errors */
    struct feature_times *times;
    struct right_names *right;
};

/* Fails with "FILE:LINE: WHAT: 'TEXT'". */
static int refuse(const struct table *table, size_t row, const char *what, struct field field,
                  struct error *err) {
    return error_set(err, ERROR_RUNTIME, "%s:%zu: %s: '%.*s'", table->path, row + 1, what,
                     field.length < 100 ? (int)field.length : 100, field.text);
}

/* Refuses a line with a NUL byte: such a file is not text. */
static int check_text(const struct table *table, size_t row, struct field line, struct error *err) {
    return memchr(line.text, '\0', line.length) ? refuse(table, row, "NUL byte", line, err) : 0;
}

/* Splits a line at tabs; returns the number of fields, of which MAX_FIELDS are stored. */
static size_t split(const char *text, size_t length, struct field field[MAX_FIELDS]) {
    size_t n = 0;
    for (const char *end = text + length, *tab; text <= end; text = tab + 1, n++) {
        tab = memchr(text, '\t', (size_t)(end - text));
        tab = tab ? tab : end;
        if (n < MAX_FIELDS) {
            field[n] = (struct field){text, (size_t)(tab - text)};
        }
    }
    return n;
}

/* Adds a feature, which must be new. *n gets the number of features before. */
static int add_feature(const struct table *table, struct names *features, size_t row,
                       struct field field, size_t *n, struct error *err) {
    uint32_t number;
    *n = features->n;
    if (field.length == 0) {
        return refuse(table, row, "the feature is empty", field, err);
    }
    if (names_add(features, field.text, field.length, &number, err) < 0) {
        return -1;
    }
    return number < *n ? refuse(table, row, "the feature is listed twice", field, err) : 0;
}

static int take_time(void *context, size_t row, const char *text, size_t length,
                     struct error *err) {
    const struct table *table = context;
    struct feature_times *times = table->times;
    struct field field[MAX_FIELDS] = {{"", 0}, {"", 0}, {"", 0}};
    size_t n_fields = split(text, length, field), n;
    double minutes = 0;
    if (length == 0) {
        return 0;
    }
    const struct field line = {text, length};
    if (check_text(table, row, line, err) < 0) {
        return -1;
    }
    if (n_fields < 2 || n_fields > 3) {
        return refuse(table, row, "not a line `feature TAB minutes [TAB run]`", line, err);
    }
    bool number = number_parse(field[1].text, field[1].text + field[1].length, &minutes) ==
                  field[1].text + field[1].length;
    if (!number && row == 0) {
        return 0; /* a header */
    }
    if (!number || !isfinite(minutes)) {
        return refuse(table, row, "minutes are not a number", field[1], err);
    }
    if (add_feature(table, &times->features, row, field[0], &n, err) < 0) {
        return -1;
    }
    size_t room = memory_room(0, n);
    if (memory_grow(&times->minutes, room, n + 1, sizeof *times->minutes, "times", err) < 0 ||
        memory_grow(&times->run, room, n + 1, sizeof *times->run, "times", err) < 0) {
        return -1;
    }
    times->minutes[n] = minutes;
    return names_add(&times->runs, field[2].text, field[2].length, &times->run[n], err);
}

static int take_name(void *context, size_t row, const char *text, size_t length,
                     struct error *err) {
    const struct table *table = context;
    struct right_names *right = table->right;
    struct field field[MAX_FIELDS];
    size_t n_fields = split(text, length, field), n;
    const struct field line = {text, length};
    if (length == 0) {
        return 0;
    }
    if (check_text(table, row, line, err) < 0) {
        return -1;
    }
    if (n_fields != 2) {
        return refuse(table, row, "not a line `feature TAB name`", line, err);
    }
    if (add_feature(table, &right->features, row, field[0], &n, err) < 0 ||
        memory_grow(&right->name, memory_room(0, n), n + 1, sizeof *right->name, "names", err) <
            0) {
        return -1;
    }
    right->name[n] = memory_text(field[1].text, field[1].length, "names", err);
    right->n += right->name[n] != NULL;
    return right->name[n] ? 0 : -1;
}

static int read_table(struct table *table, const char *path, const struct names *features,
                      lines_take *take, struct error *err) {
    table->path = source_shown(path);
    if (lines_each(path, SIZE_MAX, take, table, err) < 0) {
        return -1;
    }
    return features->n > 0 ? 0 : error_set(err, ERROR_RUNTIME, "%s: no feature", table->path);
}

int feature_times_read(struct feature_times *times, const char *path, struct error *err) {
    struct table table = {.times = times};
    *times = (struct feature_times){0};
    return read_table(&table, path, &times->features, take_time, err);
}

void feature_times_free(struct feature_times *times) {
    names_free(&times->features);
    names_free(&times->runs);
    free(times->minutes);
    free(times->run);
    *times = (struct feature_times){0};
}

int right_names_read(struct right_names *right, const char *path, struct error *err) {
    struct table table = {.right = right};
    *right = (struct right_names){0};
    return read_table(&table, path, &right->features, take_name, err);
}

void right_names_free(struct right_names *right) {
    for (size_t i = 0; i < right->n; i++) {
        free(right->name[i]);
    }
    free(right->name);
    names_free(&right->features);
    *right = (struct right_names){0};
}
