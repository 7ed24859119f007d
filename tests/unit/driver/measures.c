/* A table of measures and options become a list, in the table's order; --select adds to it. */
#include "driver/measures.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_spec specs[] = {
    {.name = "top",
     .kind = OPTION_NUMBER,
     .level = OPTION_LIST,
     .value = "X",
     .initial = "0.5,2",
     .high = 100,
     .low_excluded = true,
     .help = ""},
    {.name = "at",
     .kind = OPTION_COUNT,
     .level = OPTION_LIST,
     .value = "K",
     .initial = "10",
     .low = 1,
     .high = 1000000,
     .help = ""},
    {.name = "select", .kind = OPTION_TEXT, .value = "M", .help = ""}};
static const struct option_spec folds = {
    .name = "folds", .kind = OPTION_COUNT, .value = "N", .high = 9, .help = ""};

static const char *refuse(double at) {
    return at > 1 && at != floor(at) ? "is not whole" : NULL;
}

/* 100 number + at, plus what the state is. */
static double value_of(const void *state, const struct measure *measure, double *weight) {
    *weight = measure->row->number == 1 ? 7 : *weight;
    return 100 * measure->row->number + measure->at + *(const double *)state;
}

static int finish(void *state, const struct measure *wanted, size_t n, struct error *err) {
    (void)err;
    *(double *)state += (double)n + (wanted[0].row->number == 1 ? 0 : 1000);
    return 0;
}

static const struct measure_row table[] = {
    {.name = "plain", .number = 1, .value = value_of},
    {.name = "first", .option = "top", .number = 2, .refuse = refuse, .value = value_of},
    {.name = "second", .option = "top", .number = 3, .value = value_of},
    {.name = "counted", .option = "at", .number = 4, .value = value_of},
    {.name = "last@all", .predictor_only = true, .number = 5, .value = value_of}};
static const struct measures measures = {
    .table = table, .n_table = sizeof table / sizeof table[0], .finish = finish};

/* The names listed for a command line, blanks between; or the error's text. */
static void check(bool trains, char **argv, const char *expected) {
    struct error err = {0};
    struct options options = {0};
    struct measure *list = NULL;
    size_t n = 0;
    int argc = 0;
    char text[2048] = "";
    while (argv[argc]) {
        argc++;
    }
    CHECK(options_add(&options, specs, sizeof specs / sizeof specs[0], 0, &err) == 0 &&
              (!trains || options_add(&options, &folds, 1, 0, &err) == 0) &&
              options_parse(&options, argc, argv, &err) == 0,
          "%s", err.text);
    if (measures_list(&measures, &options, &list, &n, &err) < 0) {
        snprintf(text, sizeof text, "%s", err.text);
    }
    for (size_t k = 0; k < n; k++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", k ? " " : "", list[k].name);
    }
    CHECK(strcmp(text, expected) == 0, "'%s', not '%s'", text, expected);
    if (n > 0) {
        double state = 0.25, value[32], weight[32];
        CHECK(measures_values(&measures, &state, list, n, value, weight, &err) == 0, "%s",
              err.text);
        for (size_t k = 0; k < n; k++) {
            int number = list[k].row->number;
            CHECK(value[k] == 100 * number + list[k].at + 0.25 + (double)n &&
                      weight[k] == (number == 1 ? 7 : 1),
                  "%s: %g, weight %g", list[k].name, value[k], weight[k]);
        }
    }
    free(list);
    options_free(&options);
}

#define ARGUMENTS(...) ((char *[]){"program", __VA_ARGS__, NULL})

int main(void) {
    check(false, ARGUMENTS("--at", "3,100000"),
          "plain first@0.5 second@0.5 first@2 second@2 counted@3 counted@100000 last@all");
    check(true, ARGUMENTS("--top", "7"), "plain first@7 second@7 counted@10");
    puts("ok: rows, and numbers of their options in turns; folds leave out the predictor's own");
    check(true, ARGUMENTS("--top", "7", "--select", "plain"), "plain first@7 second@7 counted@10");
    check(true, ARGUMENTS("--top", "7", "--select", "second@7.0"),
          "plain first@7 second@7.0 counted@10");
    check(true, ARGUMENTS("--top", "7", "--select", "counted@5"),
          "plain first@7 second@7 counted@10 counted@5");
    check(true, ARGUMENTS("--top", "7", "--select", "second@1.5"),
          "plain first@7 second@7 counted@10 second@1.5");
    puts("ok: --select adds one of a row with an option, as it spells it");
    static const char *const wrong[] = {"first@1.5", "counted@1.5",     "counted@0",  "first@101",
                                        "first@x",   "first@",          "first",      "plain@1",
                                        "nonsense",  "counted@2000000", "counted@1e", "second@0"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        check(true, ARGUMENTS("--top", "7", "--select", (char *)wrong[i]),
              "plain first@7 second@7 counted@10");
    }
    check(false, ARGUMENTS("--top", "1,1.5"), "option --top: 1.5 is not whole");
    puts("ok: numbers that a row or its option does not take");
    return 0;
}
