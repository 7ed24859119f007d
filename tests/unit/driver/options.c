/* The command line: the scanner, values and their checks, lists, and the numbering of points. */
#include "driver/options.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const colours[] = {"red", "green", "grey", NULL};

static const struct option_spec specs[] = {
    {.letter = 's',
     .name = "shade",
     .kind = OPTION_CHOICE,
     .level = OPTION_OPEN,
     .value = "NAME",
     .initial = "red",
     .choices = colours,
     .help = ""},
    {.letter = 'c',
     .name = "cost",
     .kind = OPTION_NUMBER,
     .level = OPTION_SOLVE,
     .value = "C",
     .initial = "1",
     .high = INFINITY,
     .low_excluded = true,
     .help = ""},
    {.letter = 'g',
     .name = "gamma",
     .kind = OPTION_NUMBER,
     .level = OPTION_KERNEL,
     .value = "G",
     .high = INFINITY,
     .help = ""},
    {.name = "tau",
     .kind = OPTION_NUMBER,
     .level = OPTION_SOLVE,
     .value = "T",
     .initial = "all",
     .high = 1,
     .low_excluded = true,
     .word = "all",
     .word_value = 1,
     .help = ""},
    {.letter = 'n',
     .name = "count",
     .kind = OPTION_COUNT,
     .value = "N",
     .initial = "3",
     .low = 1,
     .high = 10,
     .help = ""},
    {.name = "at",
     .kind = OPTION_COUNT,
     .level = OPTION_LIST,
     .value = "K",
     .initial = "10",
     .low = 1,
     .high = 100,
     .help = ""},
    {.name = "window",
     .kind = OPTION_WINDOW,
     .value = "W",
     .initial = "1:inf",
     .low = 1,
     .high = 1000,
     .help = ""},
    {.letter = 'w', .name = "weight", .kind = OPTION_WEIGHTS, .value = "K:W", .help = ""},
    {.letter = 'q', .name = "quiet", .kind = OPTION_FLAG, .help = ""},
    {.letter = 'x', .name = "extra", .kind = OPTION_FLAG, .needs = 2, .help = ""},
    {.name = "log", .kind = OPTION_TEXT, .value = "FILE", .help = ""}};

/* Parses up to 9 arguments, ended by NULL. */
static int parse(struct options *options, struct error *err, const char *const *arguments) {
    char *argv[12] = {(char *)"program"};
    int argc = 1;
    for (; arguments[argc - 1]; argc++) {
        argv[argc] = (char *)(size_t)arguments[argc - 1];
    }
    *options = (struct options){0};
    *err = (struct error){0};
    return options_add(options, specs, sizeof specs / sizeof specs[0], 1, err) < 0
               ? -1
               : options_parse(options, argc, argv, err);
}

#define PARSE(...) parse(&options, &err, (const char *const[]){__VA_ARGS__, NULL})
#define REFUSED(what, ...)                                                                         \
    do {                                                                                           \
        CHECK_TRUE(PARSE(__VA_ARGS__) == -1 && err.kind == ERROR_USAGE);                           \
        CHECK(strstr(err.text, what), "'%s' is not in '%s'", what, err.text);                      \
        options_free(&options);                                                                    \
    } while (0)

static void check_scanner(void) {
    struct options options;
    struct error err;
    CHECK_TRUE(PARSE("in", "-c", "4", "--gamma=2", "-n7", "out", "-q", "--", "-c") == 0);
    CHECK_TRUE(options_number(&options, "cost") == 4 && options_number(&options, "gamma") == 2);
    CHECK_TRUE(options_number(&options, "count") == 7 && options_given(&options, "quiet"));
    CHECK_TRUE(!options_given(&options, "log") && options_text(&options, "log") == NULL);
    CHECK_TRUE(!options_given(&options, "extra") && !options_given(&options, "unheard-of"));
    CHECK_TRUE(options.n_operands == 3 && strcmp(options.operand[2], "-c") == 0);
    options_free(&options);

    CHECK_TRUE(PARSE("-", "-qc2", "--sha", "grey", "--log", "-", "-c", "8") == 0);
    CHECK_TRUE(options.n_operands == 1 && strcmp(options.operand[0], "-") == 0);
    CHECK_TRUE(options_number(&options, "cost") == 8); /* the last one counts */
    CHECK_TRUE(options_choice(&options, "shade") == 2);
    CHECK_TRUE(strcmp(options_text(&options, "log"), "-") == 0);
    options_free(&options);

    REFUSED("unknown option: '-z'", "-z");
    REFUSED("unknown option: '-x'", "-x"); /* only for those who have it */
    REFUSED("unknown option: '--extra'", "--extra");
    REFUSED("unknown option: '--colour'", "--colour=1");
    REFUSED("unknown option: '-Z'", "-qZ");
    REFUSED("--co: could be --cost or --count", "--co", "1");
    REFUSED("its value is missing", "--cost");
    REFUSED("its value is missing", "-qc");
    REFUSED("its value is missing", "-w1");
    REFUSED("takes no value", "--quiet=1");
    REFUSED("is empty", "--log=");
    printf("ok: the scanner\n");
}

static void check_values(void) {
    struct options options;
    struct error err;
    double value;
    CHECK_TRUE(options_value("2^-3", 4, &value) && value == 0.125);
    CHECK_TRUE(options_value("-1.5e1", 6, &value) && value == -15);
    CHECK_TRUE(!options_value("1x", 2, &value) && !options_value("", 0, &value));
    CHECK_TRUE(!options_value("2^", 2, &value) && !options_value("2^1^1", 5, &value));
    CHECK_TRUE(!options_value("10^999", 6, &value) && !options_value("nan", 3, &value));

    CHECK_TRUE(PARSE("--window", "2:7", "-w3:2", "-w5", "0.5", "--weight", "a:1", "--tau", ".5") ==
               0);
    const struct option *window = options_find(&options, "window");
    CHECK_TRUE(window->n == 2 && window->number[0] == 2 && window->number[1] == 7);
    const struct option *weight = options_find(&options, "weight");
    CHECK_TRUE(weight->n_weights == 3 && weight->weights[1].key_length == 1 &&
               weight->weights[1].key[0] == '5' && weight->weights[1].weight == 0.5);
    CHECK_TRUE(options_number(&options, "tau") == 0.5);
    options_free(&options);

    CHECK_TRUE(PARSE("--shade=1", "--at", "5,1,20") == 0);
    CHECK_TRUE(options_choice(&options, "shade") == 1 && options_number(&options, "tau") == 1);
    CHECK_TRUE(options_find(&options, "window")->number[1] == INFINITY);
    const struct option *at = options_find(&options, "at");
    CHECK_TRUE(at->n == 3 && at->number[0] == 1 && at->number[2] == 20 && options.n_points == 1);
    CHECK_TRUE(point_number_or((struct point){&options, 0}, "gamma", 9) == 9);
    options_free(&options);

    REFUSED("--cost: not a number: '1x'", "-c", "1x");
    REFUSED("--cost: must be greater than 0: '0'", "-c", "0");
    REFUSED("--gamma: must be at least 0: '-1'", "-g", "-1");
    REFUSED("--tau: must be greater than 0 and at most 1: '2'", "--tau", "2");
    REFUSED("--count: not a whole number: '1.5'", "-n", "1.5");
    REFUSED("--count: must be at least 1 and at most 10: '11'", "-n", "11");
    REFUSED("--count: not a whole number: '1,2'", "-n", "1,2"); /* takes one value */
    REFUSED("one of red, green, grey: 'gr'", "-s", "gr");
    REFUSED("one of red, green, grey: '3'", "-s", "3");
    REFUSED("LOW <= HIGH: '3:2'", "--window", "3:2");
    REFUSED("must be at least 1 and at most 1000: '0:2'", "--window", "0:2");
    REFUSED("not a window LOW:HIGH: '2'", "--window", "2");
    REFUSED("W > 0: '1:-1'", "-w", "1:-1");
    REFUSED("W > 0: ':1'", "-w", ":1");
    REFUSED("not a number: ''", "-c", "1,");
    printf("ok: values and their checks\n");
}

/* True if the option has exactly these values. */
static bool has(const struct options *options, const char *name, size_t n, const double *values) {
    const struct option *option = options_find(options, name);
    bool same = option->n == n;
    for (size_t i = 0; same && i < n; i++) {
        same = fabs(option->number[i] - values[i]) <= 1e-15 * fabs(values[i]);
    }
    return same;
}

static void check_lists(void) {
    struct options options;
    struct error err;
    CHECK_TRUE(PARSE("-c", "2^2:2^-2:x.25", "-g", "0:1:+.25") == 0);
    CHECK_TRUE(has(&options, "cost", 3, (const double[]){.25, 1, 4})); /* ascending */
    CHECK_TRUE(has(&options, "gamma", 5, (const double[]){0, .25, .5, .75, 1}));
    options_free(&options);
    CHECK_TRUE(PARSE("-c", ".001:1:x10,7,1", "-g", "3,1") == 0);
    CHECK_TRUE(has(&options, "cost", 5, (const double[]){.001, .01, .1, 1, 7})); /* 1 counts once */
    CHECK_TRUE(has(&options, "gamma", 2, (const double[]){3, 1}));               /* as given */
    options_free(&options);
    CHECK_TRUE(PARSE("-c", "1:5:x2") == 0);
    CHECK_TRUE(has(&options, "cost", 3, (const double[]){1, 2, 4}));
    options_free(&options);
    REFUSED("an empty range: '2:1:x2'", "-c", "2:1:x2");
    REFUSED("not a range", "-c", "1:2");
    REFUSED("not a range", "-c", "1:2:x1");
    REFUSED("not a range", "-c", "0:2:x2");
    REFUSED("not a range", "-c", "1:2:+0");
    REFUSED("too many values", "-c", "1:1e300:+1e-300");
    REFUSED("must be greater than 0: '0:1:+1'", "-c", "0:1:+1");
    REFUSED("a sweep of more than", "-c", "1:1000:+1", "-g", "1:100:+1");
    printf("ok: lists and ranges\n");
}

static void check_points(void) {
    struct options options;
    struct error err;
    CHECK_TRUE(PARSE("-g", ".5,.1", "-s", "grey,red", "--tau", ".5,all", "-c", "1,2,4") == 0);
    CHECK_TRUE(options.n_points == 24);
    CHECK_TRUE(options_block(&options, OPTION_SOLVE) == 1);
    CHECK_TRUE(options_block(&options, OPTION_OPEN) == 6);
    CHECK_TRUE(options_block(&options, OPTION_KERNEL) == 12);
    for (size_t i = 0; i < 24; i++) { /* cost fastest, then tau, shade, gamma */
        struct point point = {&options, i};
        CHECK_TRUE(point_number(point, "cost") == (double)(1 << i % 3));
        CHECK_TRUE(point_number(point, "tau") == (i / 3 % 2 ? 1 : .5));
        CHECK_TRUE(point_choice(point, "shade") == (i / 6 % 2 ? 0 : 2));
        CHECK_TRUE(point_number(point, "gamma") == (i / 12 ? .1 : .5));
        CHECK_TRUE(point_number(point, "count") == 3);
    }
    char text[32];
    CHECK_TRUE(
        strcmp(point_text((struct point){&options, 6}, options_find(&options, "shade"), text),
               "red") == 0);
    CHECK_TRUE(
        strcmp(point_text((struct point){&options, 6}, options_find(&options, "gamma"), text),
               "0.5") == 0);
    options_free(&options);
    printf("ok: the points of a sweep\n");
}

int main(void) {
    check_scanner();
    check_values();
    check_lists();
    check_points();
    return 0;
}
