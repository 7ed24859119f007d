/* Counts in O(1) per row; the table grows with the labels of the file. */
#include "families/shared/confusion.h"

#include "common/base/memory.h"
#include "common/model/label_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Resizes *array from `old` to n rows of `width` counts; new counts are 0. */
static int widen(double **array, size_t old, size_t n, size_t width, struct error *err) {
    if (memory_grow(array, old, n, width * sizeof **array, "counts", err) < 0) {
        return -1;
    }
    memset(*array + old * width, 0, (memory_room(old, n) - old) * width * sizeof **array);
    return 0;
}

/* Makes the table large enough for n labels; cells: including the cells. */
static int reserve(struct confusion *confusion, size_t n, bool cells, struct error *err) {
    size_t old = confusion->room;
    if (n <= old) {
        return 0;
    }
    if (widen(&confusion->actual, old, n, 1, err) < 0 ||
        widen(&confusion->right, old, n, 1, err) < 0 ||
        (cells && widen(&confusion->cell, old, n, confusion->labels.names.n, err) < 0)) {
        return -1;
    }
    confusion->room = memory_room(old, n);
    return 0;
}

/* Releases what the table owns. */
static void confusion_free(struct confusion *confusion) {
    labels_free(&confusion->labels);
    names_free(&confusion->others);
    free(confusion->number);
    free(confusion->actual);
    free(confusion->right);
    free(confusion->predicted);
    free(confusion->cell);
    *confusion = (struct confusion){0};
}

static size_t confusion_labels(const struct confusion *confusion) {
    return confusion->labels.names.n + (confusion->lumped ? 1 : confusion->others.n);
}

static int confusion_create(struct confusion *confusion, struct labels *labels, bool lumped,
                            bool cells, struct error *err) {
    size_t k = labels->names.n;
    *confusion = (struct confusion){.labels = *labels, .lumped = lumped};
    *labels = (struct labels){0};
    confusion->predicted = memory_zeros(k, sizeof(double), "counts", err);
    if (!confusion->predicted || reserve(confusion, k + 1, cells, err) < 0) {
        confusion_free(confusion);
        return -1;
    }
    return 0;
}

/* Updates the numbers of the file's label names; must precede confusion_add for rows with new
 * names. */
static int confusion_names(struct confusion *confusion, const struct names *names,
                           struct error *err) {
    if (names->n <= confusion->n_numbers) {
        return 0;
    }
    uint32_t *number = memory_array(names->n, sizeof *number, "labels", err);
    if (!number) {
        return -1;
    }
    free(confusion->number);
    confusion->number = number;
    labels_map(&confusion->labels, names, number);
    for (size_t l = 0; l < names->n; l++) {
        uint32_t other = 0;
        if (number[l] != LABELS_UNKNOWN) {
            continue;
        }
        if (!confusion->lumped && names_add(&confusion->others, names->name[l],
                                            strlen(names->name[l]), &other, err) < 0) {
            return -1;
        }
        number[l] = (uint32_t)confusion->labels.names.n + other;
    }
    confusion->n_numbers = names->n;
    return reserve(confusion, confusion_labels(confusion), confusion->cell, err);
}

/* Counts a row by the number of its label name; UINT32_MAX, a row without a label, is not
 * counted. */
static void confusion_add(struct confusion *confusion, uint32_t name, size_t predicted) {
    if (name == UINT32_MAX) {
        return;
    }
    size_t actual = confusion->number[name];
    confusion->actual[actual]++;
    confusion->predicted[predicted]++;
    confusion->right[actual] += actual == predicted ? 1 : 0;
    if (confusion->cell) {
        confusion->cell[actual * confusion->labels.names.n + predicted]++;
    }
}

const char *confusion_name(const struct confusion *confusion, size_t label) {
    size_t k = confusion->labels.names.n;
    if (label < k) {
        return confusion->labels.names.name[label];
    }
    return confusion->lumped ? "(other)" : confusion->others.name[label - k];
}

double confusion_rate(const struct confusion *confusion, int number, double *weight) {
    size_t k = confusion->labels.names.n, n = confusion_labels(confusion);
    double rows = 0, right = 0, recalls = 0, n_recalls = 0, f1 = 0, n_f1 = 0;
    for (size_t l = 0; l < n; l++) {
        double actual = confusion->actual[l], own = confusion->right[l];
        double both = actual + (l < k ? confusion->predicted[l] : 0);
        rows += actual;
        right += own;
        recalls += actual > 0 ? own / actual : 0;
        n_recalls += actual > 0;
        f1 += both > 0 ? 2 * own / both : 0;
        n_f1 += both > 0;
    }
    *weight = rows;
    const double sum[CONFUSION_RATES] = {right, recalls, f1};
    const double count[CONFUSION_RATES] = {rows, n_recalls, n_f1};
    return number < CONFUSION_RATES && count[number] > 0 ? sum[number] / count[number]
                                                         : (double)NAN;
}

struct measured_rows confusion_rows(const void *state) {
    const struct confusion *confusion = state;
    double known = 0, unknown = 0;
    for (size_t l = 0; l < confusion_labels(confusion); l++) {
        *(l < confusion->labels.names.n ? &known : &unknown) += confusion->actual[l];
    }
    return (struct measured_rows){
        .labelled = (size_t)(known + unknown), .unknown = (size_t)unknown, .known = (size_t)known};
}

/* ---- the state of measures and predictions ---- */

int confusion_check(bool pair, const struct model *model, struct error *err) {
    struct labels labels;
    if (label_line_read(&labels, model, pair, err) < 0) {
        return -1;
    }
    labels_free(&labels);
    return 0;
}

int confusion_open(void **state, size_t size, bool pair, bool cells, const struct model *model,
                   struct error *err) {
    struct labels labels;
    struct confusion *opened = memory_zeros(1, size, "predictions", err);
    if (!opened || label_line_read(&labels, model, pair, err) < 0 ||
        confusion_create(opened, &labels, pair, cells, err) < 0) {
        free(opened);
        return -1;
    }
    opened->n_scores = model->n_outputs;
    *state = opened;
    return 0;
}

void confusion_close(void *state) {
    confusion_free(state);
    free(state);
}

size_t confusion_decide(const void *state, const double *scores) {
    const struct confusion *confusion = state;
    size_t best = 0;
    if (confusion->n_scores < confusion->labels.names.n) {
        return scores[0] > 0;
    }
    for (size_t c = 1; c < confusion->n_scores; c++) {
        best = scores[c] > scores[best] ? c : best;
    }
    return best;
}

int confusion_count(void *state, const struct data *data, const uint32_t *rows, size_t n,
                    const double *scores, size_t n_scores, struct error *err) {
    struct confusion *confusion = state;
    if (confusion_names(confusion, &data->names, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        confusion_add(confusion, data->label[rows ? rows[i] : i],
                      confusion_decide(confusion, scores + i * n_scores));
    }
    return 0;
}

static void write_line(const struct confusion_lines *lines, const double *scores,
                       struct output *output) {
    const struct confusion *confusion = &lines->confusion;
    output_text(output, confusion_name(confusion, confusion_decide(lines, scores)));
    if (lines->probabilities) {
        lines->probabilities(lines, scores, lines->p);
        scores = lines->p;
    }
    for (size_t k = 0; lines->scores && k < confusion->n_scores; k++) {
        output_text(output, lines->names.separator);
        output_number(output, scores[k]);
    }
}

int confusion_add_lines(void *state, const struct data *rows, const double *scores,
                        struct output *output, struct error *err) {
    struct confusion_lines *lines = state;
    const struct labels *labels = &lines->confusion.labels;
    size_t n = rows->n_rows, k = lines->confusion.n_scores;
    if (lines->confusion.cell && confusion_count(state, rows, NULL, n, scores, k, err) < 0) {
        return -1;
    }
    if (output) {
        row_names_header(&lines->names, k < labels->names.n ? NULL : labels, output);
    }
    for (size_t i = 0; output && i < n; i++) {
        write_line(lines, scores + i * k, output);
        row_names_end_line(&lines->names, rows, i, output);
    }
    return 0;
}

int confusion_write(void *state, size_t option, struct output *output, struct error *err) {
    const struct confusion *confusion = state;
    (void)option;
    (void)err;
    size_t k = confusion->labels.names.n, n = confusion_labels(confusion);
    output_format(output, "label");
    for (size_t p = 0; p < k; p++) {
        output_format(output, "\t%s", confusion_name(confusion, p));
    }
    output_write(output, "\n", 1);
    for (size_t l = 0; l < n; l++) {
        output_format(output, "%s", confusion_name(confusion, l));
        for (size_t p = 0; p < k; p++) {
            output_write(output, "\t", 1);
            output_number(output, confusion->cell[l * k + p]);
        }
        output_write(output, "\n", 1);
    }
    return 0;
}
