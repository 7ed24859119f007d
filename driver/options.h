/* The command line: a table of options, the values given for each, and the points of a sweep.
 *
 * Options may stand anywhere; `--` ends them, and a lone `-` is an operand. Short options are
 * written `-c 4` or `-c4`, long ones `--cost 4`, `--cost=4`, or shortened to an unambiguous prefix.
 * A number may be written `BASE^EXPONENT`. A list consists of values with commas between them, or
 * is a range, `a:b:xF` (geometric) or `a:b:+S` (arithmetic). The lists of all options span the
 * points of a sweep. Every error is of kind ERROR_USAGE. */
#ifndef DRIVER_OPTIONS_H
#define DRIVER_OPTIONS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_FLAG,   /* no value, or `word` after it */
    OPTION_NUMBER, /* a number */
    OPTION_COUNT,  /* a whole number below 2^53 */
    OPTION_CHOICE, /* one of `choices`, by name or by number */
    OPTION_TEXT,   /* any text that is not empty */
    OPTION_WINDOW, /* LOW:HIGH, whole numbers with LOW <= HIGH; HIGH may be inf */
    OPTION_WEIGHTS /* KEY:W, W > 0, any number of times; also -wKEY W */
};

/* Whether an option takes a list, and what must be recomputed when its value changes within a
 * sweep. */
enum option_level {
    OPTION_SINGLE, /* takes one value */
    OPTION_LIST,   /* takes a list that does not span points */
    /* only the solution, with a warm start; numbers are visited in ascending order */
    OPTION_SOLVE,
    OPTION_OPEN,  /* the problem is opened again */
    OPTION_KERNEL /* the kernel matrix is computed again */
};

struct option_spec {
    char letter; /* the letter of the short option; 0: none */
    const char *name;
    enum option_kind kind;
    enum option_level level;
    /* the name of the value in --help; of a flag `[word]` or NULL */
    const char *value;
    const char *initial; /* the default as it would be typed; NULL: none */
    /* in words, what holds if it is not given and has no default; may be NULL */
    const char *absent;
    const char *help; /* one paragraph, without line breaks */
    unsigned needs;   /* flags that the family must have, see options_add */
    bool aside;       /* has no effect on what a sweep measures, see grid_checksum */

    /* Bounds of OPTION_NUMBER, OPTION_COUNT and OPTION_WINDOW; none unless low < high. */
    double low, high;
    bool low_excluded;

    /* of OPTION_CHOICE, ended by NULL; "": a withdrawn choice, which keeps the numbers of the
     * others */
    const char *const *choices;
    const char *const *meanings; /* the text of --help for each choice */
    /* accepted in place of a number, or after a long flag, for word_value; NULL: none */
    const char *word;
    double word_value;
};

/* A table row: kind, letter, name, value, help, level, then other fields as designated
 * initialisers. */
#define OPTION(kind_, letter_, name_, value_, help_, ...)                                          \
    {                                                                                              \
        .kind = OPTION_##kind_, .letter = letter_, .name = name_, .value = value_, .help = help_,  \
        .level = OPTION_##__VA_ARGS__                                                              \
    }

/* For a designated initialiser: an array `field` and its length `n_field`. */
#define TABLE(field, rows) .field = rows, .n_##field = sizeof rows / sizeof rows[0]

/* The row of -j, which every program has. */
#define OPTION_THREADS                                                                             \
    OPTION(COUNT, 'j', "threads", "N", "threads; results do not depend on them", SINGLE, .low = 1, \
           .high = 1024, .absent = "one per processor", .aside = true)

struct option_weight {
    const char *key; /* key_length bytes, borrowed from argv */
    size_t key_length;
    double weight;
};

struct option {
    struct option_spec spec;
    bool given;       /* on the command line */
    bool listed;      /* the value is a list or a range, possibly of one value */
    const char *text; /* the value as typed, or the default; NULL: neither */
    double *number;   /* (n) values; the index of a choice; low and high of a window */
    size_t n;
    /* in the numbering of points: the index of the value is number / stride % n */
    size_t stride;
    struct option_weight *weights; /* (n_weights) */
    size_t n_weights;
};

struct options {
    /* (n_rows): first the n options of the program, then the rows of tables that it does not
     * have (options_add) */
    struct option *option;
    size_t n, n_rows;
    const char **operand; /* (n_operands), borrowed from argv */
    size_t n_operands;
    size_t n_points;
};

/* A point of the sweep: a value for each option. Without lists, point 0 is the only one. Points
 * that differ in options of a higher level are further apart; see options_block. */
struct point {
    const struct options *options;
    size_t number;
};

/* Adds those of specs[0..n) whose `needs` are all in `has`; the others are
 * recorded as options that the program does not have.
 * *options is zero at first; the strings of specs are borrowed. The caller ends with
 * options_free. */
int options_add(struct options *options, const struct option_spec *specs, size_t n, unsigned has,
                struct error *err);
void options_free(struct options *options);

/* Reads the command line (borrowed) into the options, and the defaults of options that are not
 * given. */
int options_parse(struct options *options, int argc, char **argv, struct error *err);

/* The number of consecutive points that agree in all options of `level` and above. */
size_t options_block(const struct options *options, enum option_level level);

/* The option with that long name. The name must be that of an added row, otherwise an assertion
 * fails; so it is for all functions below that take a name. An option that the program does not
 * have appears as one without default that was not given. */
const struct option *options_find(const struct options *options, const char *name);

/* Returns whether the program has the option; any name is allowed. */
bool options_has(const struct options *options, const char *name);

/* Returns whether the option was given on the command line. */
bool options_given(const struct options *options, const char *name);

/* The value of an option that takes a single value. Not given: text is NULL, a flag 0. */
double options_number(const struct options *options, const char *name);
size_t options_choice(const struct options *options, const char *name);
const char *options_text(const struct options *options, const char *name);

/* The value of an option at a point; `missing` if it has neither value nor default. */
double point_number(struct point point, const char *name);
size_t point_choice(struct point point, const char *name);
double point_number_or(struct point point, const char *name, double missing);

/* Returns whether the number is among the values of the option, given or default. */
bool options_lists(const struct options *options, const char *name, double number);

/* An inconsistent combination of options, and its message. */
struct refusal {
    bool holds;
    const char *why;
};

/* Fails (ERROR_USAGE) with the first refusal that holds; a row without `why` ends the list. */
int options_refuse(const struct refusal *refusal, struct error *err);

/* The option's value at a point as text: the name of a choice, or a number (at most 32 bytes with
 * the NUL). Returns text. */
const char *point_text(struct point point, const struct option *option, char text[32]);

/* Returns whether the option accepts the number: within its bounds, and whole for OPTION_COUNT. */
bool option_takes(const struct option_spec *spec, double number);

#endif
