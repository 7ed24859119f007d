/* Callbacks receive progress and can stop the work; several threads train on the same data at
 * once. */
#include "tests/unit/library/rows.h"

#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

struct seen {
    size_t n, rows, messages;
    size_t most; /* number of checks after which it stops; 0: never */
    double gap;
    char message[200];
};

static int progress(void *context, const dualsvm_progress *progress) {
    struct seen *seen = context;
    CHECK_TRUE(progress->size == sizeof *progress && progress->primal >= progress->dual);
    seen->gap = progress->gap;
    seen->n++;
    return seen->most > 0 && seen->n >= seen->most;
}

static int row(void *context, const dualsvm_table *table, size_t row) {
    struct seen *seen = context;
    CHECK_TRUE(row == seen->rows && row + 1 == dualsvm_table_rows(table));
    CHECK_TRUE(dualsvm_table_best(table) == SIZE_MAX);
    seen->rows++;
    return seen->most > 0 && seen->rows >= seen->most;
}

static void message(void *context, const char *text) {
    struct seen *seen = context;
    seen->messages++;
    snprintf(seen->message, sizeof seen->message, "%s", text);
}

static void check_progress(void) {
    struct task task;
    dualsvm_model *model;
    dualsvm_report report;
    struct seen seen = {0};
    dualsvm_watch watch = {sizeof watch, &seen, progress, NULL, message};
    task_open(&task, "mc", 0);
    rows_set(task.options, "epsilon", "1e-6");
    CALL(dualsvm_train(&model, task.options, task.data, &watch, &error));
    dualsvm_model_report(model, &report, sizeof report);
    CHECK(seen.n > 1 && seen.gap >= 0 && seen.messages == 0 && report.converged == 1, "%zu, %s",
          seen.n, seen.message);
    dualsvm_model_free(model);
    /* a stopped fit has a model with its true gap */
    seen = (struct seen){.most = 1};
    CALL(dualsvm_train(&model, task.options, task.data, &watch, &error));
    dualsvm_model_report(model, &report, sizeof report);
    CHECK(seen.n == 1 && report.converged == 0 && report.gap > 1e-6 && report.gap <= 1, "%zu %g",
          seen.n, report.gap);
    CHECK(strstr(report.reason, "interrupted"), "%s", report.reason);
    CHECK(seen.messages == 1 && strstr(seen.message, "warning: not converged: interrupted"), "%s",
          seen.message);
    dualsvm_model_free(model);
    /* fields beyond the size of an older caller's struct are not read */
    watch.size = offsetof(dualsvm_watch, progress);
    seen = (struct seen){0};
    CALL(dualsvm_train(&model, task.options, task.data, &watch, &error));
    CHECK_TRUE(seen.n == 0 && seen.messages == 0);
    dualsvm_model_free(model);
    /* calibration is impossible after a stopped fit */
    watch.size = sizeof watch;
    seen = (struct seen){.most = 1};
    rows_set(task.options, "probability", "1");
    CHECK_TRUE(dualsvm_train(&model, task.options, task.data, &watch, &error) < 0);
    CHECK(error.kind == DUALSVM_STOPPED && !model, "%s", error.text);
    task_close(&task);
    printf("ok: progress is told, and a fit is stopped\n");
}

static int take_nothing(void *context, const char *text, size_t size) {
    (void)context;
    CHECK_TRUE(text && size > 0);
    return 1;
}

static void check_table(void) {
    struct task task;
    dualsvm_table *table;
    dualsvm_model *model;
    struct seen seen = {0};
    const dualsvm_watch watch = {sizeof watch, &seen, NULL, row, NULL};
    task_open(&task, "top", 3);
    uint32_t fold[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        fold[i] = i == 5 ? UINT32_MAX : i / 15;
    }
    CALL(dualsvm_data_set_folds(task.data, fold, 4, &error));
    rows_set(task.options, "cost", "0.01,0.1,1");
    CALL(dualsvm_sweep(&table, &model, task.options, task.data, &watch, &error));
    CHECK_TRUE(seen.rows == 3 && dualsvm_table_rows(table) == 3);
    size_t cost = dualsvm_table_find(table, "cost"), best = dualsvm_table_best(table);
    CHECK_TRUE(dualsvm_table_find(table, "no") == SIZE_MAX && best < 3);
    CHECK_TRUE(dualsvm_table_number(table, 1, cost) == 0.1);
    CHECK_TRUE(strcmp(dualsvm_table_text(table, 2, cost), "1") == 0);
    CHECK_TRUE(strcmp(dualsvm_table_text(table, 3, cost), "") == 0 &&
               isnan(dualsvm_table_number(table, 0, 1)));
    CHECK_TRUE(strcmp(dualsvm_table_name(table, 0), "point") == 0 &&
               !dualsvm_table_name(table, dualsvm_table_columns(table)));
    CHECK_TRUE(strtod(dualsvm_model_value(model, "cost"), NULL) ==
               dualsvm_table_number(table, best, cost));
    CHECK_TRUE(dualsvm_predict_text(model, NULL, task.data, take_nothing, NULL, &error) < 0 &&
               error.kind == DUALSVM_STOPPED);
    dualsvm_table_free(table);
    dualsvm_model_free(model);
    seen = (struct seen){.most = 2};
    CHECK_TRUE(dualsvm_cross_validate(&table, task.options, task.data, &watch, &error) < 0);
    CHECK(seen.rows == 2 && error.kind == DUALSVM_STOPPED && !table, "%s", error.text);
    rows_set(task.options, "cost", "1");
    seen = (struct seen){0};
    CALL(dualsvm_cross_validate(&table, task.options, task.data, &watch, &error));
    CHECK_TRUE(seen.rows == 1 && dualsvm_table_rows(table) == 1);
    dualsvm_table_free(table);
    task_close(&task);
    printf("ok: rows are told as they come, and a sweep and a text are stopped\n");
}

/* How many callbacks run, and whether two have run at once. */
struct overlap {
    atomic_int running;
    atomic_bool found;
    atomic_int rows, checks;
};

static void stay(struct overlap *overlap) {
    if (atomic_fetch_add(&overlap->running, 1) > 0) {
        atomic_store(&overlap->found, true);
    }
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    atomic_fetch_sub(&overlap->running, 1);
}

static int slow_progress(void *context, const dualsvm_progress *progress) {
    struct overlap *overlap = context;
    CHECK_TRUE(progress != NULL);
    atomic_fetch_add(&overlap->checks, 1);
    stay(overlap);
    return 0;
}

static int slow_row(void *context, const dualsvm_table *table, size_t row) {
    struct overlap *overlap = context;
    CHECK_TRUE(row < dualsvm_table_rows(table));
    atomic_fetch_add(&overlap->rows, 1);
    stay(overlap);
    return 0;
}

/* The fits to folds run on several threads, their callbacks one at a time. */
static void check_one_at_a_time(void) {
    struct task task;
    dualsvm_table *table;
    struct overlap overlap = {0};
    const dualsvm_watch watch = {sizeof watch, &overlap, slow_progress, slow_row, NULL};
    task_open(&task, "mc", 0);
    rows_set(task.options, "threads", "4");
    rows_set(task.options, "folds", "4");
    rows_set(task.options, "cost", "2^-6:2^6:x2");
    CALL(dualsvm_cross_validate(&table, task.options, task.data, &watch, &error));
    CHECK_TRUE(atomic_load(&overlap.rows) == 13 && atomic_load(&overlap.checks) > 13);
    CHECK_TRUE(!atomic_load(&overlap.found));
    dualsvm_table_free(table);
    task_close(&task);
    printf("ok: callbacks are called one at a time\n");
}

enum { AT_ONCE = 4, TIMES = 3 };

struct worker {
    const dualsvm_options *options;
    const dualsvm_data *data;
    const dualsvm_model *expected;
    bool failed;
};

static void *work(void *argument) {
    struct worker *worker = argument;
    for (int i = 0; i < TIMES; i++) {
        dualsvm_model *model;
        double scores[2][ROWS * 3];
        size_t n, m;
        if (dualsvm_train(&model, worker->options, worker->data, NULL, NULL) < 0) {
            worker->failed = true;
            return NULL;
        }
        const void *a = dualsvm_model_bytes(model, &n),
                   *b = dualsvm_model_bytes(worker->expected, &m);
        worker->failed |= n != m || memcmp(a, b, n) != 0;
        worker->failed |=
            dualsvm_predict_scores(model, NULL, worker->data, scores[0], NULL) < 0 ||
            dualsvm_predict_scores(worker->expected, NULL, worker->data, scores[1], NULL) < 0 ||
            memcmp(scores[0], scores[1], ROWS * dualsvm_model_scores(model) * sizeof(double)) != 0;
        dualsvm_model_free(model);
    }
    return NULL;
}

static void check_threads(const char *kernel) {
    struct task task;
    task_open(&task, "mc", 1);
    rows_set(task.options, "kernel", kernel);
    rows_set(task.options, "threads", "2");
    dualsvm_model *model = rows_train(task.options, task.data);
    pthread_t thread[AT_ONCE];
    struct worker worker[AT_ONCE];
    for (int t = 0; t < AT_ONCE; t++) {
        worker[t] = (struct worker){task.options, task.data, model, false};
        CHECK_TRUE(pthread_create(&thread[t], NULL, work, &worker[t]) == 0);
    }
    for (int t = 0; t < AT_ONCE; t++) {
        pthread_join(thread[t], NULL);
        CHECK(!worker[t].failed, "thread %d", t);
    }
    dualsvm_model_free(model);
    task_close(&task);
    printf("ok: %d threads train at once, %s\n", AT_ONCE, kernel);
}

int main(void) {
    check_progress();
    check_table();
    check_one_at_a_time();
    check_threads("linear");
    check_threads("rbf");
    return 0;
}
