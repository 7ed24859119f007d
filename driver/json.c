/* Values, strings and members of JSON (json.h). */
#include "driver/json.h"

#include "common/base/number.h"
#include "include/dualsvm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- strings ---- */

/* The length of the UTF-8 sequence at the front of the text; 0 if there is none (overlong forms,
 * surrogates and numbers above 0x10ffff are none). */
static size_t sequence_length(const unsigned char *text) {
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80         ? 1
                    : text[0] >> 5 == 0x06 ? 2
                    : text[0] >> 4 == 0x0e ? 3
                    : text[0] >> 3 == 0x1e ? 4
                                           : 0;
    if (length < 2) {
        return length;
    }
    unsigned number = text[0] & (0xffU >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if (text[i] >> 6 != 0x02) { /* also at the NUL */
            return 0;
        }
        number = number << 6 | (text[i] & 0x3fU);
    }
    return number < least[length] || number > 0x10ffff || number >> 11 == 0x1b ? 0 : length;
}

static void write_string(struct output *output, const char *text, size_t n) {
    const unsigned char *at = (const unsigned char *)text, *end = at + n;
    output_write(output, "\"", 1);
    while (at < end) {
        size_t length = sequence_length(at);
        length = length > (size_t)(end - at) ? 0 : length;
        if (length == 0) {
            output_format(output, "\\udc%02x", *at);
        } else if (*at < 0x20 || *at == 0x7f) {
            output_format(output, "\\u%04x", *at);
        } else if (*at == '"' || *at == '\\') {
            output_format(output, "\\%c", *at);
        } else {
            output_write(output, at, length);
        }
        at += length ? length : 1;
    }
    output_write(output, "\"", 1);
}

/* ---- values ---- */

/* The name of a member, which may be part of a line. */
struct member {
    const char *name; /* NULL: an item of an array, or the object of a run */
    size_t n_name;
};

/* Writes the comma before a value, and the name of its member. */
static void start(struct json *json, struct member member) {
    output_text(json->output, json->follows ? ", " : "");
    json->follows = true;
    if (member.name) {
        write_string(json->output, member.name, member.n_name);
        output_write(json->output, ": ", 2);
    }
}

static void number(struct json *json, struct member member, double value) {
    start(json, member);
    if (isfinite(value)) {
        output_number(json->output, value);
    } else {
        output_text(json->output, "null");
    }
}

static void text(struct json *json, struct member member, const char *value, size_t n) {
    start(json, member);
    write_string(json->output, value, n);
}

static struct member member_of(const char *name) {
    return (struct member){name, name ? strlen(name) : 0};
}

void json_open(struct json *json, const char *name, char bracket) {
    if (json->output) {
        start(json, member_of(name));
        output_write(json->output, &bracket, 1);
        json->follows = false;
    }
}

void json_close(struct json *json, char bracket) {
    if (json->output) {
        output_write(json->output, &bracket, 1);
        json->follows = true;
    }
}

void json_number(struct json *json, const char *name, double value) {
    if (json->output) {
        number(json, member_of(name), value);
    }
}

void json_text(struct json *json, const char *name, const char *value) {
    if (json->output) {
        text(json, member_of(name), value, strlen(value));
    }
}

/* ---- runs ---- */

static void write_weights(struct json *json, const struct option *option) {
    json_open(json, option->spec.name, '{');
    for (size_t k = 0; json->output && k < option->n_weights; k++) {
        const struct option_weight *weight = &option->weights[k];
        number(json, (struct member){weight->key, weight->key_length}, weight->weight);
    }
    json_close(json, '}');
}

void json_begin_run(struct json *json, const char *program, const struct options *options,
                    const char *const *files, size_t n) {
    json_open(json, NULL, '{');
    json_text(json, "program", program);
    json_text(json, "version", DUALSVM_VERSION);
    json_open(json, "options", '{');
    for (size_t i = 0; i < options->n; i++) {
        const struct option *option = &options->option[i];
        if (option->given && option->spec.kind == OPTION_WEIGHTS) {
            write_weights(json, option);
        } else if (option->given) {
            json_text(json, option->spec.name, option->text);
        }
    }
    json_close(json, '}');
    json_open(json, "files", '[');
    for (size_t i = 0; i < n; i++) {
        json_text(json, NULL, files[i]);
    }
    json_close(json, ']');
}

void json_end_run(struct json *json) {
    json_close(json, '}');
    if (json->output) {
        output_write(json->output, "\n", 1);
        json->follows = false;
    }
}

/* ---- lines of reports ---- */

/* Parses a number, `nan`, `inf` or `-inf` from the front of [at, end). Returns the end of it; NULL:
 * there is none. */
static const char *parse(const char *at, const char *end, double *value) {
    static const struct {
        const char *name;
        double value;
    } words[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}, {"none", NAN}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i].name);
        if ((size_t)(end - at) >= n && memcmp(at, words[i].name, n) == 0) {
            *value = words[i].value;
            return at + n;
        }
    }
    return number_parse(at, end, value);
}

static void line_value(struct json *json, struct member member, const char *value,
                       const char *end) {
    double low, high;
    const char *at = parse(value, end, &low);
    if (at == end) {
        number(json, member, low);
    } else if (at && strncmp(at, " .. ", 4) == 0 && parse(at + 4, end, &high) == end) {
        start(json, member);
        json->follows = false;
        output_write(json->output, "[", 1);
        number(json, member_of(NULL), low);
        number(json, member_of(NULL), high);
        json_close(json, ']');
    } else if (at && strncmp(at, " (", 2) == 0 && end[-1] == ')') {
        char note[64];
        snprintf(note, sizeof note, "%.*s-note", (int)member.n_name, member.name);
        number(json, member, low);
        text(json, member_of(note), at + 2, (size_t)(end - at) - 3);
    } else {
        text(json, member, value, (size_t)(end - value));
    }
}

static bool is_note(const char *line) {
    return strncmp(line, "note = ", 7) == 0;
}

/* Writes the line as members, unless it is a note. */
static void take_line(struct json *json, const char *line) {
    const char *equals = strstr(line, " = "), *end = line + strlen(line);
    if (equals && !is_note(line)) {
        line_value(json, (struct member){line, (size_t)(equals - line)}, equals + 3, end);
    } else if (!equals) {
        size_t n = strcspn(line, ":");
        text(json, member_of("verdict"), line, n);
        if (line[n]) {
            json_text(json, "reason", line + n + strspn(line + n, ": "));
        }
    }
}

void json_report(struct json *json, char *lines) {
    size_t n_notes = 0;
    for (char *line = lines, *next; json->output && *line; line = next) {
        char *end = strchr(line, '\n');
        next = end ? end + 1 : line + strlen(line);
        if (end) {
            *end = '\0';
        }
        take_line(json, line);
        if (is_note(line)) { /* the notes move to the front */
            size_t length = strlen(line) - 6;
            memmove(lines + n_notes, line + 7, length);
            n_notes += length;
            lines[n_notes - 1] = '\n';
        }
    }
    if (n_notes > 0) {
        lines[n_notes] = '\0';
        json_lines(json, "notes", lines);
    }
}

void json_lines(struct json *json, const char *name, const char *lines) {
    if (!json->output || !lines || !*lines) {
        return;
    }
    json_open(json, name, '[');
    for (const char *line = lines, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        text(json, member_of(NULL), line, (size_t)(end - line));
    }
    json_close(json, ']');
}

/* ---- rows of tables ---- */

void json_row(struct json *json, const char *header, const char *row, size_t n) {
    json_open(json, NULL, '{');
    for (const char *cell = row, *end = row + n; json->output && cell <= end;) {
        const char *tab = memchr(cell, '\t', (size_t)(end - cell)), *stop = tab ? tab : end;
        const struct member member = {header, strcspn(header, "\t\n")};
        double value = NAN;
        if (cell == stop || number_parse(cell, stop, &value) == stop) {
            number(json, member, value);
        } else {
            text(json, member, cell, (size_t)(stop - cell));
        }
        header += member.n_name + 1;
        cell = stop + 1;
    }
    json_close(json, '}');
}
