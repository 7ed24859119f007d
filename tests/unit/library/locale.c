/* In a process whose locale has a decimal comma, of LC_ALL, all is as in C.
 *
 *   locale     ends with 77 where there is no such locale */
#include "tests/unit/library/rows.h"

#include <locale.h>

/* Everything that is text with numbers in it, but for seconds. */
static char *run(void) {
    static struct rows rows;
    dualsvm_error error;
    dualsvm_table *table;
    dualsvm_model *model;
    dualsvm_report report;
    size_t size, used = 0, room = 1 << 20;
    char *text = calloc(room, 1);
    CHECK_TRUE(text);
    rows_make(&rows, "mc", 1, 3);
    dualsvm_options *options = rows_options("mc", DUALSVM_TRAIN);
    dualsvm_data *data = rows_data(&rows, 2);
    rows_set(options, "kernel", "rbf");
    rows_set(options, "gamma", "0.25,0.125");
    CALL(dualsvm_options_set_number(options, "cost", 0.5, &error));
    rows_set(options, "folds", "3");
    CALL(dualsvm_sweep(&table, &model, options, data, NULL, &error));
    for (size_t r = 0; r < dualsvm_table_rows(table); r++) {
        for (size_t c = 0; c < dualsvm_table_columns(table); c++) {
            if (strcmp(dualsvm_table_name(table, c), "seconds") != 0) {
                used += (size_t)snprintf(text + used, room - used, "%s ",
                                         dualsvm_table_text(table, r, c));
            }
        }
    }
    dualsvm_model_report(model, &report, sizeof report);
    const char *bytes = dualsvm_model_bytes(model, &size);
    CHECK_TRUE(used + size + strlen(report.lines) < room);
    memcpy(text + used, bytes, size);
    memcpy(text + used + size, report.lines, strlen(report.lines) + 1);
    dualsvm_table_free(table);
    dualsvm_model_free(model);
    dualsvm_data_free(data);
    dualsvm_options_free(options);
    return text;
}

int main(void) {
    char half[8];
    char *expected = run();
    if (!setlocale(LC_ALL, "") || snprintf(half, sizeof half, "%.1f", 0.5) != 3 ||
        strcmp(half, "0,5") != 0) {
        free(expected);
        return 77;
    }
    char *found = run();
    CHECK(strcmp(expected, found) == 0, "%s", found);
    CHECK_TRUE(strcmp(setlocale(LC_NUMERIC, NULL), "C") != 0);
    free(expected);
    free(found);
    printf("ok: %s\n", setlocale(LC_ALL, NULL));
    return 0;
}
