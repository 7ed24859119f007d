/* Dense learning-to-rank rows, after the public web-search sets: features with values in [0, 1] of
 * four digits, correlated through hidden factors, skewed, partly zero, some constant within a
 * query; grades that depend on them through a noisy, partly nonlinear relevance.
 *
 * Values are drawn as integers (0..9999), so that the text is the same on every machine. */
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "datasets/family.h"
#include "datasets/writer.h"

#include <stdlib.h>

enum { UNIT = 10000, FACTORS = 12, SAMPLE = 8192, MAX_GRADES = 32 };

enum shape { PLAIN, SKEWED, OFTEN_ZERO, OF_QUERY, SHAPES };

struct column {
    enum shape shape;
    uint32_t factor;   /* hidden factor that it depends on */
    uint32_t share;    /* percentage of the factor in its values */
    int32_t weight;    /* in the relevance */
    uint32_t partner;  /* column that it interacts with */
    int32_t together;  /* weight of the product with the partner */
    uint32_t saturate; /* values above do not add to the relevance */
};

struct ltr {
    size_t n_rows, n_features, n_queries, n_grades;
    uint64_t seed;
    int64_t noise; /* per mille of the interquartile range of the relevance */
    struct column *column;
    uint32_t *value; /* of one row */
    int64_t threshold[MAX_GRADES];
    int64_t range; /* interquartile range of the relevance */
};

static uint32_t draw(struct random *random) {
    return (uint32_t)((random_bits(random) >> 32) * UNIT >> 32);
}

static void make_columns(struct ltr *ltr, struct random *random) {
    for (size_t k = 0; k < ltr->n_features; k++) {
        struct column *c = &ltr->column[k];
        uint64_t kind = random_below(random, 10);
        c->shape = kind < 4 ? PLAIN : kind < 7 ? SKEWED : kind < 9 ? OFTEN_ZERO : OF_QUERY;
        c->factor = (uint32_t)random_below(random, FACTORS);
        c->share = 20 + (uint32_t)random_below(random, 75);
        c->weight = (int32_t)random_below(random, 201) - 60; /* mostly positive */
        c->partner = (uint32_t)random_below(random, ltr->n_features);
        c->together = random_below(random, 4) == 0 ? (int32_t)random_below(random, 401) - 200 : 0;
        c->saturate = 2000 + (uint32_t)random_below(random, UNIT - 2000);
    }
}

/* Fills ltr->value and returns the relevance without noise. A draw of 64 bits serves four
 * features. */
static int64_t make_row(const struct ltr *ltr, const uint32_t *of_query, struct random *random) {
    uint32_t factor[FACTORS];
    for (size_t f = 0; f < FACTORS; f++) {
        factor[f] = draw(random);
    }
    uint64_t bits = 0;
    for (size_t k = 0; k < ltr->n_features; k++) {
        const struct column *c = &ltr->column[k];
        bits = k % 4 == 0 ? random_bits(random) : bits >> 16;
        uint32_t own = (uint32_t)((bits & 0xffff) * UNIT >> 16);
        uint32_t v = (c->share * factor[c->factor] + (100 - c->share) * own) / 100;
        switch (c->shape) {
        case SKEWED:
            v = v * v / UNIT * v / UNIT;
            break;
        case OFTEN_ZERO:
            v = v < UNIT / 2 ? 0 : 2 * v - UNIT;
            break;
        case OF_QUERY:
            v = of_query[c->factor];
            break;
        default:
            break;
        }
        ltr->value[k] = v;
    }
    int64_t relevance = 0;
    for (size_t k = 0; k < ltr->n_features; k++) {
        const struct column *c = &ltr->column[k];
        uint32_t v = ltr->value[k];
        relevance += c->weight * (int64_t)(v < c->saturate ? v : c->saturate);
        if (c->together != 0) {
            relevance += c->together * (int64_t)v * ltr->value[c->partner] / UNIT;
        }
    }
    return relevance;
}

/* Approximately normal, with standard deviation about 0.58 of the interquartile range at noise
 * 1000. */
static int64_t make_noise(const struct ltr *ltr, struct random *random) {
    int64_t sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += (int64_t)draw(random) - UNIT / 2;
    }
    return sum * (ltr->range / UNIT) * ltr->noise / 1000;
}

static void make_query(uint32_t of_query[FACTORS], struct random *random) {
    for (size_t f = 0; f < FACTORS; f++) {
        of_query[f] = draw(random);
    }
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sets the thresholds of the grades from the relevances of a sample of rows: each grade is two to
 * three times rarer than the one below, as in judged data. */
static int set_thresholds(struct ltr *ltr, struct error *err) {
    struct random random;
    random_start(&random, ltr->seed, 1);
    int64_t *sample = memory_array(SAMPLE, sizeof *sample, "a sample of rows", err);
    if (!sample) {
        return -1;
    }
    for (int pass = 0; pass < 2;
         pass++) { /* the noise needs the interquartile range, from a first pass */
        for (size_t i = 0; i < SAMPLE; i++) {
            uint32_t of_query[FACTORS];
            make_query(of_query, &random);
            sample[i] = make_row(ltr, of_query, &random);
            sample[i] += pass == 0 ? 0 : make_noise(ltr, &random);
        }
        qsort(sample, SAMPLE, sizeof *sample, compare);
        if (pass == 0) {
            ltr->range = sample[3 * SAMPLE / 4] - sample[SAMPLE / 4] + 1;
        }
    }
    size_t above = SAMPLE;
    for (size_t g = 1; g < ltr->n_grades; g++) {
        above = above * 9 / 20; /* 45% of the rows of a grade or higher reach the next grade */
        ltr->threshold[g] = sample[SAMPLE - 1 - above];
    }
    free(sample);
    return 0;
}

static void write_row(const struct ltr *ltr, struct output *out, int64_t relevance, size_t query) {
    if (ltr->n_grades == 0) {
        /* in units of 1/1000 of the interquartile range */
        output_number(out, (double)(relevance / (ltr->range / 1000 + 1)) / 1000);
    } else {
        uint64_t grade = 0;
        while (grade + 1 < ltr->n_grades && relevance > ltr->threshold[grade + 1]) {
            grade++;
        }
        output_number(out, (double)grade);
    }
    if (ltr->n_queries > 0) {
        output_format(out, " qid:%zu", query + 1);
    }
    for (size_t k = 0; k < ltr->n_features; k++) {
        writer_feature(out, k, ltr->value[k], UNIT);
    }
    output_text(out, "\n");
}

static void write_rows(const void *context, struct output *out) {
    const struct ltr *ltr = context;
    struct random random;
    random_start(&random, ltr->seed, 2);
    uint32_t of_query[FACTORS];
    make_query(of_query, &random);
    size_t query = 0, share = 0; /* row i is of query floor(i n_queries / n_rows) */
    for (size_t i = 0; i < ltr->n_rows && !output_failed(out); i++) {
        if (share >= ltr->n_rows) {
            query += share / ltr->n_rows;
            share %= ltr->n_rows;
            make_query(of_query, &random);
        }
        share += ltr->n_queries;
        int64_t relevance = make_row(ltr, of_query, &random);
        write_row(ltr, out, relevance + make_noise(ltr, &random), query);
    }
}

static int generate(const struct options *options, struct error *err) {
    struct ltr ltr = {.n_rows = (size_t)options_number(options, "rows"),
                      .n_features = (size_t)options_number(options, "features"),
                      .n_queries = (size_t)options_number(options, "queries"),
                      .n_grades = (size_t)options_number(options, "grades"),
                      .noise = (int64_t)(1000 * options_number(options, "noise")),
                      .seed = (uint64_t)options_number(options, "seed")};
    struct random random;
    random_start(&random, ltr.seed, 0);
    int status = -1;
    void *block = ARRAYS_CREATE("columns", err, ARRAYS(ltr.n_features, struct column, &ltr.column),
                                ARRAYS(ltr.n_features, uint32_t, &ltr.value));
    if (block) {
        make_columns(&ltr, &random);
        status = set_thresholds(&ltr, err) < 0
                     ? -1
                     : writer_write(options_text(options, "output"), NULL, &ltr, write_rows, err);
    }
    free(block);
    return status;
}

static const struct option_spec specs[] = {
    {.name = "rows", .kind = OPTION_COUNT, .initial = "10000", .low = 1, .high = 1e12},
    {.name = "features", .kind = OPTION_COUNT, .initial = "136", .low = 1, .high = 1e6},
    {.name = "queries", .kind = OPTION_COUNT, .initial = "100", .low = 0, .high = 1e12},
    {.name = "grades", .kind = OPTION_COUNT, .initial = "5", .low = 0, .high = MAX_GRADES},
    {.name = "noise", .kind = OPTION_NUMBER, .initial = "0.5", .low = 0, .high = 100},
};

const struct family family_ltr = {
    .name = "ltr",
    .help = "  dense rows for learning to rank\n"
            "  --rows N (10000)  --features N (136)  --queries N (100; 0: no qid)\n"
            "  --grades N (5; 0: a continuous target)  --noise S (0.5)  --seed N (1)\n"
            "  --output FILE (- for standard output)\n",
    TABLE(specs, specs),
    .generate = generate,
};
