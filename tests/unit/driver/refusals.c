/* Errors that no command line can cause: arguments that the programs rule out, and sizes beyond
 * 2^32 or beyond all memory, which only a struct can claim. */
#include "common/base/threads.h"
#include "common/kernel/gram.h"
#include "common/linear_algebra/cholesky.h"
#include "common/linear_algebra/svd.h"
#include "common/model/label_line.h"
#include "driver/folds.h"
#include "families/mc/solver/mc.h"
#include "families/ml/frontend/threshold.h"
#include "families/ml/solver/ml.h"
#include "families/rank/frontend/metrics.h"
#include "families/rank/frontend/probability.h"
#include "families/rank/solver/pairs.h"
#include "families/rank/solver/rank.h"
#include "families/top/frontend/roc.h"
#include "families/top/solver/top.h"
#include "tests/unit/compute.h"

#include <float.h>
#include <limits.h>

/* REFUSED(CALL, TEXT): the call, which uses the caller's &err, returns -1 with a message that
 * contains TEXT. */
#define REFUSED(call, said)                                                                        \
    do {                                                                                           \
        err = (struct error){0};                                                                   \
        CHECK((call) < 0, "not refused: %s", said);                                                \
        CHECK(strstr(err.text, said), "'%s', not '%s'", err.text, said);                           \
    } while (0)

/* ---- sizes ---- */

static void check_sizes(void) {
    uint64_t start = 0;
    double number = 1;
    uint32_t *pivot = NULL;
    size_t rank;
    struct threads *threads;
    struct data many = {.n_rows = SIZE_MAX / 2, .n_features = 4, .row_start = &start};
    struct data rows = {.n_rows = UINT32_MAX}, more = {.n_rows = 1};
    struct folds folds = {0};
    struct problem problem = {.n = UINT32_MAX};
    struct rank_pairs pairs;
    const struct rank_preferences all = {.fraction = 1};
    const struct ml_rows sets = {.q = 70000, .n_all = 70000};
    struct ml_threshold threshold = {.kind = ML_GLOBAL};
    bool late;
    REFUSED(threads_create(&threads, 1025, &err), "1025 threads: at most 1024");
    REFUSED(data_make_dense(&many, 4, true, &err), "dense rows of 4 values");
    REFUSED(folds_join(&folds, &rows, &more, &err), "more than 4294967295 rows");
    REFUSED(rank_pairs_create(&pairs, &problem, &all, &err), "4294967295 rows: at most 4294967294");
    REFUSED(ml_threshold_fit(&threshold, &sets, NULL, NULL, NULL, &late, &err),
            "threshold: more than 4294967295 scores");
    REFUSED(cholesky_pivoted(&number, (size_t)INT_MAX + 1, 0, &rank, pivot, &err),
            "a matrix of 2147483648 rows is too large to be factored");
    REFUSED(svd_thin(&number, (size_t)INT_MAX + 1, 1, NULL, NULL, NULL, &err),
            "a matrix of 2147483648 x 1 is too large");
    puts("ok: what is too large is refused before anything is done");
}

/* ---- measures ---- */

static void check_measures(void) {
    const double target[] = {1, 2}, score[] = {1, NAN}, good[] = {1, 2};
    const double infinite[] = {1, INFINITY}, tiny[] = {1e-310, 1e-310};
    const bool positive[] = {true, false};
    const struct metrics_cut at = {METRICS_NDCG, 1};
    const struct metrics_settings one = {.min_group = 1, .cut = &at, .n_cuts = 1, .threshold = NAN};
    double steep[2000], slope, values[4] = {1, NAN, 0, 1}, s[4];
    double mean[METRICS_CUTS + 1], count[METRICS_CUTS + 1], relevant;
    struct roc roc;
    REFUSED(metrics_rank(2, target, score, NULL, &one, mean, count, &relevant, &err),
            "a score is not a finite number");
    REFUSED(roc_create(&roc, score, positive, 2, &err), "a score is not a finite number");
    REFUSED(sigmoid_fit(&slope, infinite, 2, &err), "a margin is not a finite number");
    REFUSED(sigmoid_fit(&slope, good, 0, &err), "there is no pair");
    REFUSED(sigmoid_fit(&slope, tiny, 2, &err), "the largest margin is 1e-310");
    for (size_t i = 0; i < sizeof steep / sizeof steep[0]; i++) {
        steep[i] = DBL_MIN;
    }
    REFUSED(sigmoid_fit(&slope, steep, sizeof steep / sizeof steep[0], &err),
            "the slope overflows");
    REFUSED(svd_thin(values, 2, 2, s, s, s, &err), "scores overflow");
    puts("ok: measures and fits of numbers that are none are refused");
}

/* ---- solvers ---- */

/* Four rows, with label names by their numbers. */
static struct data four_rows(enum data_labels labels) {
    struct data data = {.n_rows = 4, .n_features = 2, .labels = labels};
    data.value = sample_array(8, sizeof *data.value);
    data.target = sample_array(4, sizeof *data.target);
    data.label = sample_array(4, sizeof *data.label);
    data.label_start = sample_array(5, sizeof *data.label_start);
    sample_names(&data.names, 2);
    for (uint32_t i = 0; i < 4; i++) {
        data.value[2 * i + i % 2] = (float)i + 1;
        data.target[i] = i;
        data.label[i] = i % 2;
        data.label_start[i + 1] = i + 1;
    }
    return data;
}

static void check_top(const struct problem *problem, const struct problem *kernel) {
    static const bool positive[] = {true, false};
    struct solution solution;
    struct top *top;
    struct top_setting setting = {.formulation = TOP_GRILL, .positive = positive, .tau = .5};
    struct top_parameters parameters = {
        .method = TOP_BUNDLE, .cost = 1, .epsilon = .1, .seed = 1, .starts = 1};
    MUST(top_create(&top, problem, &setting, &err));
    REFUSED(top_solve(top, &parameters, NULL, &solution, &err), "grill has a solver of its own");
    top_free(top);
    MUST(top_create(&top, kernel, &setting, &err));
    parameters.method = TOP_AUTO;
    REFUSED(top_solve(top, &parameters, NULL, &solution, &err), "grill is for the linear kernel");
    top_free(top);
    setting.formulation = TOP_SVM;
    parameters.method = TOP_CD;
    MUST(top_create(&top, kernel, &setting, &err));
    REFUSED(top_solve(top, &parameters, NULL, &solution, &err),
            "solver cd of svm is for the linear kernel");
    top_free(top);
}

static void check_rank(const struct problem *problem, const struct problem *kernel) {
    struct solution solution;
    struct rank *rank;
    struct rank_preferences preferences = {.gap_low = 1, .gap_high = UINT32_MAX, .fraction = 1};
    struct rank_parameters parameters = {
        .loss = RANK_SQUARED_HINGE, .method = RANK_FW, .cost = 1, .epsilon = .1};
    MUST(rank_create(&rank, problem, &preferences, &err));
    REFUSED(rank_solve(rank, &parameters, NULL, &solution, &err), "solver fw: the hinge loss only");
    rank_free(rank);
    preferences.exterior = true;
    parameters.method = RANK_NEWTON;
    MUST(rank_create(&rank, kernel, &preferences, &err));
    REFUSED(rank_solve(rank, &parameters, NULL, &solution, &err),
            "solver newton: not with pair features");
    rank_free(rank);
}

static void check_classes(const struct problem *kernel) {
    struct solution solution;
    struct mc *mc;
    const struct mc_setup setup = {.formulation = MC_WW, .margin_scale = 1, .seed = 1};
    const struct mc_parameters parameters = {.method = MC_NEWTON, .cost = 1, .epsilon = .1};
    MUST(mc_create(&mc, kernel, &setup, &err));
    REFUSED(mc_solve(mc, &parameters, NULL, &solution, &err),
            "--solver newton is for the linear kernel");
    mc_free(mc);
}

/* LIBLINEAR's labels are numbers. */
static void check_export(void) {
    double weights[] = {1, 2};
    struct labels labels = {0};
    struct output *output;
    uint32_t number;
    struct model model = {.n_outputs = 2, .n_features = 1, .weights = weights, .certified = true};
    CHECK_TRUE(names_add(&labels.names, "1", 1, &number, &err) == 0);
    CHECK_TRUE(names_add(&labels.names, "b", 1, &number, &err) == 0);
    MUST(label_line_write(&labels, &model, &err));
    MUST(output_open(&output, "-", &err));
    REFUSED(model_export(&model, false, output, &err), "no whole number for LIBLINEAR: 'b'");
    output_discard(output);
    labels_free(&labels);
    model.weights = NULL;
    model_free(&model);
}

int main(void) {
    static const struct kernel linear = {.type = KERNEL_LINEAR};
    check_sizes();
    check_measures();
    for (enum data_labels labels = DATA_NUMBER; labels <= DATA_NAME; labels++) {
        struct data data = four_rows(labels);
        struct gram *gram;
        MUST(gram_create(&gram, &linear, &data, 1 << 20, true, NULL, &err));
        const struct problem problem = {.data = &data, .n = 4};
        const struct problem kernel = {.data = &data, .gram = gram, .n = 4, .cache_bytes = 1 << 22};
        if (labels == DATA_NUMBER) {
            check_rank(&problem, &kernel);
        } else {
            check_top(&problem, &kernel);
            check_classes(&kernel);
        }
        gram_free(gram);
        data_free(&data);
    }
    check_export();
    puts("ok: methods that a problem does not admit are refused");
    return 0;
}
