/* Names in comments, and the ends of lines of predictions (row_names.h). */
#include "families/shared/row_names.h"

#include "common/model/label_line.h"

#include <string.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static size_t skip_blanks(const char *text, size_t at, size_t end) {
    while (at < end && is_blank(text[at])) {
        at++;
    }
    return at;
}

static size_t skip_word(const char *text, size_t at, size_t end) {
    while (at < end && !is_blank(text[at])) {
        at++;
    }
    return at;
}

struct row_name row_name_in(const char *comment, size_t length, bool first_word) {
    static const char key[] = "docid";
    size_t first = 0, end = length;
    if (length >= sizeof key && memcmp(comment, key, sizeof key - 1) == 0) {
        size_t at = skip_blanks(comment, sizeof key - 1, length);
        if (at < length && comment[at] == '=') {
            first = skip_blanks(comment, at + 1, length);
            first_word = true;
        }
    }
    end = first_word ? skip_word(comment, first, length) : end;
    return (struct row_name){comment + first, end - first};
}

void row_name_write(struct row_name name, size_t number, struct output *output) {
    if (name.length == 0) {
        output_format(output, "%zu", number + 1);
        return;
    }
    for (size_t i = 0; i < name.length; i++) {
        output_write(output, name.text[i] == '\t' ? " " : &name.text[i], 1);
    }
}

bool row_names_wanted(const struct options *options) {
    return options_given(options, "names");
}

struct row_names row_names_open(const struct options *options) {
    bool wanted = row_names_wanted(options);
    return (struct row_names){.wanted = wanted,
                              .header = options_given(options, "header"),
                              .separator = wanted ? "\t" : " "};
}

int row_names_check_header(const struct options *options, bool there, struct error *err) {
    return options_given(options, "header") && !options_given(options, "scores") && !there
               ? error_set(err, ERROR_USAGE, "--header is for --scores")
               : 0;
}

void row_names_header(struct row_names *names, const struct labels *labels, struct output *output) {
    if (!names->header) {
        return;
    }
    names->header = false;
    if (labels) {
        output_text(output, LABELS_KEY);
        for (size_t k = 0; k < labels->names.n; k++) {
            output_format(output, "%s%s", names->separator, labels->names.name[k]);
        }
    } else {
        output_format(output, "label%sscore", names->separator);
    }
    output_text(output, names->wanted ? "\tname\n" : "\n");
}

void row_names_end_line(struct row_names *names, const struct data *rows, size_t i,
                        struct output *output) {
    if (names->wanted) {
        const uint64_t *start = rows->remark_start + i;
        output_write(output, "\t", 1);
        row_name_write(row_name_in(rows->remark + start[0], (size_t)(start[1] - start[0]), false),
                       names->n, output);
    }
    output_write(output, "\n", 1);
    names->n++;
}
