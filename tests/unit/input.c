/* Reading svmlight text. Without arguments: whole reads and streams of generated files, spoiled
 * ones too, against a plain reference. Besides:
 *   input dump FILE number|name|set [optional] [precomputed] [stream] [threads=N]
 *   input time FILE threads
 * dump prints the rows as they are held, or the error on stderr; time says what reading took. */
#define _GNU_SOURCE /* mkstemp */
#include "common/input.h"
#include "common/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        printf("FAIL %s:%d: ", __FILE__, __LINE__);                                                \
        printf(__VA_ARGS__);                                                                       \
        putchar('\n');                                                                             \
        exit(1);                                                                                   \
    } while (0)

/* ---- dump ------------------------------------------------------------------------------------- */

static void dump_rows(const struct data *data) {
    for (size_t i = 0; i < data->n_rows; i++) {
        char text[NUMBER_LENGTH];
        switch (data->labels) {
        case DATA_NUMBER:
            if (isnan(data->target[i])) {
                printf("none");
            } else {
                number_format(data->target[i], text);
                printf("%s", text);
            }
            break;
        case DATA_NAME:
            printf("%s", data->label[i] == UINT32_MAX ? "none" : data->names.name[data->label[i]]);
            break;
        case DATA_SET:
            printf("{");
            for (uint64_t k = data->label_start[i]; k < data->label_start[i + 1]; k++) {
                printf("%s%s", k > data->label_start[i] ? "," : "",
                       data->names.name[data->label[k]]);
            }
            printf("}");
            break;
        }
        if (data->query) {
            printf(" qid:%" PRIu64, data->query[i]);
        }
        if (data->serial) {
            printf(" 0:%" PRIu64, data->serial[i]);
        }
        uint64_t first = data->row_start ? data->row_start[i] : (uint64_t)i * data->n_features;
        uint64_t last = data->row_start ? data->row_start[i + 1] : first + data->n_features;
        for (uint64_t k = first; k < last; k++) {
            number_format_float(data->value[k], text);
            printf(" %" PRIu64 ":%s",
                   data->row_start ? data->column[k] + UINT64_C(1) : k - first + 1, text);
        }
        putchar('\n');
    }
}

static void dump_head(const struct data *data) {
    printf("%zu rows, %" PRIu32 " features, %s\n", data->n_rows, data->n_features,
           data->row_start ? "sparse" : "dense");
}

static int dump(int argc, char **argv, struct error *err) {
    struct input_format format = {0};
    bool stream = false;
    size_t n_threads = 1;
    for (int i = 3; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "name") == 0) {
            format.labels = DATA_NAME;
        } else if (strcmp(word, "set") == 0) {
            format.labels = DATA_SET;
        } else if (strcmp(word, "optional") == 0) {
            format.label_optional = true;
        } else if (strcmp(word, "precomputed") == 0) {
            format.precomputed = true;
        } else if (strcmp(word, "stream") == 0) {
            stream = true;
        } else if (strncmp(word, "threads=", 8) == 0) {
            n_threads = strtoul(word + 8, NULL, 10);
        }
    }
    struct threads *threads = NULL;
    if (threads_create(&threads, n_threads, err) != 0) {
        return -1;
    }
    struct data data = {0};
    int status = 0;
    if (stream) {
        struct input *input;
        status = input_open(&input, argv[2], &format, threads, err);
        if (status == 0) {
            while ((status = input_next(input, &data, err)) == 0 && data.n_rows > 0) {
                dump_rows(&data);
            }
            input_close(input);
        }
    } else {
        status = input_read(&data, argv[2], &format, threads, err);
        if (status == 0) {
            dump_head(&data);
            dump_rows(&data);
        }
    }
    data_free(&data);
    threads_free(threads);
    return status;
}

/* ---- time ------------------------------------------------------------------------------------- */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double seconds_of(struct timeval t) {
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static int measure(char **argv, struct error *err) {
    struct input_format format = {.labels = DATA_NUMBER};
    struct threads *threads = NULL;
    struct data data;
    if (threads_create(&threads, strtoul(argv[3], NULL, 10), err) != 0) {
        return -1;
    }
    double start = seconds();
    int status = input_read(&data, argv[2], &format, threads, err);
    double wall = seconds() - start;
    if (status == 0) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        printf("%zu rows, %zu values, %s: wall %.3f s, user %.3f s, system %.3f s, peak %ld MB\n",
               data.n_rows, data_values(&data), data.row_start ? "sparse" : "dense", wall,
               seconds_of(usage.ru_utime), seconds_of(usage.ru_stime), usage.ru_maxrss / 1024);
        data_free(&data);
    }
    threads_free(threads);
    return status;
}

/* ---- Text that grows -------------------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t length, capacity;
};

static void text_bytes(struct text *text, const void *bytes, size_t n) {
    if (text->length + n + 1 > text->capacity) {
        text->capacity = 2 * (text->length + n + 1);
        text->bytes = realloc(text->bytes, text->capacity);
        if (!text->bytes) {
            FAIL("out of memory");
        }
    }
    memcpy(text->bytes + text->length, bytes, n);
    text->length += n;
    text->bytes[text->length] = '\0';
}

static void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void text_add(struct text *text, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text_bytes(text, line, (size_t)n);
}

/* ---- A plain reference ------------------------------------------------------------------------ */

/* What a file is to the reference: its rows in words (values as the bits of their floats, zeros
 * left out), or where it is wrong. */
struct reference {
    struct text rows;
    size_t n_rows;
    bool any_query;
    size_t error_line, error_column; /* 0: none */
};

struct line {
    char text[4096]; /* without the line's end, a NUL behind */
    size_t length;
};

static bool ref_blank(const struct line *line, size_t i) {
    return line->text[i] == ' ' || line->text[i] == '\t';
}

static bool ref_part_end(const struct line *line, size_t i) {
    return i == line->length || ref_blank(line, i) || line->text[i] == '#';
}

static bool ref_digit(const struct line *line, size_t i) {
    return i < line->length && line->text[i] >= '0' && line->text[i] <= '9';
}

/* Length of the number at i, 0 if there is none, and its value by strtod. */
static size_t ref_number(const struct line *line, size_t i, double *value) {
    size_t j = i, digits = 0;
    j += j < line->length && (line->text[j] == '-' || line->text[j] == '+');
    for (; ref_digit(line, j); j++) {
        digits++;
    }
    if (line->text[j] == '.') {
        for (j++; ref_digit(line, j); j++) {
            digits++;
        }
    }
    if (digits == 0) {
        return 0;
    }
    if (line->text[j] == 'e' || line->text[j] == 'E') {
        size_t k = j + 1;
        k += line->text[k] == '-' || line->text[k] == '+';
        if (ref_digit(line, k)) {
            for (j = k; ref_digit(line, j); j++) {
            }
        }
    }
    char copy[4096];
    memcpy(copy, line->text + i, j - i);
    copy[j - i] = '\0';
    *value = strtod(copy, NULL);
    return j - i;
}

/* Length of the run of digits at i, 0 if there is none or it is over most. */
static size_t ref_integer(const struct line *line, size_t i, uint64_t most, uint64_t *value) {
    size_t j = i;
    *value = 0;
    for (; ref_digit(line, j); j++) {
        uint64_t digit = (uint64_t)(line->text[j] - '0');
        if (*value > (UINT64_MAX - digit) / 10 || *value * 10 + digit > most) {
            return 0;
        }
        *value = *value * 10 + digit;
    }
    return j - i;
}

/* Appends the label part of the row's words. Returns 0, or the column (from 1) of what is wrong. */
static size_t ref_label(const struct line *line, const struct input_format *format, size_t *at,
                        struct text *words) {
    size_t end = *at;
    while (end < line->length && !ref_blank(line, end)) {
        end++;
    }
    const char *token = line->text + *at;
    size_t length = end - *at;
    bool none = memchr(token, ':', length) != NULL;
    if (format->labels == DATA_NUMBER) {
        double value;
        size_t n = ref_number(line, *at, &value);
        if (n > 0 && ref_part_end(line, *at + n) && isfinite(value)) {
            text_add(words, "%a", value);
            *at += n;
            return 0;
        }
        if (none && format->label_optional) {
            text_add(words, "none");
            return 0;
        }
        return n > 0 && !none && !ref_part_end(line, *at + n) ? *at + n + 1 : *at + 1;
    }
    if (format->labels == DATA_NAME) {
        if (none) {
            text_add(words, "none");
            return format->label_optional ? 0 : *at + 1;
        }
        const char *comma = memchr(token, ',', length), *nul = memchr(token, '\0', length);
        if (comma || nul) {
            return (size_t)((comma ? comma : nul) - line->text) + 1;
        }
        text_add(words, "%.*s", (int)length, token);
        *at = end;
        return 0;
    }
    if (*at > 0 || none) {
        return 0;
    }
    for (size_t first = 0; first <= end;) {
        size_t last = first;
        for (; last < end && line->text[last] != ','; last++) {
            if (line->text[last] == '\0') {
                return last + 1;
            }
        }
        if (last == first) {
            return first + 1;
        }
        for (size_t other = 0; other < first;) { /* the labels before this one */
            size_t other_end = other;
            while (line->text[other_end] != ',') {
                other_end++;
            }
            if (other_end - other == last - first &&
                memcmp(line->text + other, line->text + first, last - first) == 0) {
                return first + 1;
            }
            other = other_end + 1;
        }
        text_add(words, "%.*s,", (int)(last - first), line->text + first);
        first = last + 1;
    }
    *at = end;
    return 0;
}

/* One line: *row tells if it is a row. Returns 0, or the column of what is wrong. */
static size_t ref_line(const struct line *line, const struct input_format *format, bool *row,
                       bool *any_query, struct text *words) {
    size_t i = 0;
    while (ref_blank(line, i)) {
        i++;
    }
    *row = i < line->length && line->text[i] != '#';
    size_t wrong = *row ? ref_label(line, format, &i, words) : 0;
    uint64_t query = 0, serial = 0, last = 0;
    bool has_query = false, has_serial = false;
    struct text features = {0};
    text_add(&features, "%s", "");
    while (wrong == 0) {
        while (ref_blank(line, i)) {
            i++;
        }
        if (i == line->length || line->text[i] == '#') {
            const char *nul = memchr(line->text + i, '\0', line->length - i);
            wrong = *row && format->precomputed && !has_serial ? i + 1
                    : nul                                      ? (size_t)(nul - line->text) + 1
                                                               : 0;
            break;
        }
        uint64_t index;
        size_t n;
        double value;
        if (strncmp(line->text + i, "qid:", 4) == 0) {
            n = ref_integer(line, i + 4, UINT64_MAX, &query);
            if (has_query || has_serial || last > 0) {
                wrong = i + 1;
            } else if (n == 0 || !ref_part_end(line, i + 4 + n)) {
                wrong = i + 5;
            }
            has_query = true;
            i += 4 + n;
            continue;
        }
        n = ref_integer(line, i, UINT32_MAX - 1, &index);
        if (n == 0 || line->text[i + n] != ':') {
            wrong = i + 1;
            break;
        }
        size_t at = i + n + 1;
        if (format->precomputed && !has_serial) {
            n = ref_integer(line, at, UINT64_MAX, &serial);
            if (index != 0 || n == 0 || !ref_part_end(line, at + n)) {
                wrong = index != 0 ? i + 1 : at + 1;
            }
            has_serial = true;
            i = at + n;
            continue;
        }
        if (index <= last) {
            wrong = i + 1;
            break;
        }
        n = ref_number(line, at, &value);
        if (n == 0) {
            wrong = at + 1;
        } else if (!ref_part_end(line, at + n)) {
            wrong = at + n + 1;
        } else if (isinf((float)value)) {
            wrong = at + 1;
        }
        last = index;
        i = at + n;
        if (wrong == 0 && (float)value != 0) {
            text_add(&features, " %" PRIu64 ":%a", index, (double)(float)value);
        }
    }
    if (wrong == 0 && *row) {
        text_add(words, " qid %" PRIu64 " serial %" PRIu64, query, serial);
        text_bytes(words, features.bytes, features.length);
        text_add(words, "\n");
        *any_query |= has_query;
    }
    free(features.bytes);
    return wrong;
}

static struct reference ref_read(const struct text *text, const struct input_format *format) {
    struct reference reference = {0};
    text_add(&reference.rows, "%s", "");
    size_t line_number = 0;
    static struct line line;
    for (size_t first = 0; first < text->length && reference.error_line == 0;) {
        const char *newline = memchr(text->bytes + first, '\n', text->length - first);
        size_t last = newline ? (size_t)(newline - text->bytes) : text->length;
        line.length = last - first;
        if (line.length >= sizeof line.text) {
            FAIL("a line of the test is too long");
        }
        memcpy(line.text, text->bytes + first, line.length);
        if (line.length > 0 && line.text[line.length - 1] == '\r') {
            line.length--;
        }
        line.text[line.length] = '\0';
        line_number++;
        bool row;
        size_t column = ref_line(&line, format, &row, &reference.any_query, &reference.rows);
        if (column > 0) {
            reference.error_line = line_number;
            reference.error_column = column;
        }
        reference.n_rows += row;
        first = last + 1;
    }
    return reference;
}

/* ---- What was read, in the reference's words -------------------------------------------------- */

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
        text_add(words, " qid %" PRIu64 " serial %" PRIu64, data->query ? data->query[i] : 0,
                 data->serial ? data->serial[i] : 0);
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

/* ---- Generated files -------------------------------------------------------------------------- */

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
    static const char *const names[] = {"a", "bc", "+1", "-1", "C#", "\xc3\xa4", "long-name"};
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
        text_add(text, "%sqid:%zu", separator, random_below(5));
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
    for (int i = 0; i < 24; i++) {
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

/* Rows that are dense up to the last, in a later block than the first: columns and row starts are
 * made late, zeros dropped. */
static void check_late_sparse(const char *path) {
    struct input_format format = {.labels = DATA_NUMBER};
    struct error err;
    for (int last = 0; last < 3; last++) {
        FILE *file = fopen(path, "wb");
        enum { ROWS = 100000 };
        for (int i = 0; file && i < ROWS; i++) {
            fprintf(file, "%d 1:%d 2:0 3:0.5 4:-0 5:7\n", i, i % 3);
        }
        if (!file || fputs(last == 1 ? "1 2:3\n" : last == 2 ? "1 1:1 2:1 3:1 4:1 5:1 6:1\n" : "",
                           file) < 0 ||
            fclose(file) != 0) {
            FAIL("cannot write %s", path);
        }
        struct data data;
        if (input_read(&data, path, &format, NULL, &err) != 0) {
            FAIL("%s", err.text);
        }
        size_t kept = 2 * ROWS + 2 * (ROWS / 3);
        if ((data.row_start == NULL) != (last == 0) || (data.column == NULL) != (last == 0) ||
            data.n_rows != (last == 0 ? ROWS : ROWS + 1) || data.n_features != (last == 2 ? 6 : 5) ||
            data_values(&data) != (last == 0 ? (size_t)5 * ROWS : kept + (last == 1 ? 1 : 6))) {
            FAIL("last row %d: %zu rows, %zu values", last, data.n_rows, data_values(&data));
        }
        for (size_t i = 0; i < ROWS; i++) {
            double row[6];
            data_row_dense(&data, i, 6, row);
            if (row[0] != (double)(i % 3) || row[1] != 0 || row[2] != 0.5 || row[3] != 0 ||
                row[4] != 7 || row[5] != 0 || data.target[i] != (double)i) {
                FAIL("row %zu", i);
            }
        }
        data_free(&data);
    }
    puts("ok: rows are dense until one is not");
}

int main(int argc, char **argv) {
    struct error err;
    if (argc >= 4 && strcmp(argv[1], "dump") == 0) {
        if (dump(argc, argv, &err) != 0) {
            fflush(stdout);
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "time") == 0) {
        if (measure(argv, &err) != 0) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        return 0;
    }
    if (argc != 1) {
        fprintf(stderr, "usage: input [dump FILE ... | time FILE threads]\n");
        return 2;
    }
    char path[4096];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/dualsvm-input-XXXXXX", folder ? folder : "/tmp");
    int file = mkstemp(path);
    if (file < 0) {
        FAIL("cannot write into %s", folder ? folder : "/tmp");
    }
    close(file);
    check_generated(path);
    check_late_sparse(path);
    remove(path);
    return 0;
}
