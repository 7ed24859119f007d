/* The parser of the command line: it separates options from operands, parses and checks the values,
 * and numbers the points of the sweep. */
#include "common/base/order.h"
#include "driver/options.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "driver/spelling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* More points of a sweep, or more values of a list, indicate a mistyped range. */
enum { MAX_POINTS = 10000 };

/* ---- values ---- */

/* Fails with "option --NAME: WHAT: TEXT". */
static int refuse(const struct option *option, const char *what, const char *text, size_t length,
                  struct error *err) {
    return error_set(err, ERROR_USAGE, "option --%s: %s: '%.*s'", option->spec.name, what,
                     (int)(length < 100 ? length : 100), text);
}

/* Parses a number, or BASE^EXPONENT. */
static bool options_value(const char *text, size_t length, double *value) {
    const char *end = text + length;
    const char *at = number_parse(text, end, value);
    if (at && at < end && *at == '^') {
        double exponent;
        at = number_parse(at + 1, end, &exponent);
        *value = at ? pow(*value, exponent) : 0;
    }
    return at == end && isfinite(*value);
}

static bool in_bounds(const struct option_spec *spec, double value) {
    return !(spec->low < spec->high) ||
           ((spec->low_excluded ? value > spec->low : value >= spec->low) && value <= spec->high);
}

static bool is_whole(double value) {
    return value == floor(value) && fabs(value) <= 0x1p53;
}

bool option_takes(const struct option_spec *spec, double number) {
    return (spec->kind != OPTION_COUNT || is_whole(number)) && in_bounds(spec, number);
}

static int out_of_bounds(const struct option *option, const char *text, size_t length,
                         struct error *err) {
    const struct option_spec *spec = &option->spec;
    char what[200], high[50] = "", absent[80] = "";
    if (spec->high < INFINITY) {
        snprintf(high, sizeof high, " and at most %.10g", spec->high);
    }
    if (spec->absent) {
        snprintf(absent, sizeof absent, " (default %s)", spec->absent);
    }
    snprintf(what, sizeof what, "must be %s %.10g%s%s",
             spec->low_excluded ? "greater than" : "at least", spec->low, high, absent);
    return refuse(option, what, text, length, err);
}

static int append(struct option *option, double value, struct error *err) {
    if ((double)option->n >= MAX_POINTS) {
        return error_set(err, ERROR_USAGE, "option --%s: more than %d values", option->spec.name,
                         MAX_POINTS);
    }
    if (memory_grow(&option->number, memory_room(0, option->n), option->n + 1,
                    sizeof *option->number, "option values", err) < 0) {
        return -1;
    }
    option->number[option->n++] = value;
    return 0;
}

static int append_checked(struct option *option, double value, const char *text, size_t length,
                          struct error *err) {
    if (option->spec.kind == OPTION_COUNT && !is_whole(value)) {
        return refuse(option, "not a whole number", text, length, err);
    }
    if (!in_bounds(&option->spec, value)) {
        return out_of_bounds(option, text, length, err);
    }
    return append(option, value, err);
}

/* Parses a:b:xF or a:b:+S; `first` points to the first colon. */
static int parse_range(struct option *option, const char *text, size_t length, const char *first,
                       struct error *err) {
    const char *end = text + length;
    const char *second = memchr(first + 1, ':', (size_t)(end - first - 1));
    double from, to, step;
    if (!second || second + 1 == end || !options_value(text, (size_t)(first - text), &from) ||
        !options_value(first + 1, (size_t)(second - first - 1), &to) ||
        !options_value(second + 2, (size_t)(end - second - 2), &step)) {
        return refuse(option, "not a range a:b:xF or a:b:+S", text, length, err);
    }
    bool geometric = second[1] == 'x';
    double steps;
    if (geometric && from > 0 && to > 0 && step > 0 && step != 1) {
        steps = (log(to) - log(from)) / log(step);
    } else if (second[1] == '+' && step > 0) {
        steps = (to - from) / step;
    } else {
        return refuse(option, "not a range a:b:xF or a:b:+S", text, length, err);
    }
    steps = floor(steps + 1e-9); /* includes the end in spite of rounding */
    if (!(steps >= 0) || steps >= MAX_POINTS) {
        return refuse(option, steps < 0 ? "an empty range" : "a range of too many values", text,
                      length, err);
    }
    for (double i = 0; i <= steps; i++) {
        double value = geometric ? from * pow(step, i) : from + i * step;
        if (append_checked(option, value, text, length, err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int parse_number(struct option *option, const char *text, size_t length, struct error *err) {
    const struct option_spec *spec = &option->spec;
    if (spec->word && strlen(spec->word) == length && memcmp(spec->word, text, length) == 0) {
        return append(option, spec->word_value, err);
    }
    const char *colon = memchr(text, ':', length);
    if (colon && spec->level != OPTION_SINGLE) {
        option->listed = true;
        return parse_range(option, text, length, colon, err);
    }
    double value;
    if (!options_value(text, length, &value)) {
        return refuse(option, spec->kind == OPTION_COUNT ? "not a whole number" : "not a number",
                      text, length, err);
    }
    return append_checked(option, value, text, length, err);
}

/* The index of the choice with that name, ignoring case, or of the only choice with that prefix of
 * at least MIN_LETTERS letters; n: there is none. */
static size_t find_choice(const char *const *choices, size_t n, const char *text, size_t length) {
    enum { MIN_LETTERS = 3 };
    size_t found = n, n_found = 0;
    for (size_t i = 0; i < n; i++) {
        if (!*choices[i] || strncasecmp(choices[i], text, length) != 0) {
            continue;
        }
        if (!choices[i][length]) {
            return i;
        }
        found = i;
        n_found++;
    }
    return length >= MIN_LETTERS && n_found == 1 ? found : n;
}

static int parse_choice(struct option *option, const char *text, size_t length, struct error *err) {
    const char *const *choices = option->spec.choices;
    size_t n = 0;
    while (choices[n]) {
        n++;
    }
    size_t found = find_choice(choices, n, text, length);
    if (found < n) {
        return append(option, (double)found, err);
    }
    uint64_t number;
    if (number_parse_unsigned(text, text + length, &number) == text + length && number < n &&
        *choices[number]) {
        return append(option, (double)number, err);
    }
    char what[200] = "must be one of", hint[SPELLING_HINT];
    struct spelling spelling = spelling_of(text, length);
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(what);
        if (*choices[i]) {
            snprintf(what + used, sizeof what - used, "%s %s", i ? "," : "", choices[i]);
            spelling_add(&spelling, choices[i]);
        }
    }
    return error_set(err, ERROR_USAGE, "option --%s: %s: '%.*s'%s", option->spec.name, what,
                     (int)(length < 100 ? length : 100), text, spelling_hint(&spelling, "", hint));
}

static int parse_window(struct option *option, const char *text, struct error *err) {
    const char *end = text + strlen(text);
    const char *colon = strchr(text, ':');
    double low, high;
    if (!colon || !options_value(text, (size_t)(colon - text), &low)) {
        return refuse(option, "not a window LOW:HIGH", text, strlen(text), err);
    }
    if (strcmp(colon + 1, "inf") == 0) {
        high = INFINITY;
    } else if (!options_value(colon + 1, (size_t)(end - colon - 1), &high)) {
        return refuse(option, "not a window LOW:HIGH", text, strlen(text), err);
    }
    if (low != floor(low) || high != floor(high) || low > high) {
        return refuse(option, "must be whole numbers LOW <= HIGH", text, strlen(text), err);
    }
    if (!in_bounds(&option->spec, low) || (high < INFINITY && !in_bounds(&option->spec, high))) {
        return out_of_bounds(option, text, strlen(text), err);
    }
    return append(option, low, err) < 0 ? -1 : append(option, high, err);
}

/* Parses the comma-separated list of an option of kind NUMBER, COUNT or CHOICE. */
static int parse_list(struct option *option, const char *text, struct error *err) {
    bool list = option->spec.level != OPTION_SINGLE;
    for (const char *item = text;; item++) {
        size_t length = list ? strcspn(item, ",") : strlen(item);
        if ((option->spec.kind == OPTION_CHOICE ? parse_choice : parse_number)(option, item, length,
                                                                               err) < 0) {
            return -1;
        }
        item += length;
        if (!*item) {
            break;
        }
        option->listed = true;
    }
    if (option->spec.level <= OPTION_SOLVE && option->spec.kind != OPTION_CHOICE) {
        qsort(option->number, option->n, sizeof option->number[0], order_double);
    }
    size_t kept = 0; /* duplicates count once */
    for (size_t i = 0; i < option->n; i++) {
        size_t j = 0;
        while (j < kept && option->number[j] != option->number[i]) {
            j++;
        }
        if (j == kept) {
            option->number[kept++] = option->number[i];
        }
    }
    option->n = kept;
    return 0;
}

/* Adds the weight given by `text` to an option of kind OPTION_WEIGHTS. The key is borrowed. */
static int add_weight(struct option *option, const char *key, size_t key_length, const char *text,
                      struct error *err) {
    double weight;
    if (key_length == 0 || !options_value(text, strlen(text), &weight) || !(weight > 0)) {
        return refuse(option, "not a weight KEY:W with W > 0", key, strlen(key), err);
    }
    struct option_weight *grown = memory_resize(option->weights, option->n_weights + 1,
                                                sizeof grown[0], "option weights", err);
    if (!grown) {
        return -1;
    }
    option->weights = grown;
    grown[option->n_weights++] = (struct option_weight){key, key_length, weight};
    return 0;
}

static int parse_weight(struct option *option, const char *text, struct error *err) {
    const char *colon = strrchr(text, ':'); /* a key may contain colons */
    return colon ? add_weight(option, text, (size_t)(colon - text), colon + 1, err)
                 : refuse(option, "not a weight KEY:W with W > 0", text, strlen(text), err);
}

static bool is_word(const struct option_spec *spec, const char *text) {
    return spec->word && strcmp(spec->word, text) == 0;
}

/* Sets the option's value from `text` (borrowed); a weight (OPTION_WEIGHTS) is added to the
 * previous ones. */
static int take_value(struct option *option, const char *text, struct error *err) {
    option->text = text;
    option->n = 0;
    option->listed = false;
    switch (option->spec.kind) {
    case OPTION_FLAG:
        return append(option, is_word(&option->spec, text) ? option->spec.word_value : 1, err);
    case OPTION_TEXT:
        return *text ? 0 : refuse(option, "is empty", text, 0, err);
    case OPTION_WINDOW:
        return parse_window(option, text, err);
    case OPTION_WEIGHTS:
        return parse_weight(option, text, err);
    case OPTION_NUMBER:
    case OPTION_COUNT:
    case OPTION_CHOICE:
        break;
    }
    return parse_list(option, text, err);
}

/* ---- arguments ---- */

struct scan {
    struct options *options;
    int argc;
    char **argv;
    int at; /* index of the current argument */
};

/* The argument after an option; NULL with err set if there is none. */
static const char *next_value(struct scan *scan, const char *shown, struct error *err) {
    if (scan->at + 1 >= scan->argc) {
        error_set(err, ERROR_USAGE, "option %s: its value is missing", shown);
        return NULL;
    }
    return scan->argv[++scan->at];
}

/* Writes the suggestion of the closest long option into `hint`, see spelling_hint. Returns hint. */
static const char *nearest_long(const struct options *options, const char *word, size_t length,
                                char hint[SPELLING_HINT]) {
    struct spelling spelling = spelling_of(word, length);
    for (size_t i = 0; i < options->n; i++) {
        spelling_add(&spelling, options->option[i].spec.name);
    }
    if (strcmp(word, "h") == 0 || strcmp(word, "?") == 0) {
        spelling.name = "help"; /* as in many programs */
    }
    return spelling_hint(&spelling, "--", hint);
}

static struct option *find_long(const struct options *options, const char *name, size_t length,
                                struct error *err) {
    struct option *found = NULL;
    for (size_t i = 0; i < options->n; i++) {
        struct option *option = &options->option[i];
        if (strncmp(option->spec.name, name, length) == 0) {
            if (!option->spec.name[length]) {
                return option;
            }
            if (found) {
                error_set(err, ERROR_USAGE, "option --%.*s: could be --%s or --%s", (int)length,
                          name, found->spec.name, option->spec.name);
                return NULL;
            }
            found = option;
        }
    }
    if (!found) {
        char hint[SPELLING_HINT];
        error_set(err, ERROR_USAGE, "unknown option: '--%.*s'%s",
                  (int)(length < 100 ? length : 100), name,
                  nearest_long(options, name, length, hint));
    }
    return found;
}

/* A long flag: with `=attached`, or with its word as the next argument, or alone. */
static int scan_flag(struct scan *scan, struct option *option, const char *attached,
                     struct error *err) {
    const struct option_spec *spec = &option->spec;
    if (attached && !is_word(spec, attached)) {
        return error_set(err, ERROR_USAGE, "option --%s: takes no value%s%s", spec->name,
                         spec->word ? " but " : "", spec->word ? spec->word : "");
    }
    if (!attached && scan->at + 1 < scan->argc && is_word(spec, scan->argv[scan->at + 1])) {
        attached = scan->argv[++scan->at];
    }
    return take_value(option, attached ? attached : "1", err);
}

static int scan_long(struct scan *scan, const char *name, struct error *err) {
    size_t length = strcspn(name, "=");
    struct option *option = find_long(scan->options, name, length, err);
    if (!option) {
        return -1;
    }
    option->given = true;
    if (option->spec.kind == OPTION_FLAG) {
        return scan_flag(scan, option, name[length] ? name + length + 1 : NULL, err);
    }
    const char *value =
        name[length] ? name + length + 1 : next_value(scan, scan->argv[scan->at], err);
    return value ? take_value(option, value, err) : -1;
}

/* Parses the letters after a `-`: flags, and at the end at most one option with a value. */
static int scan_short(struct scan *scan, const char *letters, struct error *err) {
    for (const char *letter = letters; *letter; letter++) {
        char shown[3] = {'-', *letter, '\0'};
        struct option *option = NULL;
        for (size_t i = 0; i < scan->options->n; i++) {
            if (scan->options->option[i].spec.letter == *letter) {
                option = &scan->options->option[i];
            }
        }
        if (!option) { /* possibly a long option with a single dash */
            char hint[SPELLING_HINT];
            return error_set(err, ERROR_USAGE, "unknown option: '%s'%s", shown,
                             nearest_long(scan->options, letters, strcspn(letters, "="), hint));
        }
        option->given = true;
        if (option->spec.kind == OPTION_FLAG) {
            if (take_value(option, "1", err) < 0) {
                return -1;
            }
            continue;
        }
        const char *attached = letter[1] ? letter + 1 : NULL;
        const char *value = attached;
        bool key_attached =
            attached && option->spec.kind == OPTION_WEIGHTS && !strchr(attached, ':');
        if (!attached || key_attached) {
            value = next_value(scan, shown, err);
        }
        if (!value) {
            return -1;
        }
        return key_attached ? add_weight(option, attached, strlen(attached), value, err)
                            : take_value(option, value, err);
    }
    return 0;
}

/* Numbers the points: options of lower levels vary faster, and within a level those earlier in the
 * table. */
static int number_points(struct options *options, struct error *err) {
    options->n_points = 1;
    for (int level = OPTION_SOLVE; level <= OPTION_KERNEL; level++) {
        for (size_t i = 0; i < options->n; i++) {
            struct option *option = &options->option[i];
            if ((int)option->spec.level != level || option->n < 2) {
                continue;
            }
            option->stride = options->n_points;
            if ((double)options->n_points * (double)option->n > MAX_POINTS) {
                return error_set(err, ERROR_USAGE, "a sweep of more than %d points", MAX_POINTS);
            }
            options->n_points *= option->n;
        }
    }
    return 0;
}

int options_parse(struct options *options, int argc, char **argv, struct error *err) {
    for (size_t i = 0; i < options->n; i++) {
        struct option *option = &options->option[i];
        if (option->spec.initial && take_value(option, option->spec.initial, err) < 0) {
            return -1;
        }
    }
    options->operand = memory_array((size_t)argc, sizeof options->operand[0], "operands", err);
    if (!options->operand) {
        return -1;
    }
    struct scan scan = {options, argc, argv, 1};
    bool ended = false;
    for (; scan.at < argc; scan.at++) {
        const char *argument = argv[scan.at];
        int status = 0;
        if (ended || argument[0] != '-' || !argument[1]) {
            options->operand[options->n_operands++] = argument;
        } else if (argument[1] != '-') {
            status = scan_short(&scan, argument + 1, err);
        } else if (argument[2]) {
            status = scan_long(&scan, argument + 2, err);
        } else {
            ended = true;
        }
        if (status < 0) {
            return -1;
        }
    }
    return number_points(options, err);
}
