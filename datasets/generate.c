/* generate FAMILY [options]: writes a data set that looks like real ones, the same on every
 * machine for the same options and seed. See datasets/README. */
#include "common/base/error.h"
#include "datasets/family.h"
#include "driver/options.h"

#include <stdio.h>
#include <string.h>

static const struct family *const families[] = {
    &family_rank, &family_ltr, &family_sparse, &family_top, &family_ml, &family_smm, &family_mc};
enum { FAMILIES = sizeof families / sizeof *families };

static int usage(FILE *out) {
    fprintf(out, "Usage: generate FAMILY [options]\n");
    for (size_t i = 0; i < FAMILIES; i++) {
        fprintf(out, "\n%s:\n%s", families[i]->name, families[i]->help);
    }
    return fflush(out) == 0 ? 0 : 1;
}

static int run(const struct family *family, int argc, char **argv, struct error *err) {
    struct options options = {0};
    int status = -1;
    if (options_add(&options, family->specs, family->n_specs, 0, err) == 0 &&
        options_parse(&options, argc, argv, err) == 0) {
        if (options.n_operands > 0) {
            error_set(err, ERROR_USAGE, "unexpected argument: %s", options.operand[0]);
        } else {
            status = family->generate(&options, err);
        }
    }
    options_free(&options);
    return status;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        return usage(stdout);
    }
    for (size_t i = 0; argc > 1 && i < FAMILIES; i++) {
        if (strcmp(argv[1], families[i]->name) == 0) {
            struct error err;
            if (run(families[i], argc - 1, argv + 1, &err) == 0) {
                return 0;
            }
            fprintf(stderr, "generate %s: %s\n", argv[1], err.text);
            return (int)err.kind;
        }
    }
    usage(stderr);
    return ERROR_USAGE;
}
