/* Imbalanced rows in which the top differs from the whole: see datasets/README. Only integers, as
 * in ltr.c. */
#include "datasets/draw.h"
#include "datasets/family.h"
#include "datasets/writer.h"

enum {
    UNIT = 10000, /* of a value: four digits */
    SHAPES = 2    /* informative features */
};

/* The centre of a cloud in the informative features, in tenths. */
struct cloud {
    int centre[SHAPES];
    const char *label;
};

static const struct cloud bulk = {{0, 0}, "-1"}, hard = {{40, -10}, "-1"},
                          positive = {{20, 15}, "+1"};

struct top {
    size_t n_rows, n_features;
    uint64_t seed;
    double positives, hard; /* shares of the rows, and of the negatives */
};

static void write_row(const struct top *top, const struct cloud *cloud, struct random *random,
                      struct output *out) {
    output_text(out, cloud->label);
    for (size_t k = 0; k < top->n_features; k++) {
        int64_t centre = k < SHAPES ? cloud->centre[k] * (UNIT / 10) : 0;
        writer_feature(out, k, draw_bell(random, UNIT) + centre, UNIT);
    }
    output_text(out, "\n");
}

static void write_rows(const void *context, struct output *out) {
    const struct top *top = context;
    struct random random;
    random_start(&random, top->seed, 5);
    for (size_t i = 0; i < top->n_rows && !output_failed(out); i++) {
        bool is_positive = random_unit(&random) < top->positives;
        bool is_hard = random_unit(&random) < top->hard;
        write_row(top, is_positive ? &positive : is_hard ? &hard : &bulk, &random, out);
    }
}

static int generate(const struct options *options, struct error *err) {
    struct top top = {.n_rows = (size_t)options_number(options, "rows"),
                      .n_features = (size_t)options_number(options, "features"),
                      .positives = options_number(options, "positives"),
                      .hard = options_number(options, "hard"),
                      .seed = (uint64_t)options_number(options, "seed")};
    return writer_write(options_text(options, "output"), NULL, &top, write_rows, err);
}

static const struct option_spec specs[] = {
    {.name = "rows", .kind = OPTION_COUNT, .initial = "5000", .low = 1, .high = 1e12},
    {.name = "features", .kind = OPTION_COUNT, .initial = "20", .low = SHAPES, .high = 1e6},
    {.name = "positives", .kind = OPTION_NUMBER, .initial = "0.1", .low = 0, .high = 1},
    {.name = "hard", .kind = OPTION_NUMBER, .initial = "0.03", .low = 0, .high = 1},
};

const struct family family_top = {
    .name = "top",
    .help = "  few positives, and negatives that score higher than these along what tells them\n"
            "  from all others\n"
            "  --rows N (5000)  --features N (20)  --positives SHARE (0.1)\n"
            "  --hard SHARE (0.03, of the negatives)  --seed N (1)\n"
            "  --output FILE (- for standard output)\n",
    TABLE(specs, specs),
    .generate = generate,
};
