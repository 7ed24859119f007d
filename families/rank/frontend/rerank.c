/* svm-rank-candidates: ranks the candidates of measured features by their MS/MS scores and by the
 * order in which a model of svm-rank-train says that they elute. */
#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/base/text.h"
#include "driver/json.h"
#include "driver/predict.h"
#include "driver/run_files.h"
#include "driver/test_file.h"
#include "families/rank/frontend/candidate_ranking.h"
#include "families/shared/row_names.h"
#include "families/shared/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char PROGRAM[] = "svm-rank-candidates";

/* The weights that are tried where --truth is given and a weight is not. */
static const double ORDER_WEIGHTS[] = {0, 0.125, 0.25, 0.375, 0.5, 0.75, 1};
static const double TIME_WEIGHTS[] = {0, 0.1, 0.2, 0.4};

enum { CANDIDATES, MODEL, TIMES, RESULT }; /* operands */

static const char *const edges[] = {"hinge", "sigmoid", NULL};
static const char *const edge_meanings[] = {"-max(0, f_i - f_j), for i before j",
                                            "-log(1 + exp(f_i - f_j))", NULL};

static const struct option_spec own_options[] = {
    OPTION(
        NUMBER, 'D', "order-weight", "D",
        "weight of the order of elution, for MS/MS scores whose mean standard deviation within a "
        "feature is scaled to 1; a list with --truth, which then chooses. The default is the "
        "middle of what helped on 60 features of a published run",
        LIST, .initial = "0.25", .high = 1e6),
    OPTION(NUMBER, 'E', "time-weight", "E",
           "weight of the measured minutes, where the model maps scores to minutes for the run; a "
           "list with --truth, which then chooses",
           LIST, .initial = "0.2", .high = 1e6),
    OPTION(
        CHOICE, 0, "edges", "NAME",
        "what a pair of candidates adds to the score, times D, f being their scores by the model",
        SINGLE, .initial = "hinge", .choices = edges, .meanings = edge_meanings),
    OPTION(COUNT, 0, "trees", "N",
           "compare the features on N random spanning trees, and average; 0: on the chain by time",
           SINGLE, .initial = "0", .high = 1e6),
    OPTION(
        TEXT, 0, "truth", "FILE",
        "right candidates, lines `feature name` with a tab between: the weights with the largest "
        "mean reciprocal rank of these are used. Standard output gets a table of all weights, "
        "and candidates are only written to a named output_file",
        SINGLE),
    OPTION(COUNT, 0, "best", "K", "write the K best candidates of each feature only", SINGLE,
           .low = 1, .high = 1e15, .absent = "all"),
    OPTION(TEXT, 0, "system", "NAME",
           "the query of the model whose map to minutes is used for runs that are not named after "
           "a query",
           SINGLE),
    OPTION(
        TEXT, 0, "standards", "FILE",
        "with a model of --targets 1: labelled rows of runs (qid) that the model does not know, "
        "from which their scores are mapped to minutes; at least four for each run. Those of one "
        "query are also for runs without a name",
        SINGLE),
    OPTION(TEXT, 0, "json", "FILE",
           "also write the report, and the table of --truth, as an object of JSON in a line",
           SINGLE),
    OPTION(COUNT, 0, "seed", "N", "seed of the trees", SINGLE, .initial = "1", .high = 0x1p53),
    OPTION_THREADS,
    OPTION(FLAG, 'q', "quiet", NULL, "print no report on standard error", SINGLE),
    OPTION(FLAG, 0, "help", NULL, "show this", SINGLE),
    OPTION(FLAG, 0, "version", NULL, "show the version", SINGLE)};

/* The state of a run. */
struct rerank {
    const struct options *options;
    const struct output_sink *sink;
    struct json json; /* output is NULL without --json */
    struct model model;
    struct threads *threads;
    struct targets targets;
    const struct target_map *only; /* that of runs without a name, if --standards has one query */
    struct feature_times times;
    struct right_names right; /* of --truth */
    struct candidate_ranking ranking;
    struct known_features known;
};

/* ---- reading ---- */

static int check_model(const struct rerank *rerank, const char *path, struct error *err) {
    const struct model *model = &rerank->model;
    const char *what = candidate_ranking_refusal(model);
    if (what) {
        return error_set(err, ERROR_RUNTIME, "%s: %s", path, what);
    }
    if (options_given(rerank->options, "standards") && !model_value(model, TARGETS_KEY)) {
        return error_set(err, ERROR_RUNTIME,
                         "--standards is for models that were trained with --targets 1");
    }
    return 0;
}

/* Scores the rows of a block, and stores what is needed of them. */
static int take_block(struct rerank *rerank, struct data *block, struct test_rows *found,
                      struct error *err) {
    size_t n = block->n_rows;
    double *scores = memory_array(n, sizeof *scores, "scores", err);
    model_count_unseen(&rerank->model, block, &found->n_values, &found->n_unknown_values);
    int status = scores && model_take_rows(&rerank->model, block, err) == 0 &&
                         model_scores(&rerank->model, block, scores, rerank->threads, err) == 0
                     ? candidate_ranking_add(&rerank->ranking, block, scores, err)
                     : -1;
    for (size_t i = 0; i < n && status == 0; i++) {
        found->constant_scores &= scores[i] == rerank->ranking.rows.row[0].score;
    }
    free(scores);
    return status;
}

static int read_candidates(struct rerank *rerank, struct error *err) {
    const char *path = rerank->options->operand[CANDIDATES];
    const struct input_format format = {.labels = DATA_NUMBER,
                                        .label_optional = true,
                                        .missing_labels = true,
                                        .precomputed =
                                            rerank->model.kernel.type == KERNEL_PRECOMPUTED,
                                        .remarks = true};
    struct test_rows found = {.constant_scores = true};
    struct input *input;
    struct data block = {0};
    if (input_open(&input, path, &format, rerank->threads, err) < 0) {
        return -1;
    }
    int status;
    while ((status = input_next(input, &block, err)) == 0 && block.n_rows > 0) {
        status = take_block(rerank, &block, &found, err);
        if (status < 0) {
            break;
        }
    }
    data_free(&block);
    input_close(input);
    if (status == 0 && rerank->ranking.rows.n == 0) {
        status = error_set(err, ERROR_RUNTIME, "%s: no rows", path);
    }
    if (status == 0) {
        found.n = rerank->ranking.rows.n;
        found.constant_scores &= found.n > 1;
        predict_warn(rerank->sink, PROGRAM, &rerank->model, path, &found);
    }
    return status;
}

/* ---- features ---- */

/* Stores which of a feature's candidates is the right one, if that is known. */
static void find_right(struct rerank *rerank, uint32_t i) {
    const struct buffered_rows *rows = &rerank->ranking.rows;
    const struct candidate_feature *feature = &rerank->ranking.candidates.feature[i];
    const struct buffered_row *row = rows->row + feature->first;
    char text[DATA_QUERY_TEXT];
    const char *query = data_query_text(&rows->queries, row->query, text);
    uint32_t number = names_find(&rerank->right.features, query, strlen(query));
    if (number == UINT32_MAX) {
        return;
    }
    const char *name = rerank->right.name[number];
    struct known_features *known = &rerank->known;
    size_t right = SIZE_MAX, length = strlen(name);
    for (size_t k = 0; k < feature->n && right == SIZE_MAX; k++) {
        bool same = row[k].comment_length == length &&
                    memcmp(rows->text + row[k].comment, name, length) == 0;
        right = same ? feature->first + k : SIZE_MAX;
    }
    known->feature[known->n] = i;
    known->candidate[known->n++] = right;
}

static int find_known(struct rerank *rerank, struct error *err) {
    size_t n_right = rerank->right.n;
    rerank->known.feature = memory_array(n_right, sizeof(uint32_t), "features", err);
    rerank->known.candidate = memory_array(n_right, sizeof(size_t), "features", err);
    if (!rerank->known.feature || !rerank->known.candidate) {
        return -1;
    }
    for (size_t i = 0; i < rerank->ranking.candidates.n_features; i++) {
        find_right(rerank, (uint32_t)i);
    }
    return 0;
}

static void warn_of_times(const struct rerank *rerank) {
    size_t n_features = rerank->ranking.candidates.n_features, n_timed = rerank->ranking.n_timed;
    size_t absent = rerank->times.features.n - n_timed;
    if (n_timed < n_features) {
        output_sink_line(rerank->sink,
                         "%s: warning: %zu of %zu features have no time: their candidates are "
                         "ranked by MS/MS scores alone",
                         PROGRAM, n_features - n_timed, n_features);
    }
    if (absent > 0) {
        output_sink_line(rerank->sink,
                         "%s: warning: %zu of %zu times are of features without candidates",
                         PROGRAM, absent, rerank->times.features.n);
    }
}

/* Groups the rows by feature, and sets the terms of the times. */
static int make_features(struct rerank *rerank, struct error *err) {
    const struct options *options = rerank->options;
    struct candidate_ranking *ranking = &rerank->ranking;
    if (candidate_ranking_group(ranking, &rerank->times, err) < 0) {
        return -1;
    }
    if (ranking->n_timed == 0) {
        return error_set(err, ERROR_RUNTIME, "%s: no feature of the candidates (qid) has a time",
                         options->operand[TIMES]);
    }
    warn_of_times(rerank);
    if (find_known(rerank, err) < 0 ||
        candidate_ranking_set_terms(ranking, &rerank->times.runs, &rerank->targets, rerank->only,
                                    options, err) < 0) {
        return -1;
    }
    if (options_given(options, "standards") && ranking->n_terms < ranking->n_timed) {
        output_sink_line(rerank->sink,
                         "%s: warning: the times of %zu of %zu features are not compared with "
                         "minutes: their run has no standards of its name (qid; see --system), or "
                         "fewer than four",
                         PROGRAM, ranking->n_timed - ranking->n_terms, ranking->n_timed);
    }
    return 0;
}

/* ---- weights ---- */

/* The values of a weight: those of the option or, for --truth, the usual ones. */
struct weights {
    const double *value;
    size_t n;
};

static struct weights list_weights(const struct options *options, const char *name,
                                   const double *usual, size_t n_usual) {
    const struct option *option = options_find(options, name);
    return options_given(options, "truth") && !option->given
               ? (struct weights){usual, n_usual}
               : (struct weights){option->number, option->n};
}

static struct weights order_weights(const struct options *options) {
    return list_weights(options, "order-weight", ORDER_WEIGHTS,
                        sizeof ORDER_WEIGHTS / sizeof ORDER_WEIGHTS[0]);
}

/* Without a term of the time its weight has no effect, and is 0. */
static struct weights time_weights(const struct rerank *rerank) {
    static const double none[] = {0};
    return rerank->ranking.n_terms == 0
               ? (struct weights){none, 1}
               : list_weights(rerank->options, "time-weight", TIME_WEIGHTS,
                              sizeof TIME_WEIGHTS / sizeof TIME_WEIGHTS[0]);
}

/* Sets score to the max-marginals for two weights. */
static int infer(struct rerank *rerank, const double weight[2], struct error *err) {
    return candidate_ranking_infer(&rerank->ranking, rerank->options, weight[0], weight[1],
                                   rerank->threads, err);
}

/* ---- --truth ---- */

/* Weights, and the reciprocal ranks of the right candidates with them. */
struct grid {
    double (*point)[2]; /* (n) order and time weight, 0 and 0 first */
    double *reciprocal; /* (n, known.n) row-major */
    double *left_out;   /* (known.n) see candidates_choose */
    size_t n;
};

static int create_grid(struct grid *grid, const struct rerank *rerank, struct error *err) {
    struct weights order = order_weights(rerank->options), time = time_weights(rerank);
    size_t n = 1 + order.n * time.n, n_known = rerank->known.n;
    grid->point = memory_array(n, sizeof *grid->point, "weights", err);
    grid->reciprocal = memory_array(n, (n_known + 1) * sizeof(double), "ranks", err);
    grid->left_out = memory_array(n_known, sizeof(double), "ranks", err);
    if (!grid->point || !grid->reciprocal || !grid->left_out) {
        return -1;
    }
    grid->point[0][0] = grid->point[0][1] = 0;
    grid->n = 1;
    for (size_t i = 0; i < order.n; i++) {
        for (size_t j = 0; j < time.n; j++) {
            if (order.value[i] != 0 || time.value[j] != 0) {
                grid->point[grid->n][0] = order.value[i];
                grid->point[grid->n++][1] = time.value[j];
            }
        }
    }
    return 0;
}

static void free_grid(struct grid *grid) {
    free(grid->point);
    free(grid->reciprocal);
    free(grid->left_out);
}

static const char table_columns[] =
    "order-weight\ttime-weight\tfeatures\ttop-1\ttop-5\ttop-10\ttop-20\tmrr\n";

static int write_row(struct rerank *rerank, struct output *output, const double point[2],
                     const double *reciprocal, size_t n, struct error *err) {
    struct text row = {0};
    const struct candidate_measures measures = candidates_measure(reciprocal, n);
    const double number[] = {point[0],        point[1],        (double)n,       measures.top[0],
                             measures.top[1], measures.top[2], measures.top[3], measures.mrr};
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
        char decimal[NUMBER_LENGTH];
        number_format(number[i], decimal);
        text_format(&row, "%s%s", i > 0 ? "\t" : "", decimal);
    }
    char *line = text_end(&row, "a row", err);
    if (!line) {
        return -1;
    }
    output_format(output, "%s\n", line);
    json_row(&rerank->json, table_columns, line, strlen(line));
    free(line);
    return output_flush(output, err);
}

/* Reports the right candidates that are missing, and what features get with weights that are chosen
 * without them. */
static void report_truth(struct rerank *rerank, const struct grid *grid) {
    size_t n = rerank->known.n, missing = 0;
    const struct candidate_measures measures = candidates_measure(grid->left_out, n);
    for (size_t t = 0; t < n; t++) {
        missing += rerank->known.candidate[t] == SIZE_MAX;
    }
    if (missing > 0) {
        output_sink_line(rerank->sink,
                         "%s: warning: %zu of %zu right candidates are not in the file of "
                         "candidates, and count as missed",
                         PROGRAM, missing, n);
    }
    if (rerank->right.n > n) {
        output_sink_line(rerank->sink,
                         "%s: warning: %zu of %zu features of --truth have no candidates", PROGRAM,
                         rerank->right.n - n, rerank->right.n);
    }
    json_open(&rerank->json, "leave-one-feature-out", '{');
    json_number(&rerank->json, "top-1", measures.top[0]);
    json_number(&rerank->json, "mrr", measures.mrr);
    json_close(&rerank->json, '}');
    if (!options_given(rerank->options, "quiet")) {
        output_sink_write(rerank->sink, "leave-one-feature-out: top-1 = %g, mrr = %g\n",
                          measures.top[0], measures.mrr);
    }
}

/* Writes the table of all weights; chosen gets the best. */
static int try_weights(struct rerank *rerank, struct grid *grid, struct output *output,
                       double chosen[2], struct error *err) {
    size_t n = rerank->known.n;
    if (n == 0) {
        return error_set(err, ERROR_RUNTIME, "%s: none of its features has candidates",
                         options_text(rerank->options, "truth"));
    }
    if (create_grid(grid, rerank, err) < 0) {
        return -1;
    }
    output_text(output, table_columns);
    json_open(&rerank->json, "points", '[');
    for (size_t p = 0; p < grid->n; p++) {
        double *reciprocal = grid->reciprocal + p * n;
        if (infer(rerank, grid->point[p], err) < 0) {
            return -1;
        }
        candidates_reciprocal_ranks(&rerank->ranking.candidates, &rerank->known,
                                    rerank->ranking.score, reciprocal);
        if (write_row(rerank, output, grid->point[p], reciprocal, n, err) < 0) {
            return -1;
        }
    }
    json_close(&rerank->json, ']');
    size_t best = candidates_choose(grid->reciprocal, grid->n, n, grid->left_out);
    memcpy(chosen, grid->point[best], sizeof grid->point[best]);
    return 0;
}

/* ---- output ---- */

static void write_score(struct output *output, double score) {
    if (isfinite(score)) {
        output_number(output, score);
    } else {
        output_text(output, isnan(score) ? "nan" : "-inf");
    }
    output_text(output, "\t");
}

/* Writes the candidates in the order of the file; best (n): false: left out; NULL: all. */
static int write_candidates(const struct candidate_ranking *ranking, const bool *best,
                            struct output *output, struct error *err) {
    const struct buffered_rows *rows = &ranking->rows;
    output_text(output, "feature\tcandidate\tms-score\torder-score\tscore\trank\n");
    for (size_t i = 0; i < rows->n; i++) {
        size_t k = ranking->candidate[i];
        const struct buffered_row *row = &rows->row[k];
        char text[DATA_QUERY_TEXT];
        if (best && !best[k]) {
            continue;
        }
        const char *name = row->comment_length > 0 ? rows->text + row->comment : "";
        output_format(output, "%s\t", data_query_text(&rows->queries, row->query, text));
        row_name_write((struct row_name){name, row->comment_length}, i, output);
        output_text(output, "\t");
        write_score(output, ranking->ms[k]);
        write_score(output, ranking->f[k]);
        write_score(output, ranking->score[k]);
        output_number(output, ranking->rank[k]);
        output_text(output, "\n");
    }
    return output_flush(output, err);
}

static int rank_and_write(struct rerank *rerank, struct output *output, struct error *err) {
    const struct options *options = rerank->options;
    struct candidate_ranking *ranking = &rerank->ranking;
    bool *best = NULL;
    size_t n_best = (size_t)options_number(options, "best");
    if (options_given(options, "best")) {
        best = memory_array(ranking->candidates.n, sizeof *best, "ranks", err);
        if (!best) {
            return -1;
        }
    }
    int status =
        candidates_ranks(&ranking->candidates, ranking->score, ranking->rank, n_best, best, err);
    status = status < 0 ? -1 : write_candidates(ranking, best, output, err);
    free(best);
    return status;
}

static int report(struct rerank *rerank, const double chosen[2], struct error *err) {
    struct text text = {0};
    text_format(&text,
                "candidates = %zu\nfeatures = %zu\nfeatures-with-map = %zu\norder-weight = %g\n"
                "time-weight = %g\n",
                rerank->ranking.candidates.n, rerank->ranking.candidates.n_features,
                rerank->ranking.n_terms, chosen[0], chosen[1]);
    char *lines = text_end(&text, "a report", err);
    if (!lines) {
        return -1;
    }
    if (!options_given(rerank->options, "quiet")) {
        output_sink_write(rerank->sink, "%s", lines);
    }
    json_report(&rerank->json, lines);
    free(lines);
    return 0;
}

/* ---- the run ---- */

/* Refuses options and file names before any file is opened. */
static int check(const struct options *options, struct error *err) {
    bool truth = options_given(options, "truth");
    const struct refusal refusals[] = {
        {options->n_operands < 3, "a file of candidates, a model and a file of times are wanted"},
        {options->n_operands > 4, "too many file names"},
        {!truth && options_find(options, "order-weight")->n > 1,
         "a list of --order-weight wants --truth"},
        {!truth && options_find(options, "time-weight")->n > 1,
         "a list of --time-weight wants --truth"},
        {truth && options_given(options, "best") && options->n_operands < 4,
         "--best with --truth wants an output_file"},
        {0}};
    if (options_refuse(refusals, err) < 0) {
        return -1;
    }
    const char *result = options->n_operands > RESULT ? options->operand[RESULT] : NULL;
    struct run_files files = {0};
    int status = 0;
    for (size_t i = 0; i < RESULT && status == 0; i++) {
        status = run_files_read(&files, options->operand[i], err);
    }
    if (status == 0 && (run_files_read(&files, options_text(options, "truth"), err) < 0 ||
                        run_files_read(&files, options_text(options, "standards"), err) < 0 ||
                        run_files_write(&files, truth || !result ? "-" : NULL, err) < 0 ||
                        run_files_write(&files, result, err) < 0 ||
                        run_files_write(&files, options_text(options, "json"), err) < 0 ||
                        run_files_check(&files, err) < 0)) {
        status = -1;
    }
    run_files_free(&files);
    return status;
}

/* Reads all files; the small ones first, since reading and scoring candidates may take long. */
static int read_files(struct rerank *rerank, struct error *err) {
    const struct options *options = rerank->options;
    const char *truth = options_text(options, "truth");
    const char *standards = options_text(options, "standards");
    size_t n_threads = (size_t)options_number(options, "threads");
    if (feature_times_read(&rerank->times, options->operand[TIMES], err) < 0 ||
        (truth && right_names_read(&rerank->right, truth, err) < 0) ||
        model_read(&rerank->model, rank_predictor.name, rank_predictor.model_keys, false,
                   options->operand[MODEL], err) < 0 ||
        check_model(rerank, options->operand[MODEL], err) < 0 ||
        (model_scores_by_blas(&rerank->model) ? threads_create_for_blas : threads_create)(
            &rerank->threads, n_threads, err) < 0 ||
        targets_read(&rerank->targets, &rerank->model, err) < 0 ||
        (standards &&
         targets_add_file(&rerank->targets, standards, &rerank->model, &rerank->only, err) < 0)) {
        return -1;
    }
    return read_candidates(rerank, err);
}

/* Fills the outputs; table: of --truth, file: of the candidates, NULL: not wanted. */
static int compute(struct rerank *rerank, struct output *table, struct output *file,
                   struct error *err) {
    const struct options *options = rerank->options;
    double chosen[2] = {options_find(options, "order-weight")->number[0],
                        options_find(options, "time-weight")->number[0]};
    if (read_files(rerank, err) < 0 || make_features(rerank, err) < 0) {
        return -1;
    }
    chosen[1] = rerank->ranking.n_terms > 0 ? chosen[1] : 0;
    struct grid grid = {0};
    int status = table ? try_weights(rerank, &grid, table, chosen, err) : 0;
    status = status < 0 ? -1 : report(rerank, chosen, err);
    if (status == 0 && table) {
        report_truth(rerank, &grid);
    }
    free_grid(&grid);
    return status < 0                       ? -1
           : !file                          ? 0
           : infer(rerank, chosen, err) < 0 ? -1
                                            : rank_and_write(rerank, file, err);
}

static void free_rerank(struct rerank *rerank) {
    candidate_ranking_free(&rerank->ranking);
    free(rerank->known.feature);
    free(rerank->known.candidate);
    feature_times_free(&rerank->times);
    right_names_free(&rerank->right);
    targets_free(&rerank->targets);
    model_free(&rerank->model);
    threads_free(rerank->threads);
}

static int run(const struct program *program, const struct options *options,
               const struct output_sink *sink, const struct output_hold *hold, int *code,
               struct error *err) {
    struct rerank rerank = {.options = options, .sink = sink};
    struct output *output[3] = {NULL}; /* of the candidates, of the table, and of --json */
    const char *json = options_text(options, "json");
    bool truth = options_given(options, "truth");
    const char *result = options->n_operands > RESULT ? options->operand[RESULT] : NULL;
    (void)program;
    (void)code;
    if (check(options, err) < 0) {
        return -1;
    }
    int status = result || !truth ? output_open(&output[0], result ? result : "-", err) : 0;
    if (status == 0 && truth) {
        status = output_open(&output[1], "-", err);
    }
    if (status == 0 && json) {
        status = output_open(&output[2], json, err);
    }
    rerank.json.output = output[2];
    json_begin_run(&rerank.json, PROGRAM, options, options->operand, options->n_operands);
    status = status < 0 ? -1 : compute(&rerank, output[1], output[0], err);
    json_end_run(&rerank.json);
    status = output_end_all(output, 3, status, hold, err);
    free_rerank(&rerank);
    return status;
}

const struct program rank_candidates = {
    .name = PROGRAM,
    .operands = "candidates_file model_file times_file [output_file]",
    .summary =
        "Ranks the candidate structures of measured features by their MS/MS scores (the "
        "labels of candidates_file) and by the order in which a model of svm-rank-train says "
        "that they elute. times_file: lines `feature minutes [run]` with tabs between; "
        "features are the queries (qid) of candidates_file.",
    .example = "--best 10 candidates.svm model times.tsv best.tsv",
    TABLE(options, own_options),
    .run = run};
