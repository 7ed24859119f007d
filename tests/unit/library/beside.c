/* A precomputed kernel gives the results of the kernel, weights and folds from arrays those of
 * files, and rows without names have numbers. */
#include "tests/unit/library/rows.h"

#include <math.h>

enum { SIDE = ROWS };

static void check_precomputed(void) {
    static struct rows rows;
    static double values[SIDE * SIDE], scores[2][SIDE * 3];
    dualsvm_error error;
    dualsvm_model *linear, *model;
    dualsvm_data *kernel, *few;
    rows_make(&rows, "mc", 1, 3);
    for (size_t i = 0; i < SIDE; i++) {
        for (size_t j = 0; j < SIDE; j++) {
            for (size_t k = 0; k < COLUMNS; k++) {
                values[i * SIDE + j] +=
                    (double)rows.dense[i * COLUMNS + k] * (double)rows.dense[j * COLUMNS + k];
            }
        }
    }
    dualsvm_options *options = rows_options("mc", DUALSVM_TRAIN);
    dualsvm_data *data = rows_data(&rows, 0);
    rows_set(options, "epsilon", "1e-6");
    CALL(dualsvm_train(&linear, options, data, NULL, &error));
    rows_set(options, "kernel", "precomputed");
    CALL(dualsvm_data_dense(&kernel, "mc", values, DUALSVM_DOUBLE, SIDE, SIDE, SIDE, 0, &error));
    CALL(dualsvm_data_set_label_numbers(kernel, rows.label, &error));
    CALL(dualsvm_data_set_precomputed(kernel, NULL, &error));
    CALL(dualsvm_train(&model, options, kernel, NULL, &error));
    CALL(dualsvm_predict_scores(linear, NULL, data, scores[0], &error));
    CALL(dualsvm_predict_scores(model, NULL, kernel, scores[1], &error));
    for (size_t k = 0; k < SIDE * 3; k++) {
        CHECK(fabs(scores[0][k] - scores[1][k]) < 1e-2, "%zu: %g %g", k, scores[0][k],
              scores[1][k]);
    }
    /* three rows, with all columns */
    CALL(dualsvm_data_dense(&few, "mc", values + 7 * SIDE, DUALSVM_DOUBLE, 3, SIDE, SIDE, 0,
                            &error));
    CALL(dualsvm_data_set_precomputed(few, NULL, &error));
    CALL(dualsvm_predict_scores(model, NULL, few, scores[0], &error));
    CHECK_TRUE(memcmp(scores[0], scores[1] + 7 * 3, 9 * sizeof(double)) == 0);
    dualsvm_model_free(linear);
    dualsvm_model_free(model);
    dualsvm_data_free(data);
    dualsvm_data_free(kernel);
    dualsvm_data_free(few);
    dualsvm_options_free(options);
    printf("ok: kernel values\n");
}

/* Compares the models or tables of two ways. */
static void check_beside(void) {
    static struct rows rows;
    dualsvm_error error;
    dualsvm_model *a, *b;
    dualsvm_table *tables[2];
    uint32_t fold[ROWS];
    size_t n, m;
    rows_make(&rows, "top", 1, 3);
    dualsvm_options *options = rows_options("top", DUALSVM_TRAIN);
    dualsvm_data *data = rows_data(&rows, 1), *weighed = rows_data(&rows, 1);
    FILE *weights = fopen("weights", "w"), *folds = fopen("folds", "w");
    CHECK_TRUE(weights && folds);
    for (int i = 0; i < ROWS; i++) {
        fold[i] = (uint32_t)i / 20;
        fprintf(weights, "%g\n", rows.weight[i]);
        fprintf(folds, "%d\n", i / 20);
    }
    CHECK_TRUE(fclose(weights) == 0 && fclose(folds) == 0);
    CALL(dualsvm_data_set_weights(weighed, rows.weight, &error));
    CALL(dualsvm_train(&a, options, weighed, NULL, &error));
    rows_set(options, "row-weights", "weights");
    CALL(dualsvm_train(&b, options, data, NULL, &error));
    const void *x = dualsvm_model_bytes(a, &n), *y = dualsvm_model_bytes(b, &m);
    CHECK_TRUE(n == m && memcmp(x, y, n) == 0);
    CALL(dualsvm_data_set_folds(weighed, fold, 3, &error));
    rows_set(options, "row-weights", NULL);
    CALL(dualsvm_cross_validate(&tables[0], options, weighed, NULL, &error));
    rows_set(options, "row-weights", "weights");
    rows_set(options, "fold-file", "folds");
    CALL(dualsvm_cross_validate(&tables[1], options, data, NULL, &error));
    size_t seconds = dualsvm_table_find(tables[0], "seconds");
    CHECK_TRUE(dualsvm_table_columns(tables[0]) == dualsvm_table_columns(tables[1]));
    for (size_t c = 0; c < dualsvm_table_columns(tables[0]); c++) {
        CHECK(c == seconds || strcmp(dualsvm_table_text(tables[0], 0, c),
                                     dualsvm_table_text(tables[1], 0, c)) == 0,
              "%s", dualsvm_table_name(tables[0], c));
    }
    dualsvm_table_free(tables[0]);
    dualsvm_table_free(tables[1]);
    dualsvm_model_free(a);
    dualsvm_model_free(b);
    dualsvm_data_free(data);
    dualsvm_data_free(weighed);
    dualsvm_options_free(options);
    printf("ok: weights and folds\n");
}

static int count(void *context, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        *(size_t *)context += text[i] == '\n';
    }
    return 0;
}

/* Rows without names are named by their numbers. */
static void check_names(void) {
    static struct rows rows;
    dualsvm_error error;
    dualsvm_model *model;
    size_t lines = 0;
    rows_make(&rows, "rank", 1, 3);
    dualsvm_options *options = rows_options("rank", DUALSVM_TRAIN);
    dualsvm_options *predicting = rows_options("rank", DUALSVM_PREDICT);
    dualsvm_data *data = rows_data(&rows, 5);
    CALL(dualsvm_train(&model, options, data, NULL, &error));
    rows_set(predicting, "names", "1");
    rows_set(predicting, "trec", "run");
    CALL(dualsvm_predict_text(model, predicting, data, count, &lines, &error));
    CHECK(lines == ROWS, "%zu", lines);
    FILE *run = fopen("run", "r");
    char line[200];
    lines = 0;
    while (run && fgets(line, sizeof line, run)) {
        lines++;
    }
    CHECK(run && lines == ROWS && fclose(run) == 0, "%zu", lines);
    rows_set(predicting, "trec", "no/folder");
    CHECK_TRUE(dualsvm_predict_text(model, predicting, data, count, &lines, &error) < 0);
    dualsvm_model_free(model);
    dualsvm_data_free(data);
    dualsvm_options_free(options);
    dualsvm_options_free(predicting);
    printf("ok: names of rows\n");
}

int main(void) {
    check_precomputed();
    check_beside();
    check_names();
    return 0;
}
