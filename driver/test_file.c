/* Reads, scores and passes on blocks of rows; a block is split so that its scores stay small. */
#include "driver/test_file.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    SCORES = 1 << 19, /* maximum number of scores of a block, unless a row alone has more */
    VALUES = 1 << 22  /* approximate number of feature values per block of rows in memory */
};

/* The state of a prediction. */
struct work {
    const struct test_file *test;
    struct input *input; /* NULL: the rows are in memory */
    size_t n_taken;      /* number of rows in memory that have been scored */
    struct data whole;   /* all rows of the file, if means of queries need them; otherwise empty */
    /* scaling by query: the rows that are read next, those of the last query, which may be
     * incomplete, and the names of all queries of scored rows */
    struct data next, last;
    struct names queries;
    struct data block;
    double *scores; /* (rows of the block, n_scores), allocated for n_room numbers */
    size_t n_room;
    double *first_scores; /* (n_scores) of the file's first row; NULL before it */
    struct test_rows rows;
    void *lines;    /* state of the predictor; NULL without output */
    void *measures; /* state of the measures; NULL: not wanted */
};

static void close_work(struct work *work) {
    const struct predictor *predictor = work->test->predictor;
    if (work->lines) {
        predictor->close(work->lines);
    }
    if (work->measures) {
        predictor->measures->free(work->measures);
    }
    input_close(work->input);
    data_free(&work->block);
    data_free(&work->whole);
    data_free(&work->next);
    data_free(&work->last);
    names_free(&work->queries);
    free(work->scores);
    free(work->first_scores);
}

static bool wants_extra(const struct test_file *test) {
    bool wanted = false;
    for (size_t k = 0; test->extra && k < PREDICTOR_EXTRAS; k++) {
        wanted |= test->extra[k] != NULL;
    }
    return wanted;
}

static int open_work(struct work *work, struct error *err) {
    const struct test_file *test = work->test;
    const struct predictor *predictor = test->predictor;
    const struct input_format format = {
        .labels = predictor->labels,
        .label_optional = true,
        .precomputed = test->model->kernel.type == KERNEL_PRECOMPUTED,
        .remarks = predictor->wants_comments && predictor->wants_comments(test->options),
        .find_limit = predictor->limit,
        .context = test->model};
    if ((test->output || test->take || wants_extra(test)) &&
        predictor->open(&work->lines, test->options, test->model, err) < 0) {
        return -1;
    }
    if (test->measure &&
        predictor->measures->create(&work->measures, test->options, test->model, err) < 0) {
        return -1;
    }
    if (test->rows) {
        return 0;
    }
    return test->model->scale.query_means > 0
               ? input_read(&work->whole, test->path, &format, test->threads, err)
               : input_open(&work->input, test->path, &format, test->threads, err);
}

/* Fails if a query of the block has rows in an earlier one. */
static int check_queries(struct work *work, struct error *err) {
    const struct data *block = &work->block;
    char text[DATA_QUERY_TEXT];
    for (size_t i = 0; block->query && i < block->n_rows; i++) {
        const char *query = data_query_text(&block->queries, block->query[i], text);
        size_t known = work->queries.n;
        uint32_t number;
        if (i > 0 && block->query[i] == block->query[i - 1]) {
            continue;
        }
        if (names_add(&work->queries, query, strlen(query), &number, err) < 0) {
            return -1;
        }
        if (number < known) {
            return error_set(err, ERROR_RUNTIME,
                             "%s: row %zu: more rows of query %.100s: scaling by query wants the "
                             "rows of a query one after another",
                             work->test->path, work->rows.n + i + 1, query);
        }
    }
    return 0;
}

/* The number of rows before those of the last query. */
static size_t complete_rows(const struct data *rows) {
    size_t n = rows->n_rows;
    while (n > 0 && rows->query[n - 1] == rows->query[rows->n_rows - 1]) {
        n--;
    }
    return n;
}

/* Replaces the block by the next complete queries; rows without queries are passed on. */
static int next_queries(struct work *work, struct error *err) {
    struct data *block = &work->block;
    size_t n = 0;
    data_free(block);
    *block = work->last;
    work->last = (struct data){0};
    while (n == 0) {
        if (input_next(work->input, &work->next, err) < 0) {
            return -1;
        }
        if (work->next.n_rows == 0) {
            return 0;
        }
        if (data_append(block, &work->next, err) < 0) {
            return -1;
        }
        n = block->query ? complete_rows(block) : block->n_rows;
    }
    struct data last = data_view(block, n, block->n_rows - n);
    if (last.n_rows > 0 && data_append(&work->last, &last, err) < 0) {
        return -1;
    }
    block->n_rows = n;
    return 0;
}

/* Replaces the block by the next rows; it is empty at the end. */
static int next_block(struct work *work, struct error *err) {
    const struct data *rows = work->test->rows ? work->test->rows : &work->whole;
    if (work->input && work->test->predictor->labels == DATA_NUMBER &&
        scale_by_query(&work->test->model->scale)) {
        return next_queries(work, err) < 0 ? -1 : check_queries(work, err);
    }
    if (work->input) {
        return input_next(work->input, &work->block, err);
    }
    size_t left = rows->n_rows - work->n_taken;
    size_t each = rows->n_rows ? data_values(rows) / rows->n_rows : 0, n = 1 + VALUES / (each + 1);
    n = n < left && !scale_by_query(&work->test->model->scale) ? n : left;
    data_free(&work->block);
    work->block = data_view(rows, work->n_taken, n);
    work->n_taken += n;
    return work->test->sparse ? data_make_sparse(&work->block, err) : 0;
}

/* Compares the scores of the rows (at least 1) with those of the file's first row. */
static int compare_scores(struct work *work, size_t n_rows, size_t n_scores, struct error *err) {
    if (!work->first_scores) {
        work->first_scores = memory_array(n_scores, sizeof(double), "scores", err);
        if (!work->first_scores) {
            return -1;
        }
        if (n_scores > 0) { /* a pair model without pairs has no scores */
            memcpy(work->first_scores, work->scores, n_scores * sizeof(double));
        }
        work->rows.constant_scores = true;
    }
    for (size_t i = 0; i < n_rows && work->rows.constant_scores; i++) {
        for (size_t k = 0; k < n_scores; k++) {
            work->rows.constant_scores &= work->scores[i * n_scores + k] == work->first_scores[k];
        }
    }
    work->rows.n += n_rows;
    return 0;
}

/* Names the file of an error in its rows. Returns -1. */
static int refuse_rows(const struct work *work, struct error *err) {
    return work->test->rows ? -1 : error_prefix(err, work->test->path);
}

/* Scores some rows and passes them on. */
static int take_rows(struct work *work, const struct data *rows, struct error *err) {
    const struct test_file *test = work->test;
    const struct predictor *predictor = test->predictor;
    size_t n_scores = model_n_scores(test->model), n = rows->n_rows * n_scores;
    if (n > work->n_room) {
        free(work->scores);
        work->scores = memory_array(n, sizeof(double), "scores", err);
        work->n_room = work->scores ? n : 0;
        if (!work->scores) {
            return -1;
        }
    }
    if (model_scores(test->model, rows, work->scores, test->threads, err) < 0) {
        return refuse_rows(work, err);
    }
    if (compare_scores(work, rows->n_rows, n_scores, err) < 0) {
        return -1;
    }
    if (work->measures && predictor->measures->add(work->measures, rows, NULL, rows->n_rows,
                                                   work->scores, n_scores, err) < 0) {
        return -1;
    }
    if (test->queries && by_query_add(test->queries, rows, work->scores, n_scores, err) < 0) {
        return -1;
    }
    if (test->take && test->take(test->context, work->lines, work->rows.n - rows->n_rows,
                                 rows->n_rows, work->scores, err) < 0) {
        return -1;
    }
    return work->lines && (test->output || wants_extra(test))
               ? predictor->add(work->lines, rows, work->scores, test->output, err)
               : 0;
}

/* Splits a block so that the array of scores stays small regardless of the scores per row. */
static int take_block(struct work *work, struct error *err) {
    const struct test_file *test = work->test;
    size_t n = work->block.n_rows, step = 1 + SCORES / (model_n_scores(test->model) + 1);
    if (!test->rows) {
        model_count_unseen(test->model, &work->block, &work->rows.n_values,
                           &work->rows.n_unknown_values);
    }
    if ((test->predictor->take_rows &&
         test->predictor->take_rows(test->model, &work->block, err) < 0) ||
        model_take_rows(test->model, &work->block, err) < 0) {
        return refuse_rows(work, err);
    }
    for (size_t first = 0; first < n; first += step) {
        struct data rows = data_view(&work->block, first, step < n - first ? step : n - first);
        if (take_rows(work, &rows, err) < 0) {
            return -1;
        }
    }
    return test->output ? output_flush(test->output, err) : 0;
}

static int take_all(struct work *work, struct error *err) {
    const struct test_file *test = work->test;
    for (;;) {
        if (next_block(work, err) < 0) {
            return -1;
        }
        if (work->block.n_rows == 0) {
            break;
        }
        if (take_block(work, err) < 0) {
            return -1;
        }
    }
    if (work->rows.n == 0 && work->lines &&
        test->output && /* a file without rows has a header, too */
        test->predictor->add(work->lines, &work->block, work->scores, test->output, err) < 0) {
        return -1;
    }
    if (work->lines && test->output && test->predictor->finish &&
        test->predictor->finish(work->lines, test->output, err) < 0) {
        return -1;
    }
    for (size_t k = 0; k < PREDICTOR_EXTRAS; k++) {
        if (test->extra && test->extra[k] &&
            test->predictor->write_extra(work->lines, k, test->extra[k], err) < 0) {
            return -1;
        }
    }
    return test->output ? output_flush(test->output, err) : 0;
}

int test_file_predict(const struct test_file *test, double *value, struct test_rows *rows,
                      struct error *err) {
    struct work work = {.test = test};
    int status = open_work(&work, err);
    status = status < 0 ? -1 : take_all(&work, err);
    if (status == 0 && test->measure) {
        status = measures_of_test(test->predictor->measures, work.measures, test->measure,
                                  test->n_measures, value, &work.rows.measured, err);
    }
    if (status == 0 && work.lines && test->predictor->warn) {
        test->predictor->warn(work.lines, work.rows.warning, sizeof work.rows.warning);
    }
    *rows = work.rows;
    rows->constant_scores &= rows->n > 1;
    close_work(&work);
    return status;
}
