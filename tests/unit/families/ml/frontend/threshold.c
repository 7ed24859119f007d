/* Thresholds: targets and line of ew against numpy's; cuts against all other cuts; label sets;
 * models. */
#include "families/ml/frontend/threshold.h"
#include "families/ml/solver/sort.h"
#include "tests/unit/compute.h"

enum { MOST = 64 };

static void read_set(const char *text, bool *set) {
    for (size_t k = 0; text[k]; k++) {
        set[k] = text[k] == '1';
    }
}

struct target {
    double s[3];
    const char *relevant;
    double target;
};

static const struct target targets[] = {
    {{-0.015625, -1.453125, -0.453125}, "011", -2.453125},
    {{0.75, -0.078125, 0.078125}, "001", 0.0},
    {{-0.296875, 1.15625, -0.015625}, "101", -1.296875},
    {{-2.203125, -0.6875, -1.96875}, "010", -1.328125},
    {{-3.25, -0.53125, 1.328125}, "000", 2.328125},
    {{0.046875, -1.171875, -0.9375}, "110", -2.171875},
    {{1.125, 0.15625, 0.046875}, "011", -0.953125},
    {{-0.046875, 0.03125, 0.8125}, "000", 1.8125},
};

/* numpy.linalg.lstsq of the targets on (s, 1) */
static const double line[] = {-0.47047465, 0.23740213, 1.24694461, -0.48719486};

/* Rows for a fit, with label sets given as text. */
struct sets {
    struct ml_rows rows;
    uint64_t start[MOST + 1];
    uint32_t relevant[MOST * MOST];
};

static void add_set(struct sets *sets, const char *text) {
    struct ml_rows *rows = &sets->rows;
    rows->start = sets->start;
    rows->relevant = sets->relevant;
    rows->q = (uint32_t)strlen(text);
    uint64_t n = sets->start[rows->n_all];
    for (uint32_t k = 0; text[k]; k++) {
        if (text[k] == '1') {
            sets->relevant[n++] = k;
        }
    }
    sets->start[++rows->n_all] = n;
}

static void fit(struct ml_threshold *threshold, const char *how, const struct sets *sets,
                const double *scores) {
    MUST(ml_threshold_parse(threshold, how, &err));
    bool late = false;
    CHECK(ml_threshold_fit(threshold, &sets->rows, scores, NULL, NULL, &late, &err) == 0 && !late,
          "%s", err.text);
}

static void check_ew(void) {
    struct ml_sort list[3], merge[3];
    static struct sets sets;
    double scores[MOST];
    size_t n = sizeof targets / sizeof *targets;
    for (size_t i = 0; i < n; i++) {
        bool is_relevant[3];
        uint32_t relevant[3], n_relevant = 0;
        read_set(targets[i].relevant, is_relevant);
        for (uint32_t k = 0; k < 3; k++) {
            relevant[n_relevant] = k;
            n_relevant += is_relevant[k];
        }
        double t = ml_threshold_target(targets[i].s, 3, relevant, n_relevant, list, merge);
        CHECK(t == targets[i].target, "row %zu: %g, expected %g", i, t, targets[i].target);
        add_set(&sets, targets[i].relevant);
        memcpy(scores + 3 * i, targets[i].s, sizeof targets[i].s);
    }
    struct ml_threshold threshold;
    fit(&threshold, "ew", &sets, scores);
    for (size_t k = 0; k < 4; k++) {
        CHECK_CLOSE(threshold.value[k], line[k], 1e-5, "line, at %zu", k);
    }
    bool chosen[3];
    double level = line[3];
    for (size_t k = 0; k < 3; k++) {
        level += line[k] * targets[0].s[k];
    }
    ml_threshold_apply(&threshold, targets[0].s, chosen);
    for (size_t k = 0; k < 3; k++) {
        CHECK(chosen[k] == (targets[0].s[k] > level), "label %zu", k);
    }
    ml_threshold_free(&threshold);
    printf("ok: targets and line of ew are those of numpy\n");
}

static bool is_late(void *context) {
    int *calls = context;
    return (*calls)-- <= 0;
}

/* More labels than the direct solver takes. With fewer rows than labels the line meets all targets.
 * After the deadline it is 0, and the scores are not read. */
static void check_many(void) {
    enum { ROWS = 12, LABELS = 2100 };
    static double scores[ROWS * LABELS];
    static uint64_t start[ROWS + 1];
    static uint32_t relevant[ROWS];
    struct ml_sort list[1], merge[1];
    struct ml_threshold threshold;
    const struct ml_rows rows = {.q = LABELS, .n_all = ROWS, .start = start, .relevant = relevant};
    struct random random = sample_random(4, 1);
    for (size_t i = 0; i < ROWS; i++) {
        start[i + 1] = i + 1;
        relevant[i] = (uint32_t)(7 * i);
        for (size_t k = 0; k < LABELS; k++) {
            scores[i * LABELS + k] = random_unit(&random);
        }
    }
    bool late;
    MUST(ml_threshold_parse(&threshold, "ew", &err));
    CHECK(ml_threshold_fit(&threshold, &rows, scores, NULL, NULL, &late, &err) == 0 && !late, "%s",
          err.text);
    for (size_t i = 0; i < ROWS; i++) {
        const double *s = scores + i * LABELS;
        double target = ml_threshold_target(s, LABELS, relevant + i, 1, list, merge);
        double t = threshold.value[LABELS];
        for (size_t k = 0; k < LABELS; k++) {
            t += threshold.value[k] * s[k];
        }
        CHECK_CLOSE(t, target, 1e-3, "row %zu", i);
    }
    ml_threshold_free(&threshold);
    int calls = 0;
    const struct monitor monitor = {.context = &calls, .past_deadline = is_late};
    MUST(ml_threshold_parse(&threshold, "ew", &err));
    CHECK(ml_threshold_fit(&threshold, &rows, NULL, NULL, &monitor, &late, &err) == 0 && late, "%s",
          err.text);
    for (size_t k = 0; k <= LABELS; k++) {
        CHECK(threshold.value[k] == 0, "late, and label %zu has %g", k, threshold.value[k]);
    }
    ml_threshold_free(&threshold);
    printf("ok: the line of many labels meets the targets, and is 0 after the deadline\n");
}

/* No cut at any score, or between two, is better. */
static void check_cuts(void) {
    enum { ROWS = 12, LABELS = 4 };
    struct random random = sample_random(3, 1);
    for (int round = 0; round < 200; round++) {
        static struct sets sets;
        double scores[ROWS * LABELS];
        bool relevant[ROWS * LABELS];
        memset(&sets, 0, sizeof sets);
        for (size_t i = 0; i < ROWS; i++) {
            char text[LABELS + 1] = {0};
            for (size_t k = 0; k < LABELS; k++) {
                scores[i * LABELS + k] = (double)random_below(&random, 9);
                relevant[i * LABELS + k] = random_below(&random, 3) == 0;
                text[k] = relevant[i * LABELS + k] ? '1' : '0';
            }
            add_set(&sets, text);
        }
        struct ml_threshold global, scut;
        fit(&global, "global", &sets, scores);
        fit(&scut, "scut", &sets, scores);
        for (double t = -1.5; t < 10; t += 0.5) {
            size_t wrong = 0, best_wrong = 0;
            for (size_t i = 0; i < ROWS * LABELS; i++) {
                wrong += (scores[i] > t) != relevant[i];
                best_wrong += (scores[i] > global.value[0]) != relevant[i];
            }
            CHECK(best_wrong <= wrong, "%zu wrong at %g, %zu at %g", best_wrong, global.value[0],
                  wrong, t);
            for (size_t k = 0; k < LABELS; k++) {
                double tp = 0, all = 0, best_tp = 0, best_all = 0;
                for (size_t i = k; i < ROWS * LABELS; i += LABELS) {
                    bool best = scores[i] > scut.value[k];
                    tp += scores[i] > t && relevant[i];
                    all += (scores[i] > t) + relevant[i];
                    best_tp += best && relevant[i];
                    best_all += best + relevant[i];
                }
                double f1 = all > 0 ? 2 * tp / all : 0;
                double best_f1 = best_all > 0 ? 2 * best_tp / best_all : 0;
                CHECK(best_f1 >= f1, "label %zu: %g at %g, %g at %g", k, best_f1, scut.value[k], f1,
                      t);
            }
        }
        ml_threshold_free(&global);
        ml_threshold_free(&scut);
    }
    printf("ok: global and scut are the best cuts\n");
}

static void check_sets(void) {
    static struct sets sets;
    struct ml_threshold threshold;
    bool chosen[4];
    const double s[] = {-1, -3, -1, -2}, up[] = {0, 1e-300, 5, -1};
    add_set(&sets, "0101");
    fit(&threshold, "top:2", &sets, s);
    CHECK(ml_threshold_apply(&threshold, s, chosen) == 2 && chosen[0] && chosen[2], "top:2");
    fit(&threshold, "top:9", &sets, s);
    CHECK(ml_threshold_apply(&threshold, s, chosen) == 4, "top:9 of 4");
    fit(&threshold, "zero", &sets, s);
    CHECK(ml_threshold_apply(&threshold, up, chosen) == 2 && chosen[1] && chosen[2], "zero");
    CHECK(ml_threshold_apply(&threshold, s, chosen) == 0, "zero");
    threshold.at_least_one = true;
    CHECK(ml_threshold_apply(&threshold, s, chosen) == 1 && chosen[0], "at least one");
    const char *wrong[] = {"top",  "top:", "top:0", "top:2x", "top:-1",         "EW",
                           "ew:1", "ewe",  "",      "zero ",  "top:99999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(ml_threshold_parse(&threshold, wrong[i], &err) < 0 && err.kind == ERROR_USAGE,
              "'%s' is taken", wrong[i]);
    }
    printf("ok: top:K, zero and at least one\n");
}

/* The lines of a model are read as written, and malformed lines are refused. */
static void check_model(void) {
    double value[] = {1.0 / 3, -2e-300, 5, 0.1};
    struct ml_threshold given = {
        .kind = ML_EW, .q = 3, .n = 4, .value = value, .at_least_one = true};
    struct ml_threshold got;
    struct model model = {0};
    CHECK(ml_threshold_read(&got, &model, 3, &err) < 0, "no line");
    MUST(ml_threshold_write(&given, &model, &err));
    MUST(ml_threshold_read(&got, &model, 3, &err));
    CHECK(got.kind == ML_EW && got.q == 3 && got.at_least_one && got.n == 4 &&
              memcmp(got.value, value, sizeof value) == 0,
          "not what was written");
    ml_threshold_free(&got);
    CHECK(ml_threshold_read(&got, &model, 4, &err) < 0, "too few values");
    CHECK(ml_threshold_read(&got, &model, 2, &err) < 0, "too many values");
    model_free(&model);
    const char *wrong[] = {"",       "ew",  "ew 1 2 3", "ew 1 2 3 x", "ew 1 2 3 inf", "global",
                           "zero 1", "top", "top 0",    "top 1 2",    "scut 1 2",     "median 1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        MUST(model_add(&model, &err, ML_THRESHOLD_KEY, "%s", wrong[i]));
        CHECK(ml_threshold_read(&got, &model, 3, &err) < 0, "'%s' is taken", wrong[i]);
        model_free(&model);
    }
    printf("ok: thresholds in models\n");
}

int main(void) {
    check_ew();
    check_many();
    check_cuts();
    check_sets();
    check_model();
    return 0;
}
