/* svm-rank-predict: scores, orders or pairs, by a model of svm-rank-train. */
#include "families/rank/rank.h"

#include "common/base/memory.h"
#include "families/rank/measures.h"
#include "families/rank/sigmoid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct option_spec own_options[] = {
    {.name = "order",
     .kind = OPTION_FLAG,
     .help = "write for each query a line `qid:N` with the numbers of its rows (1 is the first of "
             "the file), lowest score first; without queries the row numbers only"},
    {.name = "pairs",
     .kind = OPTION_FLAG,
     .help = "write for any two rows i < j of a query a line `i j margin`, positive if i has the "
             "larger score; with a model of -b 1 a fourth field is the probability that i has the "
             "larger label"}};

static const char *const model_keys[] = {"groups", "pairs", "pair-features", "probability-slope",
                                         NULL};

/* ---- what is asked of a model ---- */

/* A model of pairs has no scores of rows. */
static int check(const struct options *options, const struct model *model, struct error *err) {
    bool pairs = options_given(options, "pairs"), order = options_given(options, "order");
    if (pairs && order) {
        return error_set(err, ERROR_USAGE, "--order and --pairs exclude each other");
    }
    if (model->n_outputs > 1) {
        return error_set(err, ERROR_RUNTIME, "the model has %zu scores for a row: one is expected",
                         model->n_outputs);
    }
    if (model->n_outputs == 1 || pairs) {
        return 0;
    }
    bool measures_only = options_given(options, "metrics") && options->n_operands < 3 &&
                         !options_given(options, "batch") && !order;
    return measures_only ? 0
                         : error_set(err, ERROR_RUNTIME,
                                     "the model has pair features: it only predicts --pairs");
}

/* ---- lines ---- */

enum kind { SCORES, ORDER, PAIRS };

/* A row, kept until its query is known to be complete: at the end of the file. */
struct row {
    uint64_t query;
    size_t number; /* in the file, from 0 */
    double score;
};

struct lines {
    enum kind kind;
    size_t n_scores; /* of a row */
    bool calibrated;
    double slope;
    bool queries; /* a row has a qid */
    struct row *row;
    double *scores; /* (n_rows, n_scores), for pairs */
    size_t n_rows, room;
};

static int open_lines(void **state, const struct options *options, const struct model *model,
                      struct error *err) {
    struct lines *lines = memory_zeros(1, sizeof *lines, "predictions", err);
    if (!lines) {
        return -1;
    }
    *state = lines;
    lines->kind = options_given(options, "pairs")   ? PAIRS
                  : options_given(options, "order") ? ORDER
                                                    : SCORES;
    lines->n_scores = model_n_scores(model);
    lines->calibrated = model_value(model, "probability-slope") != NULL;
    return model_number(model, "probability-slope", 0, &lines->slope, err);
}

static void close_lines(void *state) {
    struct lines *lines = state;
    free(lines->row);
    free(lines->scores);
    free(lines);
}

static int keep_rows(struct lines *lines, const struct data *rows, const double *scores,
                     struct error *err) {
    size_t n = lines->n_rows + rows->n_rows, n_scores = lines->n_scores, room = lines->room;
    if (memory_grow(&lines->row, room, n, sizeof *lines->row, "predictions", err) < 0 ||
        memory_grow(&lines->scores, room, n, n_scores * sizeof *lines->scores, "predictions", err) <
            0) {
        return -1;
    }
    lines->room = memory_room(room, n);
    for (size_t i = 0; i < rows->n_rows; i++) {
        uint64_t query = rows->query ? rows->query[i] : 0;
        lines->row[lines->n_rows + i] =
            (struct row){query, lines->n_rows + i, n_scores == 1 ? scores[i] : 0};
    }
    if (n_scores > 0) { /* a model of no pairs has none, and no array for them */
        memcpy(lines->scores + lines->n_rows * n_scores, scores,
               rows->n_rows * n_scores * sizeof *scores);
    }
    lines->queries |= rows->query != NULL;
    lines->n_rows = n;
    return 0;
}

static int add_rows(void *state, const struct data *rows, const double *scores,
                    struct output *output, struct error *err) {
    struct lines *lines = state;
    if (lines->kind != SCORES) {
        return keep_rows(lines, rows, scores, err);
    }
    for (size_t i = 0; i < rows->n_rows; i++) {
        output_number(output, scores[i]);
        output_write(output, "\n", 1);
    }
    return 0;
}

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->query != y->query) {
        return x->query < y->query ? -1 : 1;
    }
    return (x->number > y->number) - (x->number < y->number);
}

static int compare_scores(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->score != y->score) {
        return x->score < y->score ? -1 : 1;
    }
    return (x->number > y->number) - (x->number < y->number);
}

static void write_order(const struct lines *lines, struct row *row, size_t n,
                        struct output *output) {
    qsort(row, n, sizeof *row, compare_scores);
    if (lines->queries) {
        output_format(output, "qid:%" PRIu64 " ", row[0].query);
    }
    for (size_t i = 0; i < n; i++) {
        output_format(output, "%zu%s", row[i].number + 1, i + 1 < n ? " " : "\n");
    }
}

static int write_pairs(const struct lines *lines, const struct row *row, size_t n,
                       struct output *output, struct error *err) {
    size_t n_scores = lines->n_scores;
    for (size_t i = 0; i < n; i++) {
        const double *scores_i = lines->scores + row[i].number * n_scores;
        for (size_t j = i + 1; j < n; j++) {
            const double *scores_j = lines->scores + row[j].number * n_scores;
            double margin =
                n_scores == 1 ? *scores_i - *scores_j : model_margin(scores_i, scores_j, n_scores);
            output_format(output, "%zu %zu ", row[i].number + 1, row[j].number + 1);
            output_number(output, margin);
            if (lines->calibrated) {
                output_write(output, " ", 1);
                output_number(output, sigmoid_probability(lines->slope, margin));
            }
            output_write(output, "\n", 1);
        }
        if (output_flush(output, err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Writes the groups in the order of their first rows in the file: those come first in `starts`,
 * which holds for each row 1 + its place in the sorted rows if it is the first of its group. */
static int write_groups(const struct lines *lines, size_t *starts, struct output *output,
                        struct error *err) {
    struct row *row = lines->row;
    if (lines->n_rows > 0) {
        qsort(row, lines->n_rows, sizeof *row, compare_rows);
    }
    for (size_t i = 0; i < lines->n_rows; i++) {
        if (i == 0 || row[i].query != row[i - 1].query) {
            starts[row[i].number] = i + 1;
        }
    }
    for (size_t first = 0; first < lines->n_rows; first++) {
        if (!starts[first]) {
            continue;
        }
        size_t start = starts[first] - 1, end = start;
        while (end < lines->n_rows && row[end].query == row[start].query) {
            end++;
        }
        if (lines->kind == ORDER) {
            write_order(lines, row + start, end - start, output);
        } else if (write_pairs(lines, row + start, end - start, output, err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int finish(void *state, struct output *output, struct error *err) {
    struct lines *lines = state;
    if (lines->kind == SCORES) {
        return 0;
    }
    size_t *starts = memory_zeros(lines->n_rows, sizeof *starts, "predictions", err);
    int status = starts ? write_groups(lines, starts, output, err) : -1;
    free(starts);
    return status;
}

const struct predictor rank_predictor = {
    .name = "rank",
    .summary = "Scores the rows of test_file, one a line, by a model of svm-rank-train.",
    .labels = DATA_NUMBER,
    .options = own_options,
    .n_options = sizeof own_options / sizeof own_options[0],
    .measures = &rank_measures,
    .model_keys = model_keys,
    .check = check,
    .open = open_lines,
    .add = add_rows,
    .finish = finish,
    .close = close_lines};
