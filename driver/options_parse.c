/* The command line: its words to options and operands, and the points of its sweep. */
#include "common/base/memory.h"
#include "driver/options_private.h"
#include "driver/spelling.h"

#include <string.h>

struct scan {
    struct options *options;
    int argc;
    char **argv;
    int at; /* the argument being read */
};

/* The value that follows an option; NULL with err set if the line ends there. */
static const char *next_value(struct scan *scan, const char *shown, struct error *err) {
    if (scan->at + 1 >= scan->argc) {
        error_set(err, ERROR_USAGE, "option %s: its value is missing", shown);
        return NULL;
    }
    return scan->argv[++scan->at];
}

/* hint = spelling_hint's of the long option that is nearest to the word. Returns hint. */
static const char *nearest_long(const struct options *options, const char *word, size_t length,
                                char hint[SPELLING_HINT]) {
    struct spelling spelling = spelling_of(word, length);
    for (size_t i = 0; i < options->n; i++) {
        spelling_try(&spelling, options->option[i].spec.name);
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

static int scan_long(struct scan *scan, const char *name, struct error *err) {
    size_t length = strcspn(name, "=");
    struct option *option = find_long(scan->options, name, length, err);
    if (!option) {
        return -1;
    }
    option->given = true;
    if (option->spec.kind == OPTION_FLAG) {
        return name[length]
                   ? error_set(err, ERROR_USAGE, "option --%s: takes no value", option->spec.name)
                   : option_take(option, "1", err);
    }
    const char *value =
        name[length] ? name + length + 1 : next_value(scan, scan->argv[scan->at], err);
    return value ? option_take(option, value, err) : -1;
}

/* The letters after a `-`: flags, and at most one option with a value, last. */
static int scan_short(struct scan *scan, const char *letters, struct error *err) {
    for (const char *letter = letters; *letter; letter++) {
        char shown[3] = {'-', *letter, '\0'};
        struct option *option = NULL;
        for (size_t i = 0; i < scan->options->n; i++) {
            if (scan->options->option[i].spec.letter == *letter) {
                option = &scan->options->option[i];
            }
        }
        if (!option) { /* perhaps a long one behind a single dash */
            char hint[SPELLING_HINT];
            return error_set(err, ERROR_USAGE, "unknown option: '%s'%s", shown,
                             nearest_long(scan->options, letters, strcspn(letters, "="), hint));
        }
        option->given = true;
        if (option->spec.kind == OPTION_FLAG) {
            if (option_take(option, "1", err) < 0) {
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
        return key_attached ? option_add_weight(option, attached, strlen(attached), value, err)
                            : option_take(option, value, err);
    }
    return 0;
}

/* Numbers the points: cheap levels vary fastest, and within a level what is first in the table. */
static int number_points(struct options *options, struct error *err) {
    options->n_points = 1;
    for (int level = OPTION_SOLVE; level <= OPTION_KERNEL; level++) {
        for (size_t i = 0; i < options->n; i++) {
            struct option *option = &options->option[i];
            if ((int)option->spec.level != level || option->n < 2) {
                continue;
            }
            option->stride = options->n_points;
            if ((double)options->n_points * (double)option->n > OPTIONS_MOST_POINTS) {
                return error_set(err, ERROR_USAGE, "a sweep of more than %d points",
                                 OPTIONS_MOST_POINTS);
            }
            options->n_points *= option->n;
        }
    }
    return 0;
}

int options_parse(struct options *options, int argc, char **argv, struct error *err) {
    for (size_t i = 0; i < options->n; i++) {
        struct option *option = &options->option[i];
        if (option->spec.initial && option_take(option, option->spec.initial, err) < 0) {
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
