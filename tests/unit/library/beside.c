/* A precomputed kernel gives the results of the kernel, weights and folds from arrays those of
 * files, and rows without names have numbers. */
#include "tests/unit/library/rows.h"

enum { SIDE = ROWS };

static void check_precomputed(void) {
    struct task task;
    static double values[SIDE * SIDE], scores[2][SIDE * 3];
    dualsvm_data *kernel, *few;
    task_open(&task, "mc", 0);
    const float *x = task.rows.dense;
    for (size_t i = 0; i < SIDE; i++) {
        for (size_t j = 0; j < SIDE; j++) {
            for (size_t k = 0; k < COLUMNS; k++) {
                values[i * SIDE + j] += (double)x[i * COLUMNS + k] * (double)x[j * COLUMNS + k];
            }
        }
    }
    rows_set(task.options, "epsilon", "1e-6");
    dualsvm_model *linear = rows_train(task.options, task.data);
    rows_set(task.options, "kernel", "precomputed");
    CALL(dualsvm_data_dense(&kernel, "mc", values, DUALSVM_DOUBLE, SIDE, SIDE, SIDE, 0, &error));
    CALL(dualsvm_data_set_label_numbers(kernel, task.rows.label, &error));
    CALL(dualsvm_data_set_precomputed(kernel, NULL, &error));
    dualsvm_model *model = rows_train(task.options, kernel);
    CALL(dualsvm_predict_scores(linear, NULL, task.data, scores[0], &error));
    CALL(dualsvm_predict_scores(model, NULL, kernel, scores[1], &error));
    for (size_t k = 0; k < SIDE * 3; k++) {
        CHECK_CLOSE(scores[0][k], scores[1][k], 1e-2, "score %zu", k);
    }
    /* three rows, with all columns */
    CALL(dualsvm_data_dense(&few, "mc", values + 7 * SIDE, DUALSVM_DOUBLE, 3, SIDE, SIDE, 0,
                            &error));
    CALL(dualsvm_data_set_precomputed(few, NULL, &error));
    CALL(dualsvm_predict_scores(model, NULL, few, scores[0], &error));
    CHECK_TRUE(memcmp(scores[0], scores[1] + 7 * 3, 9 * sizeof(double)) == 0);
    dualsvm_model_free(linear);
    dualsvm_model_free(model);
    dualsvm_data_free(kernel);
    dualsvm_data_free(few);
    task_close(&task);
    printf("ok: kernel values\n");
}

/* Compares the models or tables of two ways. */
static void check_beside(void) {
    struct task task;
    dualsvm_table *tables[2];
    uint32_t fold[ROWS];
    size_t n, m;
    task_open(&task, "top", 1);
    dualsvm_data *weighed = rows_data(&task.rows, 1);
    const double *weight = task.rows.weight;
    FILE *weights = fopen("weights", "w"), *folds = fopen("folds", "w");
    CHECK_TRUE(weights && folds);
    for (int i = 0; i < ROWS; i++) {
        fold[i] = (uint32_t)i / 20;
        fprintf(weights, "%g\n", weight[i]);
        fprintf(folds, "%d\n", i / 20);
    }
    CHECK_TRUE(fclose(weights) == 0 && fclose(folds) == 0);
    CALL(dualsvm_data_set_weights(weighed, weight, &error));
    dualsvm_model *a = rows_train(task.options, weighed);
    rows_set(task.options, "row-weights", "weights");
    dualsvm_model *b = rows_train(task.options, task.data);
    const void *x = dualsvm_model_bytes(a, &n), *y = dualsvm_model_bytes(b, &m);
    CHECK_TRUE(n == m && memcmp(x, y, n) == 0);
    CALL(dualsvm_data_set_folds(weighed, fold, 3, &error));
    rows_set(task.options, "row-weights", NULL);
    CALL(dualsvm_cross_validate(&tables[0], task.options, weighed, NULL, &error));
    rows_set(task.options, "row-weights", "weights");
    rows_set(task.options, "fold-file", "folds");
    CALL(dualsvm_cross_validate(&tables[1], task.options, task.data, NULL, &error));
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
    dualsvm_data_free(weighed);
    task_close(&task);
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
    struct task task;
    size_t lines = 0;
    task_open(&task, "rank", 5);
    dualsvm_options *predicting = rows_options("rank", DUALSVM_PREDICT);
    dualsvm_model *model = rows_train(task.options, task.data);
    rows_set(predicting, "names", "1");
    rows_set(predicting, "trec", "run");
    CALL(dualsvm_predict_text(model, predicting, task.data, count, &lines, &error));
    CHECK(lines == ROWS, "%zu", lines);
    FILE *run = fopen("run", "r");
    char line[200];
    lines = 0;
    while (run && fgets(line, sizeof line, run)) {
        lines++;
    }
    CHECK(run && lines == ROWS && fclose(run) == 0, "%zu", lines);
    rows_set(predicting, "trec", "no/folder");
    CHECK_TRUE(dualsvm_predict_text(model, predicting, task.data, count, &lines, &error) < 0);
    dualsvm_model_free(model);
    dualsvm_options_free(predicting);
    task_close(&task);
    printf("ok: names of rows\n");
}

int main(void) {
    check_precomputed();
    check_beside();
    check_names();
    return 0;
}
