/* The command line: a table of options, what was given for each, and the points of a sweep.
 *
 * Options may stand anywhere; `--` ends them and a lone `-` is an operand. Short options are
 * written `-c 4` or `-c4`, long ones `--cost 4`, `--cost=4`, or cut to an unambiguous beginning.
 * Numbers take `BASE^EXPONENT`. Where an option takes a list, that is values with commas between,
 * `a:b:xF` (geometric) or `a:b:+S` (arithmetic); the lists of all options span the points of a
 * sweep. Every mistake is an error of kind ERROR_USAGE. */
#ifndef DRIVER_OPTIONS_H
#define DRIVER_OPTIONS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_FLAG,   /* no value */
    OPTION_NUMBER, /* a number */
    OPTION_COUNT,  /* a whole number below 2^53 */
    OPTION_CHOICE, /* one of `choices`, by name or by number */
    OPTION_TEXT,   /* anything that is not empty */
    OPTION_WINDOW, /* LOW:HIGH, whole numbers with LOW <= HIGH; HIGH may be inf */
    OPTION_WEIGHTS /* KEY:W, W > 0, any number of times; also -wKEY W */
};

/* Whether an option takes a list, and what a change of its value costs within a sweep. */
enum option_level {
    OPTION_SINGLE, /* takes one value */
    OPTION_LIST,   /* takes a list, which is no sweep */
    OPTION_SOLVE,  /* the solver goes on from its last solution; numbers are visited ascending */
    OPTION_OPEN,   /* the problem is opened anew */
    OPTION_KERNEL  /* the kernel matrix is computed anew */
};

struct option_spec {
    char letter; /* of the short option; 0: none */
    const char *name;
    enum option_kind kind;
    enum option_level level;
    const char *value;   /* what --help calls the value; NULL for flags */
    const char *initial; /* the default, as it would be given; NULL: none */
    const char *absent;  /* in words, what holds without it if there is no default; may be NULL */
    const char *help;    /* one paragraph; --help breaks its lines */
    unsigned needs;      /* flags, see options_add */
    bool aside;          /* changes nothing of what a sweep measures, see grid.h */

    /* Bounds of OPTION_NUMBER, OPTION_COUNT and OPTION_WINDOW, where low < high. */
    double low, high;
    bool low_excluded;

    const char *const *choices;  /* of OPTION_CHOICE, ended by NULL; "": withdrawn */
    const char *const *meanings; /* what --help says of each choice */
    const char *word;            /* stands for word_value in place of a number; NULL: none */
    double word_value;
};

/* A row of a table of options: kind, letter, name, value, help, level, then other fields by their
 * names. */
#define OPTION(kind_, letter_, name_, value_, help_, ...)                                          \
    {                                                                                              \
        .kind = OPTION_##kind_, .letter = letter_, .name = name_, .value = value_, .help = help_,  \
        .level = OPTION_##__VA_ARGS__                                                              \
    }

/* In a designated initialiser: a table, `field`, and its length, `n_field`. */
#define TABLE(field, rows) .field = rows, .n_##field = sizeof rows / sizeof rows[0]

/* The row of every program's -j. */
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
    bool listed;      /* the value is a list or a range, be it of one value */
    const char *text; /* as given, or the default; NULL: neither */
    double *number;   /* (n) values; choices by their number; windows low, high */
    size_t n;
    size_t stride;                 /* in the numbering of points */
    struct option_weight *weights; /* (n_weights) */
    size_t n_weights;
};

struct options {
    struct option *option; /* (n_rows): n, then those that the program lacks */
    size_t n, n_rows;
    const char **operand; /* (n_operands), borrowed from argv */
    size_t n_operands;
    size_t n_points;
};

/* One point of the sweep: a value for each option. Point 0 is the only one when no option was
 * given a list. Points that differ in dearer levels are further apart; see options_block. */
struct point {
    const struct options *options;
    size_t number;
};

/* Adds those of specs[0..n) whose `needs` are all in `has`; the others are known as lacking.
 * *options is zero at first; the specs' strings are borrowed. The caller ends with options_free. */
int options_add(struct options *options, const struct option_spec *specs, size_t n, unsigned has,
                struct error *err);
void options_free(struct options *options);

/* Reads the command line (borrowed) into the options, and the defaults of those not given. */
int options_parse(struct options *options, int argc, char **argv, struct error *err);

/* Number of consecutive points with the same values of all options of `level` and dearer. */
size_t options_block(const struct options *options, enum option_level level);

/* The option of that long name, which is one of the rows that were added: a name that no row has is
 * a mistake of the source, at which this stops by assert, as do all functions below that take a
 * name. An option that the program lacks is one without default that was not given. */
const struct option *options_find(const struct options *options, const char *name);

/* True if the program has the option; any name may be asked for. */
bool options_has(const struct options *options, const char *name);

/* True if the option was given on the command line. */
bool options_given(const struct options *options, const char *name);

/* The value of an option that takes one value; text is NULL, and a flag false, if not given. */
double options_number(const struct options *options, const char *name);
size_t options_choice(const struct options *options, const char *name);
const char *options_text(const struct options *options, const char *name);

/* The value of an option at a point. An option without value and default gives `missing`. */
double point_number(struct point point, const char *name);
size_t point_choice(struct point point, const char *name);
double point_number_or(struct point point, const char *name, double missing);

/* Whether the number is among the values that the option was given, or has by default. */
bool options_lists(const struct options *options, const char *name, double number);

/* A combination of options that makes no sense, and its message. */
struct refusal {
    bool holds;
    const char *why;
};

/* Refuses (ERROR_USAGE) by the first that holds of a list that a row without `why` ends. */
int options_refuse(const struct refusal *refusal, struct error *err);

/* The option's value at a point as text: a choice's name, or a number (32 bytes are enough for
 * those). Returns text. */
const char *point_text(struct point point, const struct option *option, char text[32]);

/* Whether the number is one that the option may have: within its bounds, and whole for a count. */
bool option_takes(const struct option_spec *spec, double number);

#endif
