/* Retention times of small molecules on several chromatographic systems.
 *
 * Molecules are assembled from fragments: a fragment adds to the counts of a few features, some
 * fragments are frequent and most are rare, and general features (atoms, bonds, rings) occur in
 * many fragments. So counts are sparse, correlated in blocks, and heavy-tailed.
 *
 * The retention of a molecule on a system is a sum over features of weight * count / (count +
 * half), which saturates, and of interactions of fragments. Systems share their weights up to a
 * part of their own. The retention time is a dead time plus an increasing, curved function of
 * retention, plus noise; values before the dead time are set to it, so that there are ties. Each
 * system has measured a random part of the molecules.
 *
 * Only +, -, *, / and comparisons on doubles, and no fused operations: the text is the same on
 * every machine. */
#include "common/base/arrays.h"
#include "datasets/draw.h"
#include "datasets/family.h"
#include "datasets/writer.h"

#include <stdlib.h>

enum { PARTS = 8, MAX_FRAGMENTS = 12, INTERACTIONS = 40 };

struct fragment {
    uint32_t feature[PARTS];
    uint32_t count[PARTS];
    uint32_t n_parts;
};

struct system {
    double dead_time, length; /* minutes */
    double curve;             /* 0: straight, 1: strongly curved */
    double share;             /* of the molecules measured */
};

struct interaction {
    uint32_t a, b; /* fragments */
    double effect;
};

struct set {
    size_t n_systems, n_molecules, n_features, n_fragments;
    double noise, test_share;
    bool test; /* the rows of the test file are written */
    uint64_t seed;
    struct fragment *fragment; /* (n_fragments) */
    struct system *system;     /* (n_systems) */
    double *weight;            /* (n_systems, n_features) */
    double *half;              /* (n_features): the count of half the effect */
    uint32_t *count;           /* (n_molecules, n_features) row-major */
    unsigned char *in_test;    /* (n_molecules) */
    double *shared;            /* (n_molecules): effect of interactions */
    double *retention;         /* (n_molecules), of one system */
    struct interaction interaction[INTERACTIONS];
};

/* 1, 2, ... with falling probability: heavy-tailed counts. */
static uint32_t heavy(struct random *random, uint32_t max) {
    double u = random_unit(random);
    double x = 1 / (1 - u * 0.98);
    return x < (double)max ? (uint32_t)x : max;
}

/* A number of 0..n-1, small ones more often (cube of a uniform number). */
static uint32_t popular(struct random *random, size_t n) {
    double u = random_unit(random);
    return (uint32_t)(u * u * u * (double)n);
}

/* Every fifth feature or so is general. */
static uint32_t general(struct random *random, size_t n_features) {
    return (uint32_t)random_below(random, n_features / 5 + 1);
}

static void make_fragments(struct set *set, struct random *random) {
    for (size_t f = 0; f < set->n_fragments; f++) {
        struct fragment *fragment = &set->fragment[f];
        fragment->n_parts = 3 + (uint32_t)random_below(random, PARTS - 2);
        for (uint32_t p = 0; p < fragment->n_parts; p++) {
            bool is_general = p < 2;
            fragment->feature[p] = is_general ? general(random, set->n_features)
                                              : (uint32_t)random_below(random, set->n_features);
            fragment->count[p] = is_general ? heavy(random, 6) : 1;
        }
    }
    for (size_t m = 0; m < INTERACTIONS; m++) {
        set->interaction[m] =
            (struct interaction){popular(random, set->n_fragments),
                                 popular(random, set->n_fragments), draw_normal(random)};
    }
}

static void make_systems(struct set *set, struct random *random) {
    double *shared =
        set->retention; /* not in use yet; its length is at least n_features, see allocate */
    for (size_t k = 0; k < set->n_features; k++) {
        shared[k] = draw_normal(random);
        set->half[k] = 0.5 + 3 * random_unit(random);
    }
    for (size_t s = 0; s < set->n_systems; s++) {
        struct system *system = &set->system[s];
        system->dead_time = 0.4 + 1.6 * random_unit(random);
        system->length = 6 + 30 * random_unit(random);
        system->curve = random_unit(random);
        system->share = 0.25 + 0.4 * random_unit(random);
        for (size_t k = 0; k < set->n_features; k++) {
            set->weight[s * set->n_features + k] = shared[k] + 0.2 * draw_normal(random);
        }
    }
}

static void make_molecules(struct set *set, struct random *random) {
    for (size_t m = 0; m < set->n_molecules; m++) {
        uint32_t *count = set->count + m * set->n_features;
        uint32_t chosen[MAX_FRAGMENTS];
        size_t n = 2 + (size_t)random_below(random, 4) + heavy(random, MAX_FRAGMENTS - 5);
        set->shared[m] = 0;
        for (size_t i = 0; i < n; i++) {
            chosen[i] = popular(random, set->n_fragments);
            const struct fragment *fragment = &set->fragment[chosen[i]];
            uint32_t times = heavy(random, 8);
            for (uint32_t p = 0; p < fragment->n_parts; p++) {
                count[fragment->feature[p]] += times * fragment->count[p];
            }
        }
        for (size_t e = 0; e < INTERACTIONS; e++) {
            bool a = false, b = false;
            for (size_t i = 0; i < n; i++) {
                a = a || chosen[i] == set->interaction[e].a;
                b = b || chosen[i] == set->interaction[e].b;
            }
            set->shared[m] += a && b ? set->interaction[e].effect : 0;
        }
        set->in_test[m] = random_unit(random) < set->test_share;
    }
}

/* Retention of all molecules on a system, shifted and scaled to mean 0 and mean absolute value 1
 * (no square root is needed for that). */
static void compute_retention(const struct set *set, size_t s) {
    const double *weight = set->weight + s * set->n_features;
    double n = (double)set->n_molecules, mean = 0, size = 0;
    for (size_t m = 0; m < set->n_molecules; m++) {
        const uint32_t *count = set->count + m * set->n_features;
        double sum = set->shared[m];
        for (size_t k = 0; k < set->n_features; k++) {
            if (count[k] > 0) {
                sum += weight[k] * count[k] / (count[k] + set->half[k]);
            }
        }
        set->retention[m] = sum;
        mean += sum / n;
    }
    for (size_t m = 0; m < set->n_molecules; m++) {
        set->retention[m] -= mean;
        size += (set->retention[m] < 0 ? -set->retention[m] : set->retention[m]) / n;
    }
    for (size_t m = 0; m < set->n_molecules; m++) {
        set->retention[m] /= size > 0 ? size : 1;
    }
}

/* The retention time in hundredths of minutes. x is of order 1; molecules below -1.6 elute with the
 * dead time. */
static int64_t retention_time(const struct system *system, double x) {
    double shifted = x + 1.6;
    if (shifted < 0) {
        shifted = 0;
    }
    double straight = shifted / 4, bent = shifted / (shifted + 1.6);
    double share = (1 - system->curve) * straight + system->curve * bent;
    return (int64_t)(100 * (system->dead_time + system->length * share) + 0.5);
}

static void write_system(const struct set *set, size_t s, struct output *out,
                         struct random random) {
    const struct system *system = &set->system[s];
    for (size_t m = 0; m < set->n_molecules; m++) {
        bool measured = random_unit(&random) < system->share;
        double noise = set->noise * draw_normal(&random);
        if (!measured || set->in_test[m] != set->test) {
            continue;
        }
        output_number(out, (double)retention_time(system, set->retention[m] + noise) / 100);
        output_format(out, " qid:%zu", s + 1);
        const uint32_t *count = set->count + m * set->n_features;
        for (size_t k = 0; k < set->n_features; k++) {
            if (count[k] > 0) {
                writer_feature(out, k, count[k], 1);
            }
        }
        output_format(out, " # system-%zu molecule-%zu\n", s + 1, m + 1);
    }
}

static void write_rows(const void *context, struct output *out) {
    const struct set *set = context;
    for (size_t s = 0; s < set->n_systems; s++) {
        struct random random; /* the same for both sides of a split */
        random_start(&random, set->seed, 11 + s);
        compute_retention(set, s);
        write_system(set, s, out, random);
    }
}

/* Returns the block of the arrays, which the caller frees. */
static void *allocate(struct set *set, struct error *err) {
    size_t n = set->n_molecules, d = set->n_features; /* the limits of options exclude overflow */
    size_t longer = n > d ? n : d;                    /* retention first holds the shared weights */
    return ARRAYS_CREATE(
        "molecules", err, ARRAYS(set->n_fragments, struct fragment, &set->fragment),
        ARRAYS(set->n_systems, struct system, &set->system),
        ARRAYS(set->n_systems * d, double, &set->weight), ARRAYS(d, double, &set->half),
        ARRAYS(n * d, uint32_t, &set->count), ARRAYS(n, unsigned char, &set->in_test),
        ARRAYS(n, double, &set->shared), ARRAYS(longer, double, &set->retention));
}

static int generate(const struct options *options, struct error *err) {
    struct set set = {.n_systems = (size_t)options_number(options, "systems"),
                      .n_molecules = (size_t)options_number(options, "molecules"),
                      .n_features = (size_t)options_number(options, "features"),
                      .noise = options_number(options, "noise"),
                      .test_share = options_number(options, "test"),
                      .seed = (uint64_t)options_number(options, "seed")};
    set.n_fragments = set.n_features / 4 + 4;
    int status = -1;
    void *block = allocate(&set, err);
    if (block) {
        struct random random;
        random_start(&random, set.seed, 10);
        make_fragments(&set, &random);
        make_systems(&set, &random);
        make_molecules(&set, &random);
        status = writer_write(options_text(options, "output"),
                              set.test_share > 0 ? &set.test : NULL, &set, write_rows, err);
    }
    free(block);
    return status;
}

static const struct option_spec specs[] = {
    {.name = "systems", .kind = OPTION_COUNT, .initial = "5", .low = 1, .high = 1e6},
    {.name = "molecules", .kind = OPTION_COUNT, .initial = "400", .low = 1, .high = 1e9},
    {.name = "features", .kind = OPTION_COUNT, .initial = "300", .low = 1, .high = 1e6},
    {.name = "noise", .kind = OPTION_NUMBER, .initial = "0.1", .low = 0, .high = 100},
    {.name = "test", .kind = OPTION_NUMBER, .initial = "0", .low = 0, .high = 0.99},
};

const struct family family_rank = {
    .name = "rank",
    .help = "  retention times of molecules on chromatographic systems\n"
            "  --systems N (5)  --molecules N (400)  --features N (300)  --noise S (0.1)\n"
            "  --test SHARE (0; else that share of the molecules goes to OUTPUT.test, the others\n"
            "  to OUTPUT.train)  --seed N (1)  --output FILE (- for standard output)\n",
    TABLE(specs, specs),
    .generate = generate,
};
