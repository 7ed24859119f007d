/* Fuzz target: arbitrary words as command line of any trainer or predictor are accepted or refused
 * as a usage error; accepted values are within their bounds at every point of the sweep. The first
 * byte selects the program, each zero byte ends a word. */
#define _GNU_SOURCE /* memfd_create */
#include "driver/options.h"
#include "driver/predict.h"
#include "driver/train.h"
#include "tests/fuzz/families.h"
#include "tests/fuzz/file.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MOST_WORDS = 64, MOST_POINTS = 1000 };

/* The words, each exactly as long as it is, so that the sanitizer detects a read past it. */
struct line {
    int argc;
    char *argv[MOST_WORDS + 2];
};

static void split(struct line *line, const uint8_t *bytes, size_t size) {
    line->argc = 0;
    line->argv[line->argc++] = strdup("fuzz");
    for (size_t start = 0, end; start < size && line->argc < MOST_WORDS; start = end + 1) {
        for (end = start; end < size && bytes[end] != 0; end++) {
        }
        line->argv[line->argc++] = strndup((const char *)bytes + start, end - start);
    }
    line->argv[line->argc] = NULL;
}

/* Compares the value of an option at a point with its row in the table. */
static void check_value(struct point point, const struct option *option) {
    const struct option_spec *spec = &option->spec;
    if (option->n == 0 || spec->kind == OPTION_FLAG || spec->kind == OPTION_WINDOW) {
        return;
    }
    double number = point_number(point, spec->name);
    if (spec->kind == OPTION_CHOICE) {
        size_t choice = point_choice(point, spec->name);
        for (size_t i = 0; i <= choice; i++) {
            fuzz_demand(spec->choices[i] != NULL);
        }
    } else if (spec->kind == OPTION_NUMBER || spec->kind == OPTION_COUNT) {
        fuzz_demand(option_takes(spec, number) || (spec->word && number == spec->word_value));
    }
    char text[32];
    fuzz_demand(point_text(point, option, text)[0] != '\0');
}

static void check(const struct options *options) {
    fuzz_demand(options->n_points >= 1);
    fuzz_demand(options_block(options, OPTION_SOLVE) >= 1);
    for (size_t p = 0; p < options->n_points && p < MOST_POINTS; p++) {
        for (size_t i = 0; i < options->n; i++) {
            check_value((struct point){options, p}, &options->option[i]);
        }
    }
    for (size_t i = 0; i < options->n; i++) {
        const struct option *option = &options->option[i];
        for (size_t k = 0; k < option->n_weights; k++) {
            fuzz_demand(option->weights[k].weight > 0 && option->weights[k].key_length > 0);
        }
        fuzz_demand(!option->given || option->spec.kind == OPTION_WEIGHTS || option->text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0) {
        return 0;
    }
    size_t family = (bytes[0] & 0x7f) % FUZZ_FAMILIES;
    struct options options = {0};
    struct error err = {.kind = ERROR_NONE, .text = ""};
    int status = bytes[0] & 0x80 ? predict_options(&options, fuzz_predictors[family], &err)
                                 : train_options(&options, fuzz_families[family], &err);
    fuzz_demand(status == 0);
    struct line line;
    split(&line, bytes + 1, size - 1);
    status = options_parse(&options, line.argc, line.argv, &err);
    fuzz_demand_told(status, &err);
    if (status == 0) {
        check(&options);
    } else {
        fuzz_demand(err.kind == ERROR_USAGE);
    }
    options_free(&options);
    for (int i = 0; i < line.argc; i++) {
        free(line.argv[i]);
    }
    return 0;
}
