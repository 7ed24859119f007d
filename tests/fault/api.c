/* A program that calls every function of the library that can fail, for the fault tests
 * (faults.py): it exits with 0 and its outputs, or with 1 and one line on standard error.
 *
 *   api FAMILY TRAINING_FILE OUT_MODEL */
#include "include/dualsvm.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 12, COLUMNS = 4 };

struct run {
    const char *family;
    dualsvm_error error;
    dualsvm_options *options, *copy, *predicting, *ranking;
    dualsvm_data *read, *dense, *sparse;
    dualsvm_model *model, *loaded, *best;
    dualsvm_table *table;
    dualsvm_measures *measures;
    double *scores;
    char text[1 << 14];
    size_t length;
};

static int take(void *context, const char *text, size_t size) {
    struct run *run = context;
    if (size > sizeof run->text - run->length) {
        return 1;
    }
    memcpy(run->text + run->length, text, size);
    run->length += size;
    return 0;
}

static int set_options(struct run *run) {
    dualsvm_error *error = &run->error;
    if (dualsvm_options_create(&run->options, run->family, DUALSVM_TRAIN, error) < 0 ||
        dualsvm_options_set(run->options, "cost", "2", error) < 0 ||
        dualsvm_options_set_number(run->options, "threads", 2, error) < 0 ||
        dualsvm_options_set(run->options, "scale", "std", error) < 0 ||
        (strcmp(run->family, "smm") == 0 &&
         dualsvm_options_set(run->options, "shape", "2x2", error) < 0) ||
        (strcmp(run->family, "mc") == 0 &&
         dualsvm_options_set(run->options, "probability", "1", error) < 0) ||
        dualsvm_options_copy(&run->copy, run->options, error) < 0 ||
        dualsvm_options_set(run->copy, "cost", "1,2", error) < 0 ||
        dualsvm_options_set(run->copy, "folds", "2", error) < 0) {
        return -1;
    }
    if (strcmp(run->family, "rank") == 0 &&
        (dualsvm_options_set(run->options, "targets", "1", error) < 0 ||
         dualsvm_options_create(&run->ranking, "rank", DUALSVM_CANDIDATES, error) < 0 ||
         dualsvm_options_set(run->ranking, "trees", "3", error) < 0 ||
         dualsvm_options_set(run->ranking, "threads", "2", error) < 0)) {
        return -1;
    }
    return dualsvm_options_create(&run->predicting, run->family, DUALSVM_PREDICT, error);
}

static int set_labels(struct run *run, dualsvm_data *data) {
    static const char *const names[] = {"a", "b", "c"};
    double number[ROWS];
    uint32_t code[ROWS];
    uint64_t query[ROWS];
    const char *word[ROWS];
    dualsvm_error *error = &run->error;
    bool rank = strcmp(run->family, "rank") == 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        code[i] = i % 2;
        number[i] = rank ? (double)(i * 5 % 7) : i % 2 ? 1 : -1.0;
        query[i] = i / 6 + 1;
        word[i] = i < 6 ? "one" : "two";
    }
    if (!rank && dualsvm_data_set_label_codes(data, NULL, code, names, 3, error) < 0) {
        return -1;
    }
    return dualsvm_data_set_label_numbers(data, number, error) < 0 ||
                   dualsvm_data_set_query_words(data, word, error) < 0 ||
                   dualsvm_data_set_queries(data, query, error) < 0
               ? -1
               : 0;
}

static int make_data(struct run *run, const char *path) {
    float value[ROWS * COLUMNS];
    int32_t start[ROWS + 1], column[ROWS * COLUMNS];
    uint32_t fold[ROWS];
    double weight[ROWS];
    dualsvm_error *error = &run->error;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            value[i * COLUMNS + j] = (float)(1 + (i * (j + 2) + j) % 5) / 4;
            column[i * COLUMNS + j] = j;
        }
        start[i] = i * COLUMNS;
        fold[i] = (uint32_t)i / 2 % 2;
        weight[i] = 1;
    }
    start[ROWS] = ROWS * COLUMNS;
    if (dualsvm_data_read(&run->read, run->options, path, error) < 0 ||
        dualsvm_data_dense(&run->dense, run->family, value, DUALSVM_FLOAT, ROWS, COLUMNS, COLUMNS,
                           0, error) < 0 ||
        dualsvm_data_csr(&run->sparse, run->family, start, column, DUALSVM_INT32, value,
                         DUALSVM_FLOAT, ROWS, 9, 0, error) < 0 ||
        set_labels(run, run->dense) < 0 || set_labels(run, run->sparse) < 0) {
        return -1;
    }
    return dualsvm_data_set_weights(run->sparse, weight, error) < 0 ||
                   dualsvm_data_set_weights(run->sparse, NULL, error) < 0 ||
                   dualsvm_data_set_folds(run->sparse, fold, 2, error) < 0
               ? -1
               : dualsvm_data_set_folds(run->sparse, NULL, 0, error);
}

static int train(struct run *run) {
    dualsvm_error *error = &run->error;
    size_t size;
    if (dualsvm_train(&run->model, run->options, run->dense, NULL, error) < 0 ||
        dualsvm_sweep(&run->table, &run->best, run->copy, run->sparse, NULL, error) < 0) {
        return -1;
    }
    dualsvm_model_free(run->best);
    run->best = NULL;
    const void *bytes = dualsvm_model_bytes(run->model, &size);
    return dualsvm_model_from_bytes(&run->best, run->family, bytes, size, error) < 0
               ? -1
               : dualsvm_train(&run->loaded, run->options, run->read, NULL, error);
}

/* Ranks the rows as candidates of two features, with the options and with the defaults. */
static int rank_candidates(struct run *run) {
    double minutes[ROWS], rank[ROWS];
    const char *name[ROWS];
    dualsvm_error *error = &run->error;
    for (int i = 0; i < ROWS; i++) {
        minutes[i] = i / 6 + 1;
        name[i] = i % 2 ? NULL : "";
    }
    for (int defaults = 0; defaults < 2; defaults++) {
        double *order_score = run->scores, *score = run->scores + ROWS;
        if (dualsvm_rank_candidates(run->best, defaults ? NULL : run->ranking, run->dense, minutes,
                                    name, order_score, score, rank, error) < 0) {
            return -1;
        }
        for (int i = 0; i < ROWS; i++) {
            run->length += (size_t)snprintf(run->text + run->length, sizeof run->text - run->length,
                                            "%g %g %g\n", order_score[i], score[i], rank[i]);
        }
    }
    return 0;
}

static int predict(struct run *run) {
    dualsvm_error *error = &run->error;
    const dualsvm_model *model = run->best;
    size_t labels = dualsvm_model_labels(model);
    uint32_t label[ROWS];
    unsigned char chosen[ROWS * 4];
    run->scores = malloc(ROWS * 8 * sizeof *run->scores);
    if (!run->scores) {
        snprintf(error->text, sizeof error->text, "no scores");
        return -1;
    }
    if (dualsvm_predict_scores(model, run->predicting, run->dense, run->scores, error) < 0 ||
        dualsvm_predict_text(model, NULL, run->dense, take, run, error) < 0 ||
        dualsvm_measure(&run->measures, model, NULL, run->dense, error) < 0) {
        return -1;
    }
    if (strcmp(run->family, "ml") == 0) {
        return labels > 4 ? -1 : dualsvm_predict_sets(model, NULL, run->dense, chosen, error);
    }
    if (strcmp(run->family, "rank") == 0) {
        return rank_candidates(run);
    }
    return dualsvm_predict_labels(model, NULL, run->dense, label, error) < 0 ||
                   (strcmp(run->family, "mc") == 0 &&
                    dualsvm_predict_probabilities(model, NULL, run->dense, run->scores, error) < 0)
               ? -1
               : 0;
}

/* Writes the printed text first, then the model, because a file that is in place stays there. */
static int write_all(struct run *run, const char *path) {
    if (fwrite(run->text, 1, run->length, stdout) != run->length || fflush(stdout) != 0) {
        snprintf(run->error.text, sizeof run->error.text, "cannot write");
        return -1;
    }
    return dualsvm_model_save(run->model, path, &run->error);
}

static void end(struct run *run) {
    dualsvm_options_free(run->options);
    dualsvm_options_free(run->copy);
    dualsvm_options_free(run->predicting);
    dualsvm_options_free(run->ranking);
    dualsvm_data_free(run->read);
    dualsvm_data_free(run->dense);
    dualsvm_data_free(run->sparse);
    dualsvm_model_free(run->model);
    dualsvm_model_free(run->loaded);
    dualsvm_model_free(run->best);
    dualsvm_table_free(run->table);
    dualsvm_measures_free(run->measures);
    free(run->scores);
}

int main(int argc, char **argv) {
    static struct run run;
    if (argc != 4) {
        return 2;
    }
    run.family = argv[1];
    bool done = set_options(&run) == 0 && make_data(&run, argv[2]) == 0 && train(&run) == 0 &&
                predict(&run) == 0 && write_all(&run, argv[3]) == 0;
    if (!done) {
        fprintf(stderr, "api: %s\n", run.error.text);
    }
    end(&run);
    return done ? 0 : 1;
}
