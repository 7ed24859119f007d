/* Candidates in arrays are ranked as by svm-rank-candidates, and wrong arguments are refused.
 *
 *   candidates [OPTION VALUE]...   leaves candidates.svm, times.tsv, model, and found: the table
 *                                  that the program writes for these files and options
 *   candidates refusals */
#include "tests/unit/library/rows.h"

#include "common/base/number.h"

enum { FEATURES = 9, UNTIMED = 3 };

/* The arrays of a call: features and runs alternate, some features have the same time. */
struct arrays {
    char feature[ROWS][16];
    const char *query[ROWS], *run[ROWS];
    double ms[ROWS], minutes[ROWS];
};

static void make_arrays(struct arrays *arrays) {
    for (int i = 0; i < ROWS; i++) {
        int feature = i * 5 % FEATURES;
        snprintf(arrays->feature[i], sizeof arrays->feature[i], feature == 5 ? "%d" : "F%d",
                 feature);
        arrays->query[i] = arrays->feature[i];
        arrays->ms[i] = i % 11 == 4   ? (double)NAN
                        : i % 11 == 7 ? (double)-INFINITY
                                      : (double)(i * 37 % 23) / 8;
        arrays->minutes[i] = feature == UNTIMED ? (double)NAN : feature / 4 * 1.5;
        arrays->run[i] = feature % 2 ? "ALPHA" : feature == 2 ? "" : NULL;
    }
}

/* A model with maps for the queries Alpha and Beta. */
static dualsvm_model *train(const struct rows *rows) {
    const char *query[ROWS];
    dualsvm_options *options = rows_options("rank", DUALSVM_TRAIN);
    dualsvm_data *data = rows_data(rows, 0);
    for (int i = 0; i < ROWS; i++) {
        query[i] = i < ROWS / 2 ? "Alpha" : "Beta";
    }
    rows_set(options, "targets", "1");
    CALL(dualsvm_data_set_query_words(data, query, &error));
    dualsvm_model *model = rows_train(options, data);
    dualsvm_data_free(data);
    dualsvm_options_free(options);
    return model;
}

static dualsvm_data *make_data(const struct rows *rows, const struct arrays *arrays) {
    dualsvm_data *data = rows_bare(rows, "rank");
    CALL(dualsvm_data_set_label_numbers(data, arrays->ms, &error));
    CALL(dualsvm_data_set_query_words(data, arrays->query, &error));
    return data;
}

static void write_number(FILE *file, double number, const char *after) {
    char text[NUMBER_LENGTH];
    number_format(number, text);
    fprintf(file, "%s%s", isnan(number) ? "nan" : isinf(number) ? "-inf" : text, after);
}

/* The files of the program for these arrays. */
static void write_files(const struct rows *rows, const struct arrays *arrays) {
    FILE *candidates = fopen("candidates.svm", "w"), *times = fopen("times.tsv", "w");
    CHECK_TRUE(candidates && times);
    for (int i = 0; i < ROWS; i++) {
        write_number(candidates, arrays->ms[i], "");
        fprintf(candidates, " qid:%s", arrays->query[i]);
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            fprintf(candidates, " %d:%.9g", rows->column[k] + 1, (double)rows->value[k]);
        }
        fputc('\n', candidates);
        if (i < FEATURES && !isnan(arrays->minutes[i])) {
            fprintf(times, "%s\t%.17g", arrays->query[i], arrays->minutes[i]);
            fprintf(times, arrays->run[i] ? "\t%s\n" : "\n", arrays->run[i]);
        }
    }
    CHECK_TRUE(fclose(candidates) == 0 && fclose(times) == 0);
}

static void write_table(const struct arrays *arrays, const double *order_score, const double *score,
                        const double *rank) {
    FILE *file = fopen("found", "w");
    CHECK_TRUE(file);
    fprintf(file, "feature\tcandidate\tms-score\torder-score\tscore\trank\n");
    for (int i = 0; i < ROWS; i++) {
        fprintf(file, "%s\t%d\t", arrays->query[i], i + 1);
        write_number(file, arrays->ms[i], "\t");
        write_number(file, order_score[i], "\t");
        write_number(file, score[i], "\t");
        write_number(file, rank[i], "\n");
    }
    CHECK_TRUE(fclose(file) == 0);
}

static bool same(const double *a, const double *b) {
    return memcmp(a, b, ROWS * sizeof *a) == 0;
}

/* Ranks the candidates with options from the command line. */
static void check_rank(const struct rows *rows, const struct arrays *arrays,
                       const dualsvm_model *model, int n_words, char **word) {
    double order_score[ROWS], score[ROWS], rank[ROWS], again[ROWS];
    dualsvm_options *options = rows_options("rank", DUALSVM_CANDIDATES);
    dualsvm_data *data = make_data(rows, arrays), *of_file;
    for (int k = 0; k + 1 < n_words; k += 2) {
        rows_set(options, word[k], word[k + 1]);
    }
    CALL(dualsvm_rank_candidates(model, n_words > 0 ? options : NULL, data, arrays->minutes,
                                 arrays->run, order_score, score, rank, &error));
    write_files(rows, arrays);
    write_table(arrays, order_score, score, rank);
    CALL(dualsvm_model_save(model, "model", &error));
    /* the rows of the file, other numbers of threads, single outputs */
    CALL(dualsvm_data_read(&of_file, options, "candidates.svm", &error));
    for (int threads = 1; threads <= 3; threads += 2) {
        CALL(dualsvm_options_set_number(options, "threads", threads, &error));
        CALL(dualsvm_rank_candidates(model, options, of_file, arrays->minutes, arrays->run, again,
                                     NULL, NULL, &error));
        CHECK_TRUE(same(again, order_score));
        CALL(dualsvm_rank_candidates(model, options, data, arrays->minutes, arrays->run, NULL,
                                     again, NULL, &error));
        CHECK_TRUE(same(again, score));
        CALL(dualsvm_rank_candidates(model, options, of_file, arrays->minutes, arrays->run, NULL,
                                     NULL, again, &error));
        CHECK_TRUE(same(again, rank));
    }
    CALL(dualsvm_rank_candidates(model, options, data, arrays->minutes, arrays->run, NULL, NULL,
                                 NULL, &error));
    CALL(dualsvm_predict_scores(model, NULL, data, again, &error));
    CHECK_TRUE(same(again, order_score));
    dualsvm_data_free(data);
    dualsvm_data_free(of_file);
    dualsvm_options_free(options);
    printf("ok: candidates\n");
}

/* ---- refusals ---- */

static void check_options(void) {
    dualsvm_options *options = NULL;
    dualsvm_option described;
    REFUSED(dualsvm_options_create(&options, "mc", DUALSVM_CANDIDATES, &error), U,
            "mc has no options of candidates");
    CHECK_TRUE(!options);
    options = rows_options("rank", DUALSVM_CANDIDATES);
    static const char *const other[] = {"truth", "best", "standards", "quiet", "help", "version"};
    for (size_t k = 0; k < sizeof other / sizeof other[0]; k++) {
        REFUSED(dualsvm_options_set(options, other[k], "1", &error), U, "unknown option");
    }
    REFUSED(dualsvm_options_set(options, "D", "1,2", &error), U, "--order-weight");
    REFUSED(dualsvm_options_set(options, "time-weight", "0:1:+0.5", &error), U, "--time-weight");
    REFUSED(dualsvm_options_set(options, "edges", "linear", &error), U, "--edges");
    REFUSED(dualsvm_options_set(options, "trees", "-1", &error), U, "--trees");
    size_t n = 0;
    for (; dualsvm_options_describe(options, n, &described, sizeof described); n++) {
        CHECK(!described.is_list, "%s", described.name);
    }
    CHECK_TRUE(n == 7 && strcmp(dualsvm_options_get(options, "D"), "0.25") == 0);
    dualsvm_options_free(options);
    printf("ok: options\n");
}

/* The labels of candidates are refused where labels are used otherwise. */
static void check_labels(const struct rows *rows, const struct arrays *arrays,
                         const dualsvm_model *model, dualsvm_data *data) {
    double label[ROWS], scores[ROWS];
    char text[100];
    dualsvm_model *made;
    dualsvm_measures *measures;
    dualsvm_options *options = rows_options("rank", DUALSVM_TRAIN);
    dualsvm_options *ranking = rows_options("rank", DUALSVM_CANDIDATES), *copy;
    CALL(dualsvm_options_copy(&copy, ranking, &error));
    for (int i = 0; i < ROWS; i++) {
        label[i] = i == 4 ? (double)-INFINITY : i;
    }
    CALL(dualsvm_data_set_label_numbers(data, label, &error));
    CALL(dualsvm_predict_scores(model, NULL, data, scores, &error));
    REFUSED(dualsvm_train(&made, options, data, NULL, &error), F, "row 5: it is infinite");
    REFUSED(dualsvm_measure(&measures, model, NULL, data, &error), F, "row 5: it is infinite");
    REFUSED(dualsvm_predict_text(model, NULL, data, (dualsvm_write)abort, text, &error), F,
            "row 5: it is infinite");
    REFUSED(dualsvm_train(&made, copy, data, NULL, &error), U, "those of candidates");
    REFUSED(dualsvm_predict_scores(model, copy, data, scores, &error), U, "predictor of rank");
    label[4] = (double)INFINITY;
    REFUSED(dualsvm_data_set_label_numbers(data, label, &error), F, "row 5: it is infinite");
    CALL(dualsvm_data_set_label_numbers(data, arrays->ms, &error));
    label[4] = (double)-INFINITY;
    dualsvm_data *top = rows_bare(rows, "top");
    REFUSED(dualsvm_data_set_label_numbers(top, label, &error), F, "row 5: it is infinite");
    REFUSED(dualsvm_rank_candidates(model, NULL, top, label, NULL, NULL, NULL, NULL, &error), U,
            "family top");
    dualsvm_data_free(top);
    dualsvm_options_free(options);
    dualsvm_options_free(ranking);
    dualsvm_options_free(copy);
    printf("ok: labels\n");
}

/* Fits a model of the family with a kernel and an option, on rows with their labels. */
static dualsvm_model *train_other(const char *family, const char *name, const char *value) {
    struct task task;
    task_open(&task, family, 0);
    rows_set(task.options, "kernel", "laplacian");
    rows_set(task.options, name, value);
    dualsvm_model *model = rows_train(task.options, task.data);
    task_close(&task);
    return model;
}

static void check_refusals(const struct rows *rows, struct arrays *arrays,
                           const dualsvm_model *model) {
    dualsvm_data *data = make_data(rows, arrays), *kernel = make_data(rows, arrays);
    dualsvm_options *options = rows_options("rank", DUALSVM_CANDIDATES);
    dualsvm_options *predicting = rows_options("rank", DUALSVM_PREDICT);
    double out[ROWS] = {0}, *minutes = arrays->minutes;
#define RANK(model, options, data)                                                                 \
    dualsvm_rank_candidates(model, options, data, minutes, arrays->run, out, NULL, NULL, &error)
    REFUSED(RANK(NULL, options, data), U, "no model");
    REFUSED(RANK(model, options, NULL), U, "no data");
    REFUSED(dualsvm_rank_candidates(model, options, data, NULL, NULL, out, NULL, NULL, &error), U,
            "no minutes");
    REFUSED(RANK(model, predicting, data), U, "not those of candidates");
    CALL(dualsvm_data_set_precomputed(kernel, NULL, &error));
    REFUSED(RANK(model, options, kernel), U, "wants features");
    check_labels(rows, arrays, model, data);

    double before = minutes[FEATURES];
    minutes[FEATURES] += 1;
    REFUSED(RANK(model, options, data), F,
            "minutes of row 10: 1, and 0 in another row of feature F0");
    minutes[FEATURES] = (double)NAN;
    REFUSED(RANK(model, NULL, data), F, "minutes of row 10: nan, and 0");
    minutes[FEATURES] = (double)INFINITY;
    REFUSED(RANK(model, options, data), F, "minutes of row 10: they are infinite");
    minutes[FEATURES] = (double)-INFINITY;
    REFUSED(RANK(model, options, data), F, "minutes of row 10: they are infinite");
    minutes[FEATURES] = before;
    const char *run = arrays->run[FEATURES];
    arrays->run[FEATURES] = "other";
    REFUSED(RANK(model, options, data), F, "run of row 10: 'other', and '' in another row of");
    arrays->run[FEATURES] = run;
    double unknown[ROWS];
    for (int i = 0; i < ROWS; i++) {
        unknown[i] = (double)NAN;
    }
    REFUSED(dualsvm_rank_candidates(model, NULL, data, unknown, NULL, out, NULL, NULL, &error), F,
            "no feature has a time");
    rows_set(options, "system", "nowhere");
    REFUSED(RANK(model, options, data), F, "--system nowhere: the model maps no query");
    rows_set(options, "system", NULL);
    rows_set(options, "time-weight", "1");
    REFUSED(dualsvm_rank_candidates(model, options, data, minutes, NULL, out, NULL, NULL, &error),
            F, "for none of the runs");
    for (int i = 0; i < ROWS; i++) {
        CHECK_TRUE(out[i] == 0);
    }
    CALL(RANK(model, options, data));

    dualsvm_model *other = train_other("mc", "cost", "1");
    REFUSED(RANK(other, options, data), U, "a model of mc ranks no candidates");
    dualsvm_model_free(other);
    other = train_other("rank", "pair-features", "exterior");
    REFUSED(RANK(other, options, data), F, "the model has pair features");
    dualsvm_model_free(other);
    other = train_other("rank", "query-features", "mean");
    REFUSED(RANK(other, options, data), F, "the model has features of queries");
    dualsvm_model_free(other);
    dualsvm_data_free(data);
    dualsvm_data_free(kernel);
    dualsvm_options_free(options);
    dualsvm_options_free(predicting);
    printf("ok: refusals\n");
}

int main(int argc, char **argv) {
    static struct rows rows, candidates;
    static struct arrays arrays;
    rows_make(&rows, "rank", 0.8, 5);
    rows_make(&candidates, "rank", 0.8, 11);
    make_arrays(&arrays);
    dualsvm_model *model = train(&rows);
    if (argc == 2) {
        check_options();
        check_refusals(&candidates, &arrays, model);
    } else {
        check_rank(&candidates, &arrays, model, argc - 1, argv + 1);
    }
    dualsvm_model_free(model);
    return 0;
}
