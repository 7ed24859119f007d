/* svm-rank-predict: writes scores, orders or pairs, with a model of svm-rank-train. */
#include "common/base/order.h"
#include "families/shared/tables.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/number.h"
#include "families/rank/frontend/buffered_rows.h"
#include "families/rank/frontend/probability.h"
#include "families/rank/frontend/targets.h"
#include "families/shared/row_names.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEST_FIRST = 2 }; /* the value of --order best-first */

static const struct option_spec own_options[] = {
    OPTION(FLAG, 0, "order", "[best-first]",
           "write for each query a line `qid:Q` with the numbers of its rows (1 is the first of "
           "the file), lowest score first, or with best-first highest score first; without queries "
           "the row numbers only",
           SINGLE, .word = "best-first", .word_value = BEST_FIRST),
    OPTION(
        FLAG, 0, "pairs", NULL,
        "write for any two rows i < j of a query a line `i j margin`, positive if i has the larger "
        "score; with a model of -b 1 a fourth field is the probability that i has the larger label",
        SINGLE),
    OPTION(FLAG, 0, "names", NULL,
           "write the names of rows after their scores, or with --order and --pairs in place of "
           "their numbers, separated by tabs. A row's name is its comment, or X if that begins "
           "with `docid = X`, or its number if it has no comment",
           SINGLE),
    OPTION_HEADER,
    OPTION(COUNT, 0, "digits", "N", "write numbers with N significant digits", SINGLE, .low = 1,
           .high = 17, .absent = "as many as identify the number"),
    OPTION(TEXT, 0, "trec", "FILE",
           "also write a run for trec_eval: for each row a line `qid Q0 docid rank score dualsvm`, "
           "with the first word of the row's name as docid",
           SINGLE),
    OPTION(TEXT, 0, "qrels", "FILE",
           "also write the labels for trec_eval: for each row with a label, which must be a whole "
           "number, a line `qid 0 docid label`, with docid as in --trec",
           SINGLE),
    OPTION(
        TEXT, 0, "standards", "FILE",
        "with a model of --targets 1: labelled rows of queries that the model does not know, from "
        "which the scores of these queries are mapped to labels, or of known ones, whose maps they "
        "replace; at least four for each query, of fewer the mean is predicted. The map of a "
        "single query is also that of a test "
        "file without qids",
        SINGLE)};

static bool wants_comments(const struct options *options) {
    return row_names_wanted(options) || options_given(options, "trec") ||
           options_given(options, "qrels");
}

enum { TREC, QRELS };
static const char *const extra_options[] = {[TREC] = "trec", [QRELS] = "qrels", NULL};

static const char *const model_keys[] = {"groups",
                                         "pairs",
                                         "cost-per",
                                         "gain",
                                         "pair-features",
                                         "probability-slope",
                                         "max-sv",
                                         TARGETS_KEY,
                                         TARGETS_FEW_KEY,
                                         TARGETS_WIDTHS_KEY,
                                         NULL};

/* ---- checks ---- */

/* A model of pair features has no scores of rows. */
static int check(const struct options *options, const struct model *model, struct error *err) {
    bool pairs = options_given(options, "pairs"), order = options_given(options, "order");
    if (pairs && order) {
        return error_set(err, ERROR_USAGE, "--order and --pairs exclude each other");
    }
    if (order && (options_given(options, "header") || options_given(options, "digits"))) {
        return error_set(err, ERROR_USAGE, "--order has no columns for --header and --digits");
    }
    if (model->n_outputs > 1) {
        return error_set(err, ERROR_RUNTIME, "the model has %zu scores for a row: one is expected",
                         model->n_outputs);
    }
    if (model->n_outputs == 0 && options_given(options, "trec")) {
        return error_set(err, ERROR_RUNTIME,
                         "the model has pair features, and no scores for --trec");
    }
    if (options_given(options, "standards") && !model_value(model, TARGETS_KEY)) {
        return error_set(err, ERROR_RUNTIME,
                         "--standards is for models that were trained with --targets 1");
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

/* ---- lines of predictions ---- */

enum kind { SCORES, ORDER, PAIRS };

struct lines {
    enum kind kind;
    struct row_names names;
    int digits;       /* --digits; 0: as many as identify the number */
    bool best_first;  /* --order best-first */
    bool stores_rows; /* rows are stored until the end of the file */
    size_t n_scores;  /* scores for each row */
    bool calibrated;
    double slope;
    struct buffered_rows rows; /* stored rows, if stores_rows */
    double *scores;            /* (n_rows, n_scores) stored for pairs */
    bool has_maps;             /* the model maps scores to labels */
    struct targets targets;
    const struct target_map *only; /* that of rows without qids, if --standards has one query */
    const struct target_map *map;  /* that of the last row's query */
    uint64_t mapped;               /* that query; undefined before the first row */
    size_t n_unmapped;             /* rows without a map to labels */
    size_t n_unbounded;            /* rows whose interval is unbounded */
    char unmapped[64];             /* the query of the first */
    struct output *output;         /* for the visits of stored rows */
    size_t extra;                  /* the same, of extra_options */
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
    lines->names = row_names_open(options);
    lines->digits = options_given(options, "digits") ? (int)options_number(options, "digits") : 0;
    lines->best_first = options_number(options, "order") == BEST_FIRST;
    lines->stores_rows =
        lines->kind != SCORES || options_given(options, "trec") || options_given(options, "qrels");
    lines->n_scores = model_n_scores(model);
    lines->calibrated = model_value(model, "probability-slope") != NULL;
    lines->has_maps = model_value(model, TARGETS_KEY) != NULL;
    if (model_number(model, "probability-slope", 0, &lines->slope, err) < 0 ||
        targets_read(&lines->targets, model, err) < 0) {
        return -1;
    }
    return options_given(options, "standards")
               ? targets_add_file(&lines->targets, options_text(options, "standards"), model,
                                  &lines->only, err)
               : 0;
}

static void close_lines(void *state) {
    struct lines *lines = state;
    buffered_rows_free(&lines->rows);
    targets_free(&lines->targets);
    free(lines->scores);
    free(lines);
}

static int store_rows(struct lines *lines, const struct data *rows, const double *scores,
                      struct error *err) {
    size_t before = lines->rows.n, n_scores = lines->n_scores, room = memory_room(0, before);
    if (buffered_rows_add(&lines->rows, rows, n_scores == 1 ? scores : NULL, err) < 0) {
        return -1;
    }
    if (lines->kind != PAIRS ||
        n_scores == 0) { /* a model of no pairs has no scores, and no array */
        return 0;
    }
    if (memory_grow(&lines->scores, room, lines->rows.n, n_scores * sizeof *lines->scores,
                    "predictions", err) < 0) {
        return -1;
    }
    if (rows->n_rows > 0) {
        memcpy(lines->scores + before * n_scores, scores, rows->n_rows * n_scores * sizeof *scores);
    }
    return 0;
}

/* Finds the map of a row's query; NULL: there is none. Most rows have the query of the row
 * before. */
static const struct target_map *find_map(struct lines *lines, const struct data *rows, size_t i) {
    char text[DATA_QUERY_TEXT];
    uint64_t query = rows->query ? rows->query[i] : 0;
    if (lines->names.n == 0 || query != lines->mapped) {
        const char *name = data_query_text(&rows->queries, query, text);
        bool lacks_query = !rows->query;
        lines->map = lacks_query && lines->only ? lines->only : targets_find(&lines->targets, name);
        lines->mapped = query;
        if (!lines->map && lines->n_unmapped == 0) {
            snprintf(lines->unmapped, sizeof lines->unmapped, "%s%.40s",
                     lacks_query ? "without qid" : "of query ", lacks_query ? "" : name);
        }
    }
    lines->n_unmapped += !lines->map;
    return lines->map;
}

static void write_number(const struct lines *lines, double number, struct output *output) {
    if (!isfinite(number)) {
        output_text(output, isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
    } else if (lines->digits > 0) {
        char text[NUMBER_LENGTH];
        snprintf(text, sizeof text, "%.*g", lines->digits, number);
        output_write(output, text, number_point(text));
    } else {
        output_number(output, number);
    }
}

static void write_field(const struct lines *lines, double number, struct output *output) {
    output_text(output, "\t");
    write_number(lines, number, output);
}

static void write_score(struct lines *lines, const struct data *rows, size_t i, double score,
                        struct output *output) {
    write_number(lines, score, output);
    if (lines->has_maps) {
        const struct target_map *map = find_map(lines, rows, i);
        double value = map ? target_map_value(map, score) : (double)NAN;
        double width = map ? target_map_width(map, score) : (double)NAN;
        write_field(lines, value, output);
        write_field(lines, map ? fmax(value - width, lines->targets.lowest) : value, output);
        write_field(lines, value + width, output);
        lines->n_unbounded += isinf(width) ? 1 : 0;
    }
    row_names_end_line(&lines->names, rows, i, output);
}

/* Writes the names of the columns, before the first row. */
static void write_header(const struct lines *lines, struct output *output) {
    if (lines->kind == PAIRS) {
        const char *separator = lines->names.separator;
        output_format(output, "first%ssecond%smargin", separator, separator);
        if (lines->calibrated) {
            output_format(output, "%sprobability", separator);
        }
    } else {
        output_format(output, "score%s%s", lines->has_maps ? "\tvalue\tlow\thigh" : "",
                      lines->names.wanted ? "\tname" : "");
    }
    output_text(output, "\n");
}

static int add_rows(void *state, const struct data *rows, const double *scores,
                    struct output *output, struct error *err) {
    struct lines *lines = state;
    if (lines->stores_rows && store_rows(lines, rows, scores, err) < 0) {
        return -1;
    }
    if (output && lines->names.header) {
        write_header(lines, output);
        lines->names.header = false;
    }
    for (size_t i = 0; output && lines->kind == SCORES && i < rows->n_rows; i++) {
        write_score(lines, rows, i, scores[i], output);
    }
    return 0;
}

static struct row_name name_of(const struct lines *lines, const struct buffered_row *row,
                               bool first_word) {
    const char *comment = row->comment_length > 0 ? lines->rows.text + row->comment : "";
    return row_name_in(comment, row->comment_length, first_word);
}

/* Writes the row's name or number. */
static void write_row(const struct lines *lines, const struct buffered_row *row,
                      struct output *output) {
    static const struct row_name no_name = {"", 0};
    row_name_write(lines->names.wanted ? name_of(lines, row, false) : no_name, row->number, output);
}

static int compare_scores(const void *a, const void *b) {
    const struct buffered_row *x = a, *y = b;
    int order = order_doubles(x->score, y->score);
    return order ? order : order_integers(x->number, y->number);
}

/* Equal scores are in the order of the file here, too. */
static int compare_best_first(const void *a, const void *b) {
    const struct buffered_row *x = a, *y = b;
    return x->score == y->score ? compare_scores(a, b) : compare_scores(b, a);
}

static int write_order(void *state, struct buffered_row *row, size_t n, struct error *err) {
    const struct lines *lines = state;
    struct output *output = lines->output;
    const char *separator = lines->names.separator;
    char text[DATA_QUERY_TEXT];
    (void)err;
    qsort(row, n, sizeof *row, lines->best_first ? compare_best_first : compare_scores);
    if (lines->rows.has_queries) {
        output_format(output, "qid:%s%s", data_query_text(&lines->rows.queries, row[0].query, text),
                      separator);
    }
    for (size_t i = 0; i < n; i++) {
        write_row(lines, &row[i], output);
        output_format(output, "%s", i + 1 < n ? separator : "\n");
    }
    return 0;
}

static int write_pairs(void *state, struct buffered_row *row, size_t n, struct error *err) {
    const struct lines *lines = state;
    struct output *output = lines->output;
    const char *separator = lines->names.separator;
    size_t n_scores = lines->n_scores;
    for (size_t i = 0; i < n; i++) {
        const double *scores_i = lines->scores + row[i].number * n_scores;
        for (size_t j = i + 1; j < n; j++) {
            const double *scores_j = lines->scores + row[j].number * n_scores;
            double margin =
                n_scores == 1 ? *scores_i - *scores_j : model_margin(scores_i, scores_j, n_scores);
            write_row(lines, &row[i], output);
            output_write(output, separator, 1);
            write_row(lines, &row[j], output);
            output_write(output, separator, 1);
            write_number(lines, margin, output);
            if (lines->calibrated) {
                output_write(output, separator, 1);
                write_number(lines, sigmoid_probability(lines->slope, margin), output);
            }
            output_write(output, "\n", 1);
        }
        if (output_flush(output, err) < 0) {
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
    lines->output = output;
    return buffered_rows_visit(&lines->rows, lines->kind == ORDER ? write_order : write_pairs,
                               lines, err);
}

/* What the user may not expect: rows whose scores have no map to labels, or unbounded intervals. */
static void warn(const void *state, char *text, size_t size) {
    const struct lines *lines = state;
    if (lines->n_unmapped > 0) {
        snprintf(
            text, size,
            "%zu of %zu rows have no map from scores to labels, the first %s: --standards FILE "
            "with labelled rows of the query makes one",
            lines->n_unmapped, lines->names.n, lines->unmapped);
    } else if (lines->n_unbounded > 0) {
        snprintf(text, size,
                 "the intervals of %zu of %zu rows are unbounded: too few labelled rows of their "
                 "query tell how they scatter",
                 lines->n_unbounded, lines->names.n);
    }
}

/* ---- files of TREC ---- */

/* A row of a run or of judgements. */
struct ranked {
    size_t row;   /* in the file, from 0 */
    double label; /* NaN: none */
    double score;
    struct row_name name; /* the row's name, or its number as text */
};

/* The order of trec_eval: descending score, then descending name. */
static int compare_ranked(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    size_t shorter = x->name.length < y->name.length ? x->name.length : y->name.length;
    int order = memcmp(y->name.text, x->name.text, shorter);
    return order ? order : (x->name.length < y->name.length) - (x->name.length > y->name.length);
}

static int compare_names(const void *a, const void *b) {
    struct ranked x = *(const struct ranked *)a, y = *(const struct ranked *)b;
    x.score = y.score = 0;
    return compare_ranked(&x, &y);
}

/* -1 if two rows of a query have the same name. */
static int check_names(struct ranked *ranked, size_t n, const char *option, const char *query,
                       struct error *err) {
    qsort(ranked, n, sizeof *ranked, compare_names);
    for (size_t i = 1; i < n; i++) {
        if (compare_names(&ranked[i], &ranked[i - 1]) == 0) {
            return error_set(err, ERROR_RUNTIME,
                             "--%s: query %.100s has two rows named '%.*s': the first word of a "
                             "row's comment is its name",
                             option, query,
                             (int)(ranked[i].name.length < 100 ? ranked[i].name.length : 100),
                             ranked[i].name.text);
        }
    }
    return 0;
}

static void write_run(struct ranked *ranked, size_t n, const char *query, struct output *output) {
    qsort(ranked, n, sizeof *ranked, compare_ranked);
    for (size_t i = 0; i < n; i++) {
        output_format(output, "%s Q0 %.*s %zu ", query, (int)ranked[i].name.length,
                      ranked[i].name.text, i + 1);
        output_number(output, ranked[i].score);
        output_format(output, " dualsvm\n");
    }
}

static int compare_rows(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

/* Rows without label are not judged, and have no line. */
static int write_judgements(struct ranked *ranked, size_t n, const char *query,
                            struct output *output, struct error *err) {
    qsort(ranked, n, sizeof *ranked, compare_rows);
    for (size_t i = 0; i < n; i++) {
        if (isnan(ranked[i].label)) {
            continue;
        }
        if (ranked[i].label != floor(ranked[i].label) || fabs(ranked[i].label) > INT_MAX) {
            return error_set(err, ERROR_RUNTIME,
                             "--qrels: row %zu: a whole number is expected as label, not %g",
                             ranked[i].row + 1, ranked[i].label);
        }
        output_format(output, "%s 0 %.*s %d\n", query, (int)ranked[i].name.length,
                      ranked[i].name.text, (int)ranked[i].label);
    }
    return 0;
}

static int write_query(void *state, struct buffered_row *row, size_t n, struct error *err) {
    const struct lines *lines = state;
    struct output *output = lines->output;
    const char *option = extra_options[lines->extra];
    char text[DATA_QUERY_TEXT];
    const char *query = data_query_text(&lines->rows.queries, row[0].query, text);
    struct ranked *ranked;
    char *numbers;
    void *block = ARRAYS_CREATE("a run", err, ARRAYS(n, struct ranked, &ranked),
                                ARRAYS(n * NUMBER_LENGTH, char, &numbers));
    if (!block) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        ranked[i] = (struct ranked){row[i].number, row[i].label, row[i].score,
                                    name_of(lines, &row[i], true)};
        if (ranked[i].name.length == 0) {
            char *number = numbers + i * NUMBER_LENGTH;
            int length = snprintf(number, NUMBER_LENGTH, "%zu", row[i].number + 1);
            ranked[i].name = (struct row_name){number, (size_t)length};
        }
    }
    int status = check_names(ranked, n, option, query, err);
    if (status == 0 && lines->extra == QRELS) {
        status = write_judgements(ranked, n, query, output, err);
    } else if (status == 0) {
        write_run(ranked, n, query, output);
    }
    free(block);
    return status < 0 ? -1 : output_flush(output, err);
}

static int write_trec(void *state, size_t option, struct output *output, struct error *err) {
    struct lines *lines = state;
    lines->output = output;
    lines->extra = option;
    return buffered_rows_visit(&lines->rows, write_query, lines, err);
}

const struct predictor rank_predictor = {
    .name = "rank",
    .summary = "Scores the rows of test_file, one a line, by a model of svm-rank-train.",
    .labels = DATA_NUMBER,
    TABLE(options, own_options),
    .measures = &rank_measures,
    .model_keys = model_keys,
    .check = check,
    .open = open_lines,
    .add = add_rows,
    .finish = finish,
    .warn = warn,
    .extra_options = extra_options,
    .input_option = "standards",
    .write_extra = write_trec,
    .wants_comments = wants_comments,
    .close = close_lines};
