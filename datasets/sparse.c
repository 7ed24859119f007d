/* Sparse rows, like text: columns by a power law, weights of four digits, and a target that depends
 * on some of the columns. Only integers, as in ltr.c. */
#include "common/base/memory.h"
#include "common/base/random.h"
#include "datasets/draw.h"
#include "datasets/family.h"
#include "datasets/writer.h"

#include <inttypes.h>
#include <stdlib.h>

struct sparse {
    size_t n_rows, n_features, n_queries, n_values; /* n_values: of a row, on average */
    uint64_t seed;
    int32_t *weight;  /* (n_features) */
    uint32_t *column; /* of one row, room for 2 n_values */
};

/* Draws the columns of a row, ascending, without repeats, by a power law; returns how many. */
static size_t draw_columns(const struct sparse *set, struct random *random) {
    size_t n = 1 + (size_t)random_below(random, 2 * set->n_values - 1);
    for (size_t i = 0; i < n; i++) {
        set->column[i] = draw_column(random, set->n_features);
    }
    return sort_distinct_columns(set->column, n);
}

static void write_rows(const void *context, struct output *out) {
    const struct sparse *set = context;
    struct random random;
    random_start(&random, set->seed, 4);
    for (size_t i = 0; i < set->n_rows && !output_failed(out); i++) {
        size_t n = draw_columns(set, &random);
        int64_t target = 0;
        for (size_t k = 0; k < n; k++) {
            target += set->weight[set->column[k]];
        }
        target += (int64_t)random_below(&random, 401) - 200;
        output_number(out, (double)target / 100);
        if (set->n_queries > 0) {
            output_format(out, " qid:%" PRIu64, 1 + random_below(&random, set->n_queries));
        }
        for (size_t k = 0; k < n; k++) {
            writer_feature(out, set->column[k], 1 + (int64_t)random_below(&random, 9999), 10000);
        }
        output_text(out, "\n");
    }
}

static int generate(const struct options *options, struct error *err) {
    struct sparse set = {.n_rows = (size_t)options_number(options, "rows"),
                         .n_features = (size_t)options_number(options, "features"),
                         .n_queries = (size_t)options_number(options, "queries"),
                         .n_values = (size_t)options_number(options, "values"),
                         .seed = (uint64_t)options_number(options, "seed")};
    struct random random;
    random_start(&random, set.seed, 3);
    int status = -1;
    set.weight = memory_array(set.n_features, sizeof *set.weight, "weights", err);
    set.column =
        set.weight ? memory_array(2 * set.n_values, sizeof *set.column, "a row", err) : NULL;
    if (set.column) {
        for (size_t k = 0; k < set.n_features; k++) {
            set.weight[k] = (int32_t)random_below(&random, 201) - 100;
        }
        status = writer_write(options_text(options, "output"), NULL, &set, write_rows, err);
    }
    free(set.weight);
    free(set.column);
    return status;
}

static const struct option_spec specs[] = {
    {.name = "rows", .kind = OPTION_COUNT, .initial = "10000", .low = 1, .high = 1e12},
    {.name = "features", .kind = OPTION_COUNT, .initial = "50000", .low = 1, .high = 4e9},
    {.name = "values", .kind = OPTION_COUNT, .initial = "80", .low = 1, .high = 1e6},
    {.name = "queries", .kind = OPTION_COUNT, .initial = "0", .low = 0, .high = 1e12},
};

const struct family family_sparse = {
    .name = "sparse",
    .help = "  sparse rows, as text gives them\n"
            "  --rows N (10000)  --features N (50000)  --values N (80, of a row on average)\n"
            "  --queries N (0: no qid)  --seed N (1)  --output FILE (- for standard output)\n",
    TABLE(specs, specs),
    .generate = generate,
};
