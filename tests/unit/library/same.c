/* The same rows from a file and from all kinds of arrays give the same model, bit by bit, and the
 * same predictions; borrowed arrays are not modified. Leaves FAMILY.svm, FAMILY.model, FAMILY.lines
 * in the current folder for a comparison with the programs.
 *
 *   same FAMILY SHARE [OPTION VALUE]...     SHARE: of the nonzero values
 *
 * Runs in the locale of the environment, whose decimal point it prints. */
#include "tests/unit/library/rows.h"

#include <locale.h>

struct text {
    char *bytes;
    size_t n;
};

static int take(void *context, const char *text, size_t size) {
    struct text *to = context;
    to->bytes = realloc(to->bytes, to->n + size + 1);
    memcpy(to->bytes + to->n, text, size);
    to->n += size;
    return 0;
}

static bool same(const double *a, const double *b, size_t n) {
    return memcmp(a, b, n * sizeof *a) == 0;
}

/* Compares all predictions for the rows with those for the rows of the file. */
static void check_predictions(const dualsvm_model *model, const dualsvm_data *data,
                              const dualsvm_data *of_file, int way) {
    size_t n = ROWS * dualsvm_model_scores(model), labels = dualsvm_model_labels(model);
    double *a = malloc(2 * n * sizeof *a), *b = a + n;
    CALL(dualsvm_predict_scores(model, NULL, of_file, a, &error));
    CALL(dualsvm_predict_scores(model, NULL, data, b, &error));
    CHECK(same(a, b, n), "scores of way %d", way);
    free(a);
    if (strcmp(dualsvm_model_family(model), "rank") == 0) {
        return;
    }
    struct text lines = {0};
    CALL(dualsvm_predict_text(model, NULL, data, take, &lines, &error));
    lines.bytes[lines.n] = '\0';
    uint32_t label[ROWS] = {0};
    unsigned char *chosen = malloc(ROWS * labels);
    bool sets = strcmp(dualsvm_model_family(model), "ml") == 0;
    CALL(sets ? dualsvm_predict_sets(model, NULL, data, chosen, &error)
              : dualsvm_predict_labels(model, NULL, data, label, &error));
    char *line = lines.bytes;
    for (size_t i = 0; i < ROWS; i++) {
        char word[200] = "";
        for (size_t k = 0; sets && k < labels; k++) {
            if (chosen[i * labels + k]) {
                snprintf(word + strlen(word), sizeof word - strlen(word), "%s%s", *word ? "," : "",
                         dualsvm_model_label(model, k));
            }
        }
        if (!sets) {
            snprintf(word, sizeof word, "%s", dualsvm_model_label(model, label[i]));
        }
        size_t length = strcspn(line, " \n");
        CHECK(strlen(word) == length && strncmp(word, line, length) == 0, "row %zu: %s, not %.*s",
              i, word, (int)length, line);
        line = strchr(line, '\n') + 1;
    }
    free(lines.bytes);
    free(chosen);
}

/* A hash of the measures of the rows. */
static double measure(const dualsvm_model *model, const dualsvm_data *data) {
    dualsvm_measures *measures;
    double sum = 0;
    CALL(dualsvm_measure(&measures, model, NULL, data, &error));
    CHECK_TRUE(dualsvm_measures_count(measures) > 0 && dualsvm_measures_name(measures, 0));
    for (size_t i = 0; i < dualsvm_measures_count(measures); i++) {
        sum = sum * 3 + dualsvm_measures_value(measures, i);
    }
    dualsvm_measures_free(measures);
    return sum;
}

static void check_model(const dualsvm_model *model, const dualsvm_data *of_file) {
    dualsvm_model *copy;
    dualsvm_report report;
    size_t size, again;
    const void *bytes = dualsvm_model_bytes(model, &size);
    CALL(dualsvm_model_from_bytes(&copy, NULL, bytes, size, &error));
    CHECK_TRUE(memcmp(dualsvm_model_bytes(copy, &again), bytes, size) == 0 && again == size);
    CHECK_TRUE(measure(model, of_file) == measure(copy, of_file));
    dualsvm_model_free(copy);
    CALL(dualsvm_model_save(model, "a.model.gz", &error));
    CALL(dualsvm_model_load(&copy, dualsvm_model_family(model), "a.model.gz", &error));
    CHECK_TRUE(memcmp(dualsvm_model_bytes(copy, &again), bytes, size) == 0 && again == size);
    dualsvm_model_report(copy, &report, sizeof report);
    CHECK_TRUE(report.converged == -1 && strcmp(report.lines, "") == 0);
    dualsvm_model_free(copy);
    dualsvm_model_report(model, &report, sizeof report);
    CHECK(report.converged == 1 && strcmp(report.reason, "") == 0, "%s", report.reason);
    CHECK_TRUE(!report.certified || (report.dual <= report.primal && report.gap <= 1e-3));
    CHECK_TRUE(strstr(report.lines, "iterations = ") && strstr(report.lines, "primal = "));
    CHECK_TRUE(strtod(dualsvm_model_value(model, "primal"), NULL) == report.primal);
    CHECK_TRUE(dualsvm_model_value(model, "no-such-key") == NULL);
}

/* The value of row i and column j. */
static float value_of(const dualsvm_rows *view, size_t i, size_t j) {
    for (uint64_t k = view->start ? view->start[i] : 0; view->start && k < view->start[i + 1];
         k++) {
        if (view->index[k] == j) {
            return view->value[k];
        }
    }
    return view->start ? 0 : view->value[i * view->columns + j];
}

/* The view of rows of a file has the rows that were written. */
static void check_view(const struct rows *rows, const dualsvm_data *of_file) {
    dualsvm_rows view = {0};
    dualsvm_data_view(of_file, &view, sizeof view);
    CHECK_TRUE(view.rows == ROWS && view.features == COLUMNS && view.columns == COLUMNS &&
               !view.feature);
    bool ranked = strcmp(rows->family, "rank") == 0, sets = strcmp(rows->family, "ml") == 0;
    CHECK_TRUE(!view.query == !ranked && !view.number == !ranked && !view.label == ranked &&
               !view.label_start == !sets);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < COLUMNS; j++) {
            CHECK_TRUE(value_of(&view, i, j) == rows->dense[i * COLUMNS + j]);
        }
        if (ranked) {
            CHECK_TRUE(view.query[i] == rows->query[i] && view.number[i] == rows->label[i]);
        } else if (!sets) {
            CHECK_TRUE(strtod(view.name[view.label[i]], NULL) == rows->label[i]);
        }
    }
    CHECK_TRUE(!sets || memcmp(view.label_start, rows->set_start, sizeof rows->set_start) == 0);
    for (uint64_t k = 0; sets && k < rows->set_start[ROWS]; k++) {
        CHECK_TRUE(strcmp(view.name[view.label[k]], set_names[rows->set[k]]) == 0);
    }
}

int main(int argc, char **argv) {
    static struct rows rows, before;
    char path[3][64];
    const char *family = argv[1];
    rows_make(&rows, family, strtod(argv[2], NULL), 7);
    before = rows;
    for (int k = 0; k < 3; k++) {
        static const char *const ends[] = {"svm", "model", "lines"};
        snprintf(path[k], sizeof path[k], "%s.%s", family, ends[k]);
    }
    rows_write(&rows, path[0]);
    setlocale(LC_ALL, "");
    dualsvm_options *options = rows_options(family, DUALSVM_TRAIN);
    for (int i = 3; i + 1 < argc; i += 2) {
        rows_set(options, argv[i], argv[i + 1]);
    }
    dualsvm_data *of_file;
    CALL(dualsvm_data_read(&of_file, options, path[0], &error));
    dualsvm_model *model = rows_train(options, of_file);
    CHECK_TRUE(dualsvm_data_rows(of_file) == ROWS && dualsvm_data_features(of_file) == COLUMNS);
    check_view(&rows, of_file);
    size_t size, other_size;
    const void *bytes = dualsvm_model_bytes(model, &size);
    for (int way = 0; way < WAYS; way++) {
        dualsvm_data *data = rows_data(&rows, way);
        CHECK_TRUE(dualsvm_data_rows(data) == ROWS && dualsvm_data_features(data) == COLUMNS);
        dualsvm_model *other = rows_train(options, data);
        const void *other_bytes = dualsvm_model_bytes(other, &other_size);
        CHECK(size == other_size && memcmp(bytes, other_bytes, size) == 0, "way %d", way);
        check_predictions(model, data, of_file, way);
        CHECK_TRUE(measure(model, data) == measure(model, of_file));
        dualsvm_model_free(other);
        dualsvm_data_free(data);
    }
    CHECK_TRUE(memcmp(&rows, &before, sizeof rows) == 0);
    CALL(dualsvm_model_save(model, path[1], &error));
    struct text lines = {0};
    CALL(dualsvm_predict_text(model, NULL, of_file, take, &lines, &error));
    FILE *file = fopen(path[2], "w");
    CHECK_TRUE(file && fwrite(lines.bytes, 1, lines.n, file) == lines.n && fclose(file) == 0);
    free(lines.bytes);
    printf("ok: %s, point %s\n", family, localeconv()->decimal_point);
    setlocale(LC_ALL, "C");
    check_model(model, of_file);
    dualsvm_model_free(model);
    dualsvm_data_free(of_file);
    dualsvm_options_free(options);
    return 0;
}
