/* generate FAMILY [options] (svm-generate when installed): writes a synthetic data set that
 * resembles real ones, the same on every machine for the same options and seed. See
 * datasets/README. */
#include "common/base/error.h"
#include "datasets/family.h"
#include "driver/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct family *const families[] = {
    &family_rank, &family_ltr, &family_sparse, &family_top, &family_ml, &family_smm, &family_mc};
enum { FAMILIES = sizeof families / sizeof *families };

/* The options of all families. */
static const struct option_spec common[] = {
    {.name = "seed", .kind = OPTION_COUNT, .initial = "1", .low = 0, .high = 9e15},
    {.name = "output", .kind = OPTION_TEXT, .initial = "-"},
};

/* The name of the program: it is installed as svm-generate. */
static const char *own_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "generate";
}

/* Prints the options of one family, or of all if its name is NULL. */
static int usage(const char *name, const char *of) {
    printf("Usage: %s %s [options]\n", name, of ? of : "FAMILY");
    for (size_t i = 0; i < FAMILIES; i++) {
        if (!of || strcmp(of, families[i]->name) == 0) {
            printf("\n%s:\n%s", families[i]->name, families[i]->help);
        }
    }
    if (fflush(stdout) == 0) {
        return 0;
    }
    fprintf(stderr, "%s: <stdout>: cannot write: %s\n", name, strerror(errno));
    return ERROR_RUNTIME;
}

static int run(const struct family *family, int argc, char **argv, struct error *err) {
    struct options options = {0};
    int status = -1;
    if (options_add(&options, family->specs, family->n_specs, 0, err) == 0 &&
        options_add(&options, common, sizeof common / sizeof *common, 0, err) == 0 &&
        options_parse(&options, argc, argv, err) == 0) {
        bool split = options_has(&options, "test") && options_number(&options, "test") > 0;
        if (options.n_operands > 0) {
            error_set(err, ERROR_USAGE, "unexpected argument: %s", options.operand[0]);
        } else if (split && strcmp(options_text(&options, "output"), "-") == 0) {
            error_set(err, ERROR_USAGE, "--test writes two files: --output NAME is needed");
        } else {
            status = family->generate(&options, err);
        }
    }
    options_free(&options);
    return status;
}

int main(int argc, char **argv) {
    const char *name = own_name(argv[0]);
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        return usage(name, NULL);
    }
    for (size_t i = 0; argc > 1 && i < FAMILIES; i++) {
        if (strcmp(argv[1], families[i]->name) == 0) {
            if (argc > 2 && strcmp(argv[2], "--help") == 0) {
                return usage(name, argv[1]);
            }
            struct error err;
            if (run(families[i], argc - 1, argv + 1, &err) == 0) {
                return 0;
            }
            fprintf(stderr, "%s %s: %s%s\n", name, argv[1], err.text,
                    err.kind == ERROR_USAGE ? ": try --help" : "");
            return (int)err.kind;
        }
    }
    fprintf(stderr, "%s: %s%s: try --help\n", name, argc > 1 ? "unknown family: " : "no family",
            argc > 1 ? argv[1] : "");
    return ERROR_USAGE;
}
