/* Whole reads and streams of generated svmlight files, spoiled ones too, against a plain reference.
 * What single files become, dump prints. */
#define _GNU_SOURCE /* mkstemp */
#include "common/data/input.h"
#include "common/base/number.h"
#include "tests/unit/common/data/input_reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- What was read, in the reference's words ------------------------------------------------ */

static void describe_rows(const struct data *data, struct text *words) {
    for (size_t i = 0; i < data->n_rows; i++) {
        if (data->labels == DATA_NUMBER) {
            if (isnan(data->target[i])) {
                text_add(words, "none");
            } else {
                text_add(words, "%a", data->target[i]);
            }
        } else if (data->labels == DATA_NAME) {
            text_add(words, "%s",
                     data->label[i] == UINT32_MAX ? "none" : data->names.name[data->label[i]]);
        } else {
            for (uint64_t k = data->label_start[i]; k < data->label_start[i + 1]; k++) {
                text_add(words, "%s,", data->names.name[data->label[k]]);
            }
        }
        char number[DATA_QUERY_TEXT];
        const char *qid = data_query_text(&data->queries, data->query ? data->query[i] : 0, number);
        ref_query(words, qid, strlen(qid));
        text_add(words, " serial %" PRIu64, data->serial ? data->serial[i] : 0);
        uint64_t first = data->row_start ? data->row_start[i] : (uint64_t)i * data->n_features;
        uint64_t last = data->row_start ? data->row_start[i + 1] : first + data->n_features;
        for (uint64_t k = first; k < last; k++) {
            if (data->value[k] != 0) {
                text_add(words, " %" PRIu64 ":%a",
                         data->row_start ? data->column[k] + UINT64_C(1) : k - first + 1,
                         (double)data->value[k]);
            } else if (data->row_start) {
                FAIL("a zero is stored in sparse rows");
            }
        }
        text_add(words, "\n");
    }
}

static int read_streamed(const char *path, const struct input_format *format,
                         struct threads *threads, struct text *words, size_t *n_rows,
                         struct error *err) {
    struct input *input;
    struct data block = {0};
    if (input_open(&input, path, format, threads, err) != 0) {
        return -1;
    }
    int status;
    *n_rows = 0;
    while ((status = input_next(input, &block, err)) == 0 && block.n_rows > 0) {
        describe_rows(&block, words);
        *n_rows += block.n_rows;
    }
    data_free(&block);
    input_close(input);
    return status;
}

static void compare(const struct text *text, const struct input_format *format, const char *path,
                    struct threads *threads, bool stream) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text->bytes, 1, text->length, file) != text->length || fclose(file) != 0) {
        FAIL("cannot write %s", path);
    }
    struct reference reference = ref_read(text, format);
    struct text words = {0};
    text_add(&words, "%s", "");
    struct data data = {0};
    struct error err = {0};
    size_t n_rows = 0;
    int status = stream ? read_streamed(path, format, threads, &words, &n_rows, &err)
                        : input_read(&data, path, format, threads, &err);
    if (status == 0 && !stream) {
        describe_rows(&data, &words);
        n_rows = data.n_rows;
        if ((data.query != NULL) != reference.any_query) {
            FAIL("query is %s", data.query ? "there" : "not there");
        }
    }
    if (reference.error_line > 0) {
        char place[600];
        snprintf(place, sizeof place, "%s:%zu:%zu: ", path, reference.error_line,
                 reference.error_column);
        if (status == 0 || strncmp(err.text, place, strlen(place)) != 0) {
            FAIL("the reference fails at %zu:%zu; here: %s; %s", reference.error_line,
                 reference.error_column, status == 0 ? "no error" : err.text, path);
        }
    } else if (reference.n_rows == 0 && !stream) {
        if (status == 0 || !strstr(err.text, ": no rows")) {
            FAIL("no rows: %s", status == 0 ? "no error" : err.text);
        }
    } else if (status != 0 || n_rows != reference.n_rows ||
               (n_rows > 0 && strcmp(words.bytes, reference.rows.bytes) != 0)) {
        FAIL("%zu rows, not %zu, or other ones: %s; %s", n_rows, reference.n_rows,
             status ? err.text : "", path);
    }
    data_free(&data);
    free(words.bytes);
    free(reference.rows.bytes);
}

/* ---- Generated files ------------------------------------------------------------------------ */

static uint64_t state = 88172645463325252u;

static size_t random_below(size_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state * 2685821657736338717u >> 11) % n;
}

static void generate_number(struct text *text) {
    double unit = (double)random_below((size_t)1 << 53) * 0x1p-53;
    switch (random_below(10)) {
    case 0:
        text_add(text, "%zu", random_below(3));
        break;
    case 1:
        text_add(text, "-%zu", random_below(3));
        break;
    case 2:
        text_add(text, "%.17g", unit);
        break;
    case 3:
        text_add(text, "%.*f", (int)random_below(22), (unit - 0.5) * 1000);
        break;
    case 4:
        text_add(text, "%.*e", (int)random_below(20), unit);
        break;
    case 5:
        text_add(text, "+%zu.", random_below(1000000000));
        break;
    default:
        text_add(text, "%.6g", unit);
    }
}

enum style { SPARSE, DENSE, NEARLY_DENSE };

static void generate_row(struct text *text, const struct input_format *format, enum style style,
                         bool queries) {
    static const char *const blanks[] = {" ", " ", " ", " ", "\t", "  ", " \t "};
    /* no two that are one number, whatever is spoiled: the reference compares names by their
     * bytes */
    static const char *const names[] = {"a", "bc", "+x", "-1", "C#", "\xc3\xa4", "long-name"};
    enum { N_NAMES = sizeof names / sizeof *names, N_BLANKS = sizeof blanks / sizeof *blanks };
    bool none = format->label_optional && random_below(4) == 0;
    if (format->labels == DATA_SET && !none) {
        size_t first = random_below(N_NAMES), n = random_below(3) + 1;
        for (size_t i = 0; i < n; i++) {
            text_add(text, "%s%s", i > 0 ? "," : "", names[(first + i) % N_NAMES]);
        }
    } else if (format->labels == DATA_NAME && !none) {
        text_add(text, "%s", names[random_below(N_NAMES)]);
    } else if (!none) {
        generate_number(text);
    }
    bool blank = !none || format->labels == DATA_SET;
    bool bare = none;
    if (queries && random_below(5) > 0) {
        const char *separator = blank ? " " : "";
        static const char *const qids[] = {"0", "1", "2", "3", "4", "Eawag", "a:b", "-1", "1e3"};
        text_add(text, "%sqid:%s", separator, qids[random_below(sizeof qids / sizeof qids[0])]);
        blank = true;
        bare = false;
    }
    if (format->precomputed) {
        text_add(text, "%s0:%zu", blank ? " " : "", random_below(100));
        blank = true;
        bare = false;
    }
    size_t n = style == SPARSE ? random_below(20) + bare : 17, index = 0;
    for (size_t i = 0; i < n; i++) {
        index += style == SPARSE ? random_below(random_below(8) == 0 ? 100000000 : 20) + 1 : 1;
        index += style == NEARLY_DENSE && random_below(2000) == 0;
        text_add(text, "%s%zu:", blank ? blanks[random_below(N_BLANKS)] : "", index);
        generate_number(text);
        blank = true;
    }
    if (random_below(20) == 0) {
        text_add(text, " # comment 3:4");
    } else if (random_below(20) == 0) {
        text_add(text, "  ");
    }
    text_add(text, random_below(10) == 0 ? "\r\n" : "\n");
    if (random_below(30) == 0) {
        text_add(text, random_below(2) ? "\n" : "# a comment\n");
    }
}

/* Puts something where it does not belong. */
static void spoil(struct text *text) {
    static const char bytes[] = "0123456789::::  \t\t,.-+eE#\n\n\rqxn";
    for (size_t i = random_below(2) + 1; i > 0 && text->length > 0; i--) {
        size_t at = random_below(text->length);
        switch (random_below(5)) {
        case 0:
            text->bytes[at] = '\0';
            break;
        case 1: /* a byte less */
            memmove(text->bytes + at, text->bytes + at + 1, text->length - at);
            text->length--;
            break;
        case 2: { /* a part twice */
            size_t n = random_below(12);
            n = n < text->length - at ? n : text->length - at;
            char part[16];
            memcpy(part, text->bytes + at, n);
            text_bytes(text, part, n);
            memmove(text->bytes + at + n, text->bytes + at, text->length - n - at);
            memcpy(text->bytes + at, part, n);
            break;
        }
        default:
            text->bytes[at] = bytes[random_below(sizeof bytes - 1)];
        }
    }
}

static struct input_format random_format(void) {
    struct input_format format = {.labels = random_below(3) == 0   ? DATA_NAME
                                            : random_below(2) == 0 ? DATA_SET
                                                                   : DATA_NUMBER,
                                  .label_optional = random_below(3) == 0,
                                  .precomputed = random_below(5) == 0};
    return format;
}

static void generate(struct text *text, const struct input_format *format, size_t bytes) {
    enum style style = (enum style)random_below(3);
    bool queries = random_below(3) == 0;
    text->length = 0;
    text_add(text, "%s", random_below(4) == 0 ? "# first\n" : "");
    while (text->length < bytes) {
        generate_row(text, format, style, queries);
    }
    if (text->length > 0 && random_below(4) == 0) {
        text->length--; /* the last newline */
    }
}

static void check_generated(const char *path) {
    struct error err;
    struct threads *threads;
    struct text text = {0};
    if (threads_create(&threads, 3, &err) != 0) {
        FAIL("%s", err.text);
    }
    for (int i = 0; i < 3000; i++) {
        struct input_format format = random_format();
        generate(&text, &format, random_below(600));
        if (i % 2) {
            spoil(&text);
        }
        compare(&text, &format, path, i % 3 ? threads : NULL, i % 5 == 0);
    }
    puts("ok: small files, right and wrong ones, as the plain reference reads them");
    for (int i = 0; i < 24; i += quick_step(5)) {
        struct input_format format = random_format();
        generate(&text, &format, ((size_t)i % 4 + 1) << 19);
        compare(&text, &format, path, i % 3 ? threads : NULL, i % 2);
        spoil(&text);
        compare(&text, &format, path, i % 3 ? threads : NULL, i % 2);
    }
    puts("ok: files of many blocks, right and wrong ones, as the plain reference reads them");
    free(text.bytes);
    threads_free(threads);
}

/* Rows that are dense up to a later block than the first: columns and row starts are then made
 * late, zeros dropped; and rows before the first that has a qid, of query 0. */
static void check_late_changes(const char *path) {
    enum { ROWS = 100000 };
    static const struct {
        const char *row; /* behind the dense ones */
        int times;
        uint32_t n_features;
        size_t n_values; /* of each */
    } ends[] = {{"1 1:0 2:0 3:0 4:0 5:0\n", 1, 5, 5},
                {"1 2:3\n", 1, 5, 1},
                {"1 1:1 2:1 3:1 4:1 5:1 6:1\n", 1, 6, 6},
                {"1 1:1 2:1 3:1 4:1\n", ROWS, 5, 4},
                {"1 qid:3 1:1 2:1 3:1 4:1\n", 1, 5, 4}};
    struct input_format format = {.labels = DATA_NUMBER};
    struct error err;
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        FILE *file = fopen(path, "wb");
        for (int i = 0; file && i < ROWS; i++) {
            fprintf(file, "%d 1:%d 2:0 3:0.5 4:-0 5:7\n", i, i % 3);
        }
        for (int i = 0; file && i < ends[e].times; i++) {
            fputs(ends[e].row, file);
        }
        if (!file || fclose(file) != 0) {
            FAIL("cannot write %s", path);
        }
        struct data data;
        if (input_read(&data, path, &format, NULL, &err) != 0) {
            FAIL("%s", err.text);
        }
        bool dense = e == 0;
        size_t last = (size_t)ends[e].times;
        size_t kept = dense ? (size_t)5 * ROWS : 2 * ROWS + 2 * (ROWS / 3);
        if ((data.row_start == NULL) != dense || (data.column == NULL) != dense ||
            data.n_rows != ROWS + last || data.n_features != ends[e].n_features ||
            data_values(&data) != kept + last * ends[e].n_values) {
            FAIL("end %zu: %zu rows, %zu values", e, data.n_rows, data_values(&data));
        }
        if ((data.query != NULL) != (e == 4) || (data.query && data.query[ROWS] != 3)) {
            FAIL("end %zu: qid", e);
        }
        for (size_t i = 0; i < ROWS; i++) {
            double row[6];
            data_row_dense(&data, i, 6, row);
            if (row[0] != (double)(i % 3) || row[1] != 0 || row[2] != 0.5 || row[3] != 0 ||
                row[4] != 7 || row[5] != 0 || data.target[i] != (double)i ||
                (data.query && data.query[i] != 0)) {
                FAIL("end %zu: row %zu", e, i);
            }
        }
        data_free(&data);
    }
    puts("ok: rows are dense until one is not, of query 0 before the first qid");
}

/* Rows that change where one block ends and the next begins: each is uniform in itself. */
static void check_block_edge(const char *path) {
    static const char two[] = "1 1:0.50 2:0.25\n", one[] = "1 1:0.500000000\n";
    enum { ROW = sizeof one - 1, ROWS = (1 << 18) / ROW };
    _Static_assert(sizeof two == sizeof one && ROWS * ROW == 1 << 18, "rows that fill a block");
    struct input_format format = {.labels = DATA_NUMBER};
    struct error err;
    for (int order = 0; order < 2; order++) {
        FILE *file = fopen(path, "wb");
        for (int i = 0; file && i < 2 * ROWS; i++) {
            fputs((i < ROWS) == (order == 0) ? two : one, file);
        }
        struct data data;
        if (!file || fclose(file) != 0 || input_read(&data, path, &format, NULL, &err) != 0) {
            FAIL("%s: %s", path, err.text);
        }
        if (!data.row_start || data_values(&data) != 3 * ROWS || data.n_features != 2) {
            FAIL("order %d: %zu values", order, data_values(&data));
        }
        for (size_t i = 0; i < data.n_rows; i++) {
            double row[2];
            data_row_dense(&data, i, 2, row);
            if (row[0] != 0.5 || row[1] != ((i < ROWS) == (order == 0) ? 0.25 : 0)) {
                FAIL("order %d: row %zu", order, i);
            }
        }
        data_free(&data);
    }
    puts("ok: rows that change between blocks");
}

int main(void) {
    char path[4096];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/dualsvm-input-XXXXXX", folder ? folder : "/tmp");
    int file = mkstemp(path);
    if (file < 0) {
        FAIL("cannot write into %s", folder ? folder : "/tmp");
    }
    close(file);
    check_generated(path);
    check_late_changes(path);
    check_block_edge(path);
    remove(path);
    return 0;
}
