/* The error messages of the library, and that nothing is created on an error; descriptions of
 * options. */
#include "tests/unit/library/rows.h"

static void check_options(void) {
    dualsvm_options *options = NULL;
    REFUSED(dualsvm_options_create(&options, "svm", DUALSVM_TRAIN, &error), U, "'svm'");
    CHECK_TRUE(!options);
    REFUSED(dualsvm_options_create(&options, NULL, DUALSVM_TRAIN, &error), U, "(NULL)");
    REFUSED(dualsvm_options_create(&options, "mc", 3, &error), U, "3");
    REFUSED(dualsvm_options_create(&options, "mc", -1, &error), U, "-1");
    REFUSED(dualsvm_options_create(NULL, "mc", DUALSVM_TRAIN, &error), U, "");
    options = rows_options("mc", DUALSVM_TRAIN);
    REFUSED(dualsvm_options_set(options, "nothing", "1", &error), U, "unknown option: 'nothing'");
    REFUSED(dualsvm_options_set(options, "log", "file", &error), U, "unknown option: 'log'");
    REFUSED(dualsvm_options_set(options, "cos", "1", &error), U, "unknown option: 'cos'");
    REFUSED(dualsvm_options_set(options, "cost", "-1", &error), U, "--cost");
    REFUSED(dualsvm_options_set(options, "cost", "", &error), U, "--cost");
    REFUSED(dualsvm_options_set(options, "kernel", "cubic", &error), U, "--kernel");
    REFUSED(dualsvm_options_set(options, NULL, "1", &error), U, "");
    REFUSED(dualsvm_options_set_number(options, "cost", (double)NAN, &error), U, "finite");
    CHECK_TRUE(strcmp(dualsvm_options_get(options, "c"), "1") == 0);
    CHECK_TRUE(!dualsvm_options_get(options, "gamma") && !dualsvm_options_get(options, "log"));
    CALL(dualsvm_options_set_number(options, "c", 0.25, &error));
    CALL(dualsvm_options_set(options, "weight", "1:2", &error));
    CALL(dualsvm_options_set(options, "weight", "2:3", &error));
    REFUSED(dualsvm_options_set(options, "weight", "2", &error), U, "KEY:W");
    dualsvm_options *copy;
    CALL(dualsvm_options_copy(&copy, options, &error));
    CALL(dualsvm_options_set(options, "cost", NULL, &error));
    CHECK_TRUE(strcmp(dualsvm_options_get(options, "cost"), "1") == 0);
    CHECK_TRUE(strcmp(dualsvm_options_get(copy, "cost"), "0.25") == 0);
    CHECK_TRUE(strcmp(dualsvm_options_get(copy, "w"), "2:3") == 0);
    CALL(dualsvm_options_set(copy, "weight", NULL, &error));
    CHECK_TRUE(!dualsvm_options_get(copy, "weight"));
    dualsvm_options_free(copy);
    dualsvm_options_free(options);
    options = rows_options("mc", DUALSVM_PREDICT);
    CALL(dualsvm_options_set_number(options, "scores", 1, &error));
    CHECK_TRUE(strcmp(dualsvm_options_get(options, "scores"), "1") == 0);
    CALL(dualsvm_options_set_number(options, "scores", 0, &error));
    CHECK_TRUE(!dualsvm_options_get(options, "scores"));
    REFUSED(dualsvm_options_set(options, "scores", "yes", &error), U, "--scores");
    dualsvm_options_free(options);
    options = rows_options("rank", DUALSVM_PREDICT);
    CALL(dualsvm_options_set(options, "order", "best-first", &error));
    CHECK_TRUE(strcmp(dualsvm_options_get(options, "order"), "best-first") == 0);
    REFUSED(dualsvm_options_set(options, "order", "worst-first", &error), U, "0, best-first or 1");
    CALL(dualsvm_options_set(options, "order", "1", &error));
    CHECK_TRUE(strcmp(dualsvm_options_get(options, "order"), "1") == 0);
    dualsvm_options_free(options);
    CHECK_TRUE(dualsvm_options_create(&options, "svm", DUALSVM_TRAIN, NULL) == -1);
    printf("ok: options\n");
}

/* A result is NULL after each refusal, whatever it was. */
static void check_results(void) {
    void *const stale = &error;
    dualsvm_options *options = stale;
    REFUSED(dualsvm_options_copy(&options, NULL, &error), U, "no options");
    dualsvm_data *read = stale, *dense = stale, *sparse = stale;
    REFUSED(dualsvm_data_read(&read, NULL, "x", &error), U, "no options");
    REFUSED(dualsvm_data_dense(&dense, NULL, NULL, DUALSVM_DOUBLE, 1, 1, 1, 0, &error), U,
            "no values");
    REFUSED(dualsvm_data_csr(&sparse, "mc", NULL, NULL, DUALSVM_INT32, NULL, DUALSVM_DOUBLE, 1, 1,
                             0, &error),
            U, "no starts");
    dualsvm_model *loaded = stale, *parsed = stale, *trained = stale;
    dualsvm_table *table = stale;
    REFUSED(dualsvm_model_load(&loaded, NULL, NULL, &error), U, "no path");
    REFUSED(dualsvm_model_from_bytes(&parsed, NULL, NULL, 5, &error), U, "no path, no bytes");
    REFUSED(dualsvm_sweep(&table, &trained, NULL, NULL, NULL, &error), U, "");
    CHECK_TRUE(!options && !read && !dense && !sparse && !loaded && !parsed && !trained && !table);
    REFUSED(dualsvm_sweep(NULL, &trained, NULL, NULL, NULL, &error), U, "no place");
    printf("ok: results are NULL after refusals\n");
}

/* Every option of every family is described, and can be set to its default and its choices. */
static void check_descriptions(void) {
    size_t described = 0;
    for (size_t f = 0; dualsvm_family_name(f); f++) {
        bool rank = strcmp(dualsvm_family_name(f), "rank") == 0;
        for (int role = DUALSVM_TRAIN; role <= (rank ? DUALSVM_CANDIDATES : DUALSVM_PREDICT);
             role++) {
            dualsvm_options *options;
            dualsvm_option option;
            CALL(dualsvm_options_create(&options, dualsvm_family_name(f), role, &error));
            for (size_t i = 0; dualsvm_options_describe(options, i, &option, sizeof option); i++) {
                dualsvm_option part = {0};
                CHECK_TRUE(option.name && option.help && option.type <= DUALSVM_WEIGHTS);
                CHECK_TRUE(option.value || option.type == DUALSVM_FLAG);
                CHECK_TRUE(!option.choices == (option.type != DUALSVM_CHOICE));
                for (size_t k = 0; option.choices && option.choices[k]; k++) {
                    if (*option.choices[k]) { /* otherwise it is withdrawn */
                        rows_set(options, option.name, option.choices[k]);
                    }
                    CHECK_TRUE(option.meanings && option.meanings[k]);
                }
                if (option.initial) {
                    rows_set(options, option.name, option.initial);
                }
                CHECK_TRUE(
                    dualsvm_options_describe(options, i, &part, offsetof(dualsvm_option, letter)) &&
                    part.name == option.name && !part.help);
                described++;
            }
            dualsvm_options_free(options);
        }
    }
    CHECK_TRUE(described > 100);
    printf("ok: %zu options are described\n", described);
}

static void check_arrays(void) {
    dualsvm_data *data = NULL;
    float x[4] = {1, 2, 3, 4};
    double wide[4] = {1, 2, 1e300, 4};
    int32_t start[3] = {0, 2, 4}, column[4] = {0, 1, 0, 1};
    int64_t start64[3] = {0, 2, 4}, column64[4] = {0, 1, -1, 1};
#define DENSE(...) dualsvm_data_dense(&data, __VA_ARGS__, &error)
#define CSR(family, start, column, type, values, of, ...)                                          \
    dualsvm_data_csr(&data, family, start, column, type, values, of, __VA_ARGS__, &error)
    REFUSED(DENSE("no", x, 0, 2, 2, 2, 0), U, "'no'");
    REFUSED(DENSE("mc", NULL, 0, 2, 2, 2, 0), U, "no values");
    REFUSED(DENSE("mc", x, 2, 2, 2, 2, 0), U, "type");
    REFUSED(DENSE("mc", x, 0, 2, 2, 2, 2), U, "flag");
    REFUSED(DENSE("mc", x, 0, 2, 2, 1, 0), U, "2 columns, 1 apart");
    REFUSED(DENSE("mc", x, 0, 0, 2, 2, 0), U, "no rows");
    REFUSED(DENSE("mc", x, 0, SIZE_MAX, 2, 2, 0), U, "rows");
    REFUSED(DENSE("mc", x, 0, 2, SIZE_MAX, SIZE_MAX, 0), U, "columns");
    REFUSED(DENSE("mc", wide, DUALSVM_DOUBLE, 2, 2, 2, 0), F, "row 2, column 1: 1e+300");
    wide[2] = (double)NAN;
    REFUSED(DENSE("mc", wide, DUALSVM_DOUBLE, 2, 2, 2, 0), F, "row 2, column 1");
    REFUSED(CSR("mc", NULL, column, 0, x, 0, 2, 2, 0), U, "starts");
    REFUSED(CSR("mc", start, NULL, 0, x, 0, 2, 2, 0), U, "no indices");
    REFUSED(CSR("mc", start, column, 0, NULL, 0, 2, 2, 0), U, "no values");
    REFUSED(CSR("mc", start, column, 2, x, 0, 2, 2, 0), U, "type");
    REFUSED(CSR("mc", start, column, 0, x, 0, 2, 1, 0), U, "row 1: columns");
    REFUSED(CSR("mc", start64, column64, 1, x, 0, 2, 2, 0), U, "row 2: columns");
    start64[2] = -1;
    REFUSED(CSR("mc", start64, column64, 1, x, 0, 2, 2, 0), U, "below 0");
    column[2] = 1;
    REFUSED(CSR("mc", start, column, 0, x, 0, 2, 2, 0), U, "row 2: columns do not increase");
    start[1] = 5;
    REFUSED(CSR("mc", start, column, 0, x, 0, 2, 9, 0), U, "row 1: starts");
    start[0] = 1;
    REFUSED(CSR("mc", start, column, 0, x, 0, 2, 9, 0), U, "does not start at 0");
    CHECK_TRUE(!data);
    dualsvm_data_view(NULL, NULL, 0);
    CHECK_TRUE(dualsvm_data_rows(NULL) == 0 && dualsvm_data_features(NULL) == 0);
    dualsvm_data_free(NULL);
    printf("ok: arrays\n");
}

static void check_labels(void) {
    dualsvm_data *data, *rank, *sets;
    const float x[2] = {1, 2};
    double number[2] = {1, (double)INFINITY}, weight[2] = {1, -1};
    const char *words[2] = {"a", "b c"}, *comma[2] = {"a", "b,c"}, *twice[2] = {"a", "b,b"};
    const char *const names[2] = {"a", "b"};
    uint32_t code[2] = {0, 2}, fold[2] = {0, 0};
    uint64_t start[3] = {0, 2, 2}, query[2] = {1, UINT64_C(1) << 63};
    CALL(dualsvm_data_dense(&data, "mc", x, DUALSVM_FLOAT, 2, 1, 1, 0, &error));
    CALL(dualsvm_data_dense(&rank, "rank", x, DUALSVM_FLOAT, 2, 1, 1, 0, &error));
    CALL(dualsvm_data_dense(&sets, "ml", x, DUALSVM_FLOAT, 2, 1, 1, 0, &error));
    REFUSED(dualsvm_data_set_label_numbers(data, number, &error), F, "row 2: it is infinite");
    REFUSED(dualsvm_data_set_label_numbers(data, NULL, &error), U, "no labels");
    REFUSED(dualsvm_data_set_label_words(data, words, &error), F, "row 2: not a word: 'b c'");
    REFUSED(dualsvm_data_set_label_words(data, comma, &error), F, "row 2: not a word: 'b,c'");
    REFUSED(dualsvm_data_set_label_words(rank, words, &error), F, "row 1: not a number: 'a'");
    REFUSED(dualsvm_data_set_label_words(sets, twice, &error), F, "row 2: it is there twice: 'b'");
    CALL(dualsvm_data_set_label_words(sets, comma, &error));
    REFUSED(dualsvm_data_set_label_codes(data, NULL, code, names, 2, &error), F, "the number 2");
    REFUSED(dualsvm_data_set_label_codes(data, start, code, names, 2, &error), F, "several labels");
    REFUSED(dualsvm_data_set_label_codes(rank, NULL, code, names, 2, &error), U, "are numbers");
    REFUSED(dualsvm_data_set_queries(rank, query, &error), U, "row 2: not below 2^63");
    REFUSED(dualsvm_data_set_query_words(rank, words, &error), F, "row 2: not a word: 'b c'");
    REFUSED(dualsvm_data_set_weights(data, weight, &error), U, "weight of row 2");
    REFUSED(dualsvm_data_set_folds(data, fold, 2, &error), U, "fold 2 holds no row out");
    REFUSED(dualsvm_data_set_folds(data, fold, 0, &error), U, "0 folds of 2 rows");
    REFUSED(dualsvm_data_set_folds(data, fold, 1, &error), U, "the fold holds out all rows");
    REFUSED(dualsvm_data_set_folds(data, fold, 3, &error), U, "3 folds of 2 rows");
    REFUSED(dualsvm_data_set_folds(data, code, 2, &error), U, "row 2: not below 2");
    dualsvm_data_free(data);
    dualsvm_data_free(rank);
    dualsvm_data_free(sets);
    printf("ok: labels, queries, weights and folds\n");
}

static void check_training(void) {
    struct task task, ranking;
    dualsvm_model *model;
    dualsvm_table *table;
    task_open(&task, "mc", 0);
    dualsvm_options *options = task.options, *other = rows_options("top", DUALSVM_TRAIN);
    dualsvm_options *predicting = rows_options("mc", DUALSVM_PREDICT);
    dualsvm_data *data = task.data, *bare = rows_bare(&task.rows, "mc");
#define TRAIN(options, data) dualsvm_train(&model, options, data, NULL, &error)
    REFUSED(TRAIN(NULL, data), U, "no options");
    REFUSED(TRAIN(options, NULL), U, "no data");
    REFUSED(dualsvm_train(NULL, options, data, NULL, &error), U, "no place");
    REFUSED(TRAIN(predicting, data), U, "predictor");
    REFUSED(TRAIN(other, data), U, "family mc, where top is wanted");
    REFUSED(TRAIN(options, bare), F, "row 1 has no label");
    rows_set(options, "cost", "1,2");
    REFUSED(TRAIN(options, data), U, "2 points");
    rows_set(options, "folds", "3");
    REFUSED(TRAIN(options, data), U, "are for cross-validation");
    CALL(dualsvm_cross_validate(&table, options, data, NULL, &error));
    dualsvm_table_free(table);
    uint32_t fold[ROWS] = {0};
    fold[1] = 1;
    CALL(dualsvm_data_set_folds(data, fold, 2, &error));
    REFUSED(dualsvm_cross_validate(&table, options, data, NULL, &error), U, "exclude");
    CALL(dualsvm_data_set_folds(data, NULL, 0, &error));
    rows_set(options, "folds", NULL);
    REFUSED(dualsvm_cross_validate(&table, options, data, NULL, &error), U, "folds of the data");
    rows_set(options, "cost", "1");
    rows_set(options, "kernel", "precomputed");
    REFUSED(TRAIN(options, data), U, "dualsvm_data_set_precomputed");
    rows_set(options, "kernel", "linear");
    CALL(dualsvm_data_set_precomputed(data, NULL, &error));
    REFUSED(TRAIN(options, data), U, "not precomputed");
    task_open(&ranking, "rank", 0);
    CALL(dualsvm_data_set_weights(ranking.data, ranking.rows.weight, &error));
    REFUSED(TRAIN(ranking.options, ranking.data), U, "rank has no weights of rows");
    CHECK_TRUE(!model && !table);
    task_close(&task);
    task_close(&ranking);
    dualsvm_data_free(bare);
    dualsvm_options_free(other);
    dualsvm_options_free(predicting);
    printf("ok: training\n");
}

static void check_models(void) {
    struct task task, ranking;
    dualsvm_model *copy = NULL;
    double scores[ROWS * 3];
    uint32_t label[ROWS];
    unsigned char chosen[ROWS * 3];
    size_t size;
    task_open(&task, "mc", 0);
    task_open(&ranking, "rank", 0);
    dualsvm_options *options = task.options, *predicting = rows_options("top", DUALSVM_PREDICT);
    dualsvm_data *data = task.data, *other = rows_bare(&task.rows, "top");
    dualsvm_data *kernel = rows_bare(&task.rows, "mc");
    dualsvm_model *model = rows_train(options, data);
    const char *bytes = dualsvm_model_bytes(model, &size);
    for (size_t n = 0; n < size; n += 7) {
        REFUSED(dualsvm_model_from_bytes(&copy, "mc", bytes, n, &error), F, "<bytes>");
    }
    REFUSED(dualsvm_model_from_bytes(&copy, NULL, "dualsvm svm 1\n", 14, &error), F,
            "<bytes>: not a model");
    REFUSED(dualsvm_model_from_bytes(&copy, NULL, "", 0, &error), F, "<bytes>: not a model");
    REFUSED(dualsvm_model_from_bytes(&copy, "top", bytes, size, &error), F, "");
    REFUSED(dualsvm_model_from_bytes(&copy, "no", bytes, size, &error), U, "'no'");
    const char truncated[] = {0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    REFUSED(dualsvm_model_from_bytes(&copy, NULL, truncated, sizeof truncated, &error), F, "gzip");
    REFUSED(dualsvm_model_load(&copy, NULL, "no-such-file", &error), F, "no-such-file");
    REFUSED(dualsvm_model_save(model, "no/such/folder", &error), F, "cannot write");
    CHECK_TRUE(!copy);
    REFUSED(dualsvm_predict_scores(model, NULL, other, scores, &error), U, "family top");
    CALL(dualsvm_data_set_precomputed(kernel, NULL, &error));
    REFUSED(dualsvm_predict_scores(model, NULL, kernel, scores, &error), U, "wants features");
    dualsvm_data_free(kernel);
    REFUSED(dualsvm_predict_scores(model, predicting, data, scores, &error), U, "predictor of mc");
    REFUSED(dualsvm_predict_scores(model, options, data, scores, &error), U, "predictor of mc");
    REFUSED(dualsvm_predict_scores(NULL, NULL, data, scores, &error), U, "no model");
    REFUSED(dualsvm_predict_scores(model, NULL, data, NULL, &error), U, "no place");
    REFUSED(dualsvm_predict_sets(model, NULL, data, chosen, &error), U, "no sets");
    REFUSED(dualsvm_predict_probabilities(model, NULL, data, scores, &error), F, "-b 1");
    dualsvm_model *rank = rows_train(ranking.options, ranking.data);
    REFUSED(dualsvm_predict_labels(rank, NULL, ranking.data, label, &error), U, "no labels");
    CHECK_TRUE(dualsvm_model_labels(rank) == 0 && !dualsvm_model_label(rank, 0));
    dualsvm_model_free(rank);
    rows_set(ranking.options, "pair-features", "exterior");
    rows_set(ranking.options, "kernel", "laplacian");
    rank = rows_train(ranking.options, ranking.data);
    CHECK_TRUE(dualsvm_model_scores(rank) == 0);
    REFUSED(dualsvm_predict_scores(rank, NULL, ranking.data, scores, &error), F, "pair features");
    REFUSED(dualsvm_model_weights(rank, scores, NULL, &error), U, "weights");
    dualsvm_model_free(rank);
    dualsvm_model_free(model);
    dualsvm_data_free(other);
    dualsvm_options_free(predicting);
    task_close(&task);
    task_close(&ranking);
    printf("ok: models\n");
}

/* The scores of a linear model are computed from its weights. */
static void check_weights(void) {
    struct task task;
    double weights[COLUMNS * 3], bias[3], scores[ROWS * 3];
    task_open(&task, "mc", 0);
    rows_set(task.options, "bias", "1");
    dualsvm_model *model = rows_train(task.options, task.data);
    CHECK_TRUE(dualsvm_model_scores(model) == 3 && dualsvm_model_features(model) == COLUMNS);
    CHECK_TRUE(dualsvm_model_support_vectors(model) == 0);
    CALL(dualsvm_model_weights(model, weights, bias, &error));
    CALL(dualsvm_predict_scores(model, NULL, task.data, scores, &error));
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < 3; k++) {
            double sum = bias[k];
            for (int j = 0; j < COLUMNS; j++) {
                sum += (double)task.rows.dense[i * COLUMNS + j] * weights[j * 3 + k];
            }
            CHECK_CLOSE(scores[i * 3 + k], sum, 1e-12, "row %d, class %d", i, k);
        }
    }
    CHECK_TRUE(bias[0] != 0);
    dualsvm_model_free(model);
    task_close(&task);
    printf("ok: weights\n");
}

int main(void) {
    check_options();
    check_results();
    check_descriptions();
    check_arrays();
    check_labels();
    check_training();
    check_models();
    check_weights();
    return 0;
}
