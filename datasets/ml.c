/* Documents with several labels each, like text collections.
 *
 * Labels are grouped by topics and form a tree: label k, from 0, has the parent k / 4, and a
 * document with a label usually has its parent too. A few labels are frequent, most are rare. A
 * document has one to three topics and labels of each; its words come from the vocabularies of its
 * labels and topics, and from common words. So labels are correlated with one another and with the
 * features, and can be predicted from these up to noise.
 *
 * Only +, -, *, / and comparisons on doubles, and no fused operations: the text is the same on
 * every machine. */
#include "common/base/arrays.h"
#include "datasets/draw.h"
#include "datasets/family.h"
#include "datasets/writer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TOPIC_LABELS = 6, VOCABULARY = 24, TREE = 4 };

struct topic {
    uint32_t label[TOPIC_LABELS];
    double share[TOPIC_LABELS]; /* of the documents of the topic that have the label */
    uint32_t word[VOCABULARY];
};

struct set {
    size_t n_rows, n_features, n_labels, n_values, n_topics;
    double noise, test_share;
    bool test; /* the rows of the test file are written */
    uint64_t seed;
    struct topic *topic;      /* (n_topics) */
    uint32_t *vocabulary;     /* (n_labels, VOCABULARY) */
    unsigned char *has_label; /* (n_labels) of the current document */
    uint32_t *own, *word;     /* (n_labels), (2 n_values) of the current document */
};

/* A number of 0..n-1, small ones more often (square of a uniform number). */
static uint32_t popular(struct random *random, size_t n) {
    double u = random_unit(random);
    return (uint32_t)(u * u * (double)n);
}

static void make_vocabulary(const struct set *set, struct random *random, uint32_t *word) {
    for (uint32_t v = 0; v < VOCABULARY; v++) {
        word[v] = popular(random, set->n_features);
    }
}

static void make_topics(const struct set *set, struct random *random) {
    for (size_t k = 0; k < set->n_labels; k++) {
        make_vocabulary(set, random, set->vocabulary + k * VOCABULARY);
    }
    for (size_t t = 0; t < set->n_topics; t++) {
        struct topic *topic = &set->topic[t];
        for (uint32_t l = 0; l < TOPIC_LABELS; l++) {
            topic->label[l] = popular(random, set->n_labels);
            topic->share[l] = 0.05 + 0.75 * random_unit(random);
        }
        make_vocabulary(set, random, topic->word);
    }
}

/* Marks and lists the document's labels; returns how many. */
static size_t draw_labels(const struct set *set, const uint32_t *topics, size_t n_topics,
                          struct random *random) {
    size_t n = 0;
    memset(set->has_label, 0, set->n_labels);
    for (size_t i = 0; i < n_topics; i++) {
        const struct topic *topic = &set->topic[topics[i]];
        for (uint32_t l = 0; l < TOPIC_LABELS; l++) {
            uint32_t label = topic->label[l];
            bool has = random_unit(random) < topic->share[l];
            while (has && !set->has_label[label]) {
                set->has_label[label] = 1;
                set->own[n++] = label;
                label /= TREE;
                has = random_unit(random) < 0.7;
            }
        }
    }
    return n;
}

/* Draws the words, sorted, with repeats; returns how many. */
static size_t draw_words(const struct set *set, const uint32_t *topics, size_t n_topics,
                         size_t n_own, struct random *random) {
    size_t n = 1 + (size_t)random_below(random, 2 * set->n_values - 1);
    for (size_t i = 0; i < n; i++) {
        uint32_t at = popular(random, VOCABULARY);
        if (random_unit(random) < set->noise) {
            set->word[i] = popular(random, set->n_features);
        } else if (n_own > 0 && random_below(random, 4) > 0) {
            uint32_t label = set->own[random_below(random, n_own)];
            set->word[i] = set->vocabulary[(size_t)label * VOCABULARY + at];
        } else {
            set->word[i] = set->topic[topics[random_below(random, n_topics)]].word[at];
        }
    }
    sort_columns(set->word, n);
    return n;
}

static void write_row(const struct set *set, size_t n_words, struct output *out,
                      struct random *random) {
    const char *between = "";
    for (size_t k = 0; k < set->n_labels; k++) {
        if (set->has_label[k]) {
            output_format(out, "%s%zu", between, k + 1);
            between = ",";
        }
    }
    for (size_t first = 0, end; first < n_words; first = end) {
        for (end = first; end < n_words && set->word[end] == set->word[first];) {
            end++;
        }
        uint64_t weight = (end - first) * (300 + random_below(random, 700));
        writer_feature(out, set->word[first], (int64_t)weight, 10000);
    }
    output_text(out, "\n");
}

static void write_rows(const void *context, struct output *out) {
    const struct set *set = context;
    for (size_t i = 0; i < set->n_rows && !output_failed(out); i++) {
        struct random random; /* a stream for each document: both sides see the same ones */
        uint32_t topics[3];
        random_start(&random, set->seed, 100 + i);
        bool in_test = random_unit(&random) < set->test_share;
        if (in_test != set->test) {
            continue;
        }
        double u = random_unit(&random);
        size_t n_topics = u < 0.6 ? 1 : u < 0.9 ? 2 : 3;
        for (size_t t = 0; t < n_topics; t++) {
            topics[t] = popular(&random, set->n_topics);
        }
        size_t n_own = draw_labels(set, topics, n_topics, &random);
        size_t n_words = draw_words(set, topics, n_topics, n_own, &random);
        write_row(set, n_words, out, &random);
    }
}

static int generate(const struct options *options, struct error *err) {
    struct set set = {.n_rows = (size_t)options_number(options, "rows"),
                      .n_features = (size_t)options_number(options, "features"),
                      .n_labels = (size_t)options_number(options, "labels"),
                      .n_values = (size_t)options_number(options, "values"),
                      .noise = options_number(options, "noise"),
                      .test_share = options_number(options, "test"),
                      .seed = (uint64_t)options_number(options, "seed")};
    set.n_topics = set.n_labels / 2 + 2;
    void *block = ARRAYS_CREATE("topics", err, ARRAYS(set.n_topics, struct topic, &set.topic),
                                ARRAYS(set.n_labels * VOCABULARY, uint32_t, &set.vocabulary),
                                ARRAYS(set.n_labels, unsigned char, &set.has_label),
                                ARRAYS(set.n_labels, uint32_t, &set.own),
                                ARRAYS(2 * set.n_values, uint32_t, &set.word));
    int status = -1;
    if (block) {
        struct random random;
        random_start(&random, set.seed, 20);
        make_topics(&set, &random);
        status = writer_write(options_text(options, "output"),
                              set.test_share > 0 ? &set.test : NULL, &set, write_rows, err);
    }
    free(block);
    return status;
}

static const struct option_spec specs[] = {
    {.name = "rows", .kind = OPTION_COUNT, .initial = "1000", .low = 1, .high = 1e12},
    {.name = "features", .kind = OPTION_COUNT, .initial = "2000", .low = 1, .high = 4e9},
    {.name = "labels", .kind = OPTION_COUNT, .initial = "30", .low = 2, .high = 1e6},
    {.name = "values", .kind = OPTION_COUNT, .initial = "40", .low = 1, .high = 1e6},
    {.name = "noise", .kind = OPTION_NUMBER, .initial = "0.3", .low = 0, .high = 1},
    {.name = "test", .kind = OPTION_NUMBER, .initial = "0", .low = 0, .high = 0.99},
};

const struct family family_ml = {
    .name = "ml",
    .help =
        "  documents with several labels\n"
        "  --rows N (1000)  --features N (2000)  --labels N (30)  --values N (40, words of a\n"
        "  row on average)  --noise SHARE (0.3, of words of general use)  --test SHARE (0; else\n"
        "  that share of the rows goes to OUTPUT.test, the others to OUTPUT.train)  --seed N (1)\n"
        "  --output FILE (- for standard output)\n",
    TABLE(specs, specs),
    .generate = generate,
};
