/* Cross-validates RankSVM on a file at several costs, prints each row of the table as soon as it is
 * known, and saves a model of the best point.
 *
 *   cc -o sweep sweep.c $(pkg-config --cflags --libs dualsvm) && ./sweep rank.train best.model */
#include <dualsvm.h>
#include <stdio.h>

static int show(void *context, const dualsvm_table *table, size_t row) {
    const char *measure = context;
    size_t column = dualsvm_table_find(table, measure);
    printf("%s C=%s: %s\n", dualsvm_table_text(table, row, dualsvm_table_find(table, "kernel")),
           dualsvm_table_text(table, row, dualsvm_table_find(table, "cost")),
           dualsvm_table_text(table, row, column));
    return 0; /* a nonzero value ends the sweep */
}

int main(int argc, char **argv) {
    char measure[] = "pairwise-accuracy";
    const dualsvm_watch watch = {sizeof watch, measure, NULL, show, NULL};
    dualsvm_options *options = NULL;
    dualsvm_data *data = NULL;
    dualsvm_model *model = NULL;
    dualsvm_table *table = NULL;
    dualsvm_error error;
    if (argc != 3) {
        fprintf(stderr, "Usage: sweep TRAINING_FILE MODEL_FILE\n");
        return 2;
    }
    int failed = dualsvm_options_create(&options, "rank", DUALSVM_TRAIN, &error) < 0 ||
                 dualsvm_options_set(options, "kernel", "minmax", &error) < 0 ||
                 dualsvm_options_set(options, "cost", "2^-3:2^3:x4", &error) < 0 ||
                 dualsvm_options_set(options, "folds", "3", &error) < 0 ||
                 dualsvm_options_set(options, "select", measure, &error) < 0 ||
                 dualsvm_data_read(&data, options, argv[1], &error) < 0 ||
                 dualsvm_sweep(&table, &model, options, data, &watch, &error) < 0 ||
                 dualsvm_model_save(model, argv[2], &error) < 0;
    if (failed) {
        fprintf(stderr, "sweep: %s\n", error.text);
    } else {
        printf("best: C=%s\n", dualsvm_model_value(model, "cost"));
    }
    dualsvm_table_free(table);
    dualsvm_model_free(model);
    dualsvm_data_free(data);
    dualsvm_options_free(options);
    return failed;
}
