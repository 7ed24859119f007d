/* Trains on arrays, prints the certified gap of the model, and saves it.
 *
 *   cc -o train train.c $(pkg-config --cflags --libs dualsvm) && ./train clouds.model */
#include <dualsvm.h>
#include <stdio.h>

enum { ROWS = 6, COLUMNS = 2 };

int main(int argc, char **argv) {
    const double x[ROWS * COLUMNS] = {0, 0.1, 0.2, 0, 2, 2.1, 2.2, 1.9, -1, 2, -1.2, 2.1};
    const char *const y[ROWS] = {"low", "low", "right", "right", "left", "left"};
    const char *path = argc > 1 ? argv[1] : "clouds.model";
    dualsvm_options *options = NULL;
    dualsvm_data *data = NULL;
    dualsvm_model *model = NULL;
    dualsvm_report report;
    dualsvm_error error;
    int failed =
        dualsvm_options_create(&options, "mc", DUALSVM_TRAIN, &error) < 0 ||
        dualsvm_options_set(options, "kernel", "rbf", &error) < 0 ||
        dualsvm_options_set_number(options, "cost", 10, &error) < 0 ||
        dualsvm_data_dense(&data, "mc", x, DUALSVM_DOUBLE, ROWS, COLUMNS, COLUMNS, 0, &error) < 0 ||
        dualsvm_data_set_label_words(data, y, &error) < 0 ||
        dualsvm_train(&model, options, data, NULL, &error) < 0 ||
        dualsvm_model_save(model, path, &error) < 0;
    if (failed) {
        fprintf(stderr, "train: %s\n", error.text);
    } else {
        dualsvm_model_report(model, &report, sizeof report);
        printf("%sat most %.2g%% above the optimum\n", report.lines, 100 * report.gap);
    }
    dualsvm_model_free(model);
    dualsvm_data_free(data);
    dualsvm_options_free(options);
    return failed;
}
