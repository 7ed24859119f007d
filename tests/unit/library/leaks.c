/* Fits, saves, loads and predicts N times in one process: memory must not grow.
 *
 *   leaks N     N in the hundreds
 *
 * Compares the memory allocated by malloc: the resident memory also depends on when the stacks of
 * threads are used. */
#include "tests/unit/library/rows.h"

#include <malloc.h>

/* The allocated kB. */
static long in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return (long)((info.uordblks + info.hblkhd) / 1024);
}

static int stop(void *context, const dualsvm_progress *progress) {
    (void)context, (void)progress;
    return 1;
}

static void fit(const char *family, struct rows *rows, int i) {
    dualsvm_model *model, *copy;
    dualsvm_table *table;
    size_t size;
    double scores[ROWS * 8];
    rows_make(rows, family, i % 2 ? 1 : 0.3, 5);
    dualsvm_options *options = rows_options(family, DUALSVM_TRAIN);
    dualsvm_data *data = rows_data(rows, i % WAYS);
    rows_set(options, "threads", "2");
    rows_set(options, "scale", i % 3 ? "none" : "std");
    CALL(dualsvm_train(&model, options, data, NULL, &error));
    const void *bytes = dualsvm_model_bytes(model, &size);
    CALL(dualsvm_model_from_bytes(&copy, family, bytes, size, &error));
    CALL(dualsvm_predict_scores(copy, NULL, data, scores, &error));
    dualsvm_model_free(model);
    dualsvm_model_free(copy);
    rows_set(options, "folds", "2");
    rows_set(options, "cost", "0.1,1");
    CALL(dualsvm_sweep(&table, &model, options, data, NULL, &error));
    CHECK_TRUE(dualsvm_table_rows(table) == 2 && dualsvm_table_best(table) < 2);
    dualsvm_table_free(table);
    dualsvm_model_free(model);
    /* failing calls must not leak either */
    const dualsvm_watch watch = {.size = sizeof watch, .progress = stop};
    CHECK_TRUE(dualsvm_sweep(&table, &model, options, data, &watch, &error) < 0);
    CHECK_TRUE(!table && !model && error.kind == DUALSVM_STOPPED);
    CHECK_TRUE(dualsvm_train(&model, options, data, NULL, &error) < 0 && !model);
    dualsvm_data_free(data);
    dualsvm_options_free(options);
}

int main(int argc, char **argv) {
    static struct rows rows;
    int n = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
    long before = 0;
    mallopt(M_ARENA_MAX, 1); /* the only one that mallinfo2 covers */
    for (int i = 0; i < n; i++) {
        fit(dualsvm_family_name((size_t)i % 5), &rows, i);
        before = i + 1 == n / 4 ? in_use() : before;
    }
    long grown = in_use() - before;
    /* a leak of 1 kB per fit would add up to 300 kB */
    CHECK(n < 400 || grown < 100, "%ld kB more after %d fits than after a quarter of them", grown,
          n);
    printf("ok: %d fits\n", n);
    return 0;
}
