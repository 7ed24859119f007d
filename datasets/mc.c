/* Rows of several classes, sparse like text, or dense: see datasets/README. Only integers, as in
 * ltr.c, and one square root, which every machine rounds equally. */
#include "common/base/memory.h"
#include "common/base/random.h"
#include "datasets/draw.h"
#include "datasets/family.h"
#include "datasets/writer.h"

#include <math.h>
#include <stdlib.h>

enum {
    UNIT = 10000,   /* of a value: four digits */
    VOCABULARY = 64 /* columns that a class has of its own */
};

struct mc {
    size_t n_rows, n_features, n_classes, n_values; /* n_values: of a row on average; 0: dense */
    int64_t spread;                                 /* of the classes' centres, in units */
    uint64_t seed;
    uint32_t *column; /* of one row, room for 2 n_values */
};

/* A random number determined by a class and an index, without a table. */
static uint64_t scatter(const struct mc *mc, size_t class, size_t index) {
    struct random random;
    random_start(&random, mc->seed + class * UINT64_C(0x9e3779b97f4a7c15) + index, 7);
    return random_bits(&random);
}

/* Draws the columns of a row, ascending and distinct; returns how many. One third is from the
 * vocabulary of the class, one sixth from that of its neighbour, the others from all columns. */
static size_t draw_columns(const struct mc *mc, size_t class, struct random *random) {
    size_t n = 1 + (size_t)random_below(random, 2 * mc->n_values - 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t kind = random_below(random, 6);
        size_t owner = kind < 2 ? class : class ^ 1;
        mc->column[i] =
            kind < 3 ? (uint32_t)(scatter(mc, owner, (size_t)draw_power_law(random, VOCABULARY)) %
                                  mc->n_features)
                     : draw_column(random, mc->n_features);
    }
    return sort_distinct_columns(mc->column, n);
}

/* Writes values such that the row has length about 1. */
static void write_sparse(const struct mc *mc, size_t class, struct random *random,
                         struct output *out) {
    size_t n = draw_columns(mc, class, random);
    int64_t size = (int64_t)(UNIT / sqrt((double)n));
    for (size_t k = 0; k < n; k++) {
        writer_feature(out, mc->column[k],
                       1 + size / 2 + (int64_t)random_below(random, (uint64_t)size + 1), UNIT);
    }
}

/* Writes a point of an approximately normal cloud around the centre of the class, whose coordinates
 * are uniform. */
static void write_dense(const struct mc *mc, size_t class, struct random *random,
                        struct output *out) {
    for (size_t k = 0; k < mc->n_features; k++) {
        int64_t centre = (int64_t)(scatter(mc, class, k) % (2 * UNIT + 1)) - UNIT;
        writer_feature(out, k, centre * mc->spread / UNIT + draw_bell(random, UNIT), UNIT);
    }
}

static void write_rows(const void *context, struct output *out) {
    const struct mc *mc = context;
    struct random random;
    random_start(&random, mc->seed, 8);
    for (size_t i = 0; i < mc->n_rows && !output_failed(out); i++) {
        size_t class = (size_t)random_below(&random, mc->n_classes);
        output_number(out, (double)(class + 1));
        (mc->n_values > 0 ? write_sparse : write_dense)(mc, class, &random, out);
        output_text(out, "\n");
    }
}

static int generate(const struct options *options, struct error *err) {
    struct mc mc = {.n_rows = (size_t)options_number(options, "rows"),
                    .n_features = (size_t)options_number(options, "features"),
                    .n_classes = (size_t)options_number(options, "classes"),
                    .n_values = (size_t)options_number(options, "values"),
                    .spread = (int64_t)(options_number(options, "spread") * UNIT),
                    .seed = (uint64_t)options_number(options, "seed")};
    mc.column = memory_array(2 * mc.n_values, sizeof *mc.column, "a row", err);
    int status =
        mc.column ? writer_write(options_text(options, "output"), NULL, &mc, write_rows, err) : -1;
    free(mc.column);
    return status;
}

static const struct option_spec specs[] = {
    {.name = "rows", .kind = OPTION_COUNT, .initial = "10000", .low = 1, .high = 1e12},
    {.name = "features", .kind = OPTION_COUNT, .initial = "50000", .low = 1, .high = 4e9},
    {.name = "classes", .kind = OPTION_COUNT, .initial = "20", .low = 2, .high = 1e6},
    {.name = "values", .kind = OPTION_COUNT, .initial = "80", .low = 0, .high = 1e6},
    {.name = "spread", .kind = OPTION_NUMBER, .initial = "0.5", .low = 0, .high = 1000},
};

const struct family family_mc = {
    .name = "mc",
    .help = "  rows of several classes, with words of their own, or dense clouds\n"
            "  --rows N (10000)  --features N (50000)  --classes N (20)\n"
            "  --values N (80, of a row on average; 0: dense)  --spread S (0.5, of dense classes)\n"
            "  --seed N (1)  --output FILE (- for standard output)\n",
    TABLE(specs, specs),
    .generate = generate,
};
