/* Loads a multi-class model of ./train or of svm-mc-train, and predicts the rows of an array.
 *
 *   cc -o predict predict.c $(pkg-config --cflags --libs dualsvm) && ./predict clouds.model */
#include <dualsvm.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 3, COLUMNS = 2 };

int main(int argc, char **argv) {
    const float x[ROWS * COLUMNS] = {0.1F, 0.1F, 2, 2, -1, 2};
    const char *path = argc > 1 ? argv[1] : "clouds.model";
    dualsvm_model *model = NULL;
    dualsvm_data *data = NULL;
    dualsvm_error error;
    uint32_t label[ROWS];
    if (dualsvm_model_load(&model, "mc", path, &error) < 0) {
        fprintf(stderr, "predict: %s\n", error.text);
        return 1;
    }
    size_t n = dualsvm_model_scores(model); /* one for each class */
    double *scores = malloc(ROWS * n * sizeof *scores);
    int failed = !scores ||
                 dualsvm_data_dense(&data, "mc", x, DUALSVM_FLOAT, ROWS, COLUMNS, COLUMNS,
                                    DUALSVM_LENT, &error) < 0 ||
                 dualsvm_predict_labels(model, NULL, data, label, &error) < 0 ||
                 dualsvm_predict_scores(model, NULL, data, scores, &error) < 0;
    for (size_t i = 0; !failed && i < ROWS; i++) {
        printf("%s %.3g\n", dualsvm_model_label(model, label[i]), scores[i * n + label[i]]);
    }
    if (failed) {
        fprintf(stderr, "predict: %s\n", scores ? error.text : "out of memory");
    }
    free(scores);
    dualsvm_data_free(data);
    dualsvm_model_free(model);
    return failed;
}
