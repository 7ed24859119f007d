/* Sums over tasks equal those of a plain loop, to the bit, in whatever order threads close tasks;
 * tasks wait while too many blocks are in use. */
#include "common/kernel/task_sums.h"
#include "common/base/threads.h"
#include "tests/unit/compute.h"

#include <stdatomic.h>
#include <time.h>

enum { N = 9, BLOCK = 5, TASKS = 40, MOST = 2, THREADS = 4 };

/* Numbers of very different magnitudes: their sum depends on the order. */
static double term(size_t task, size_t j) {
    struct random random = sample_random(task, j);
    return ldexp(random_unit(&random) - 0.5, (int)(task * 7 % 50));
}

/* Ranges of a block, which may be empty, disjoint or not. */
static void ranges(size_t task, struct task_range range[2]) {
    size_t n = task % (BLOCK + 1);
    range[0] = (struct task_range){task * 3 % (N - BLOCK), n / 2};
    range[1] = (struct task_range){task * 5 % (N - BLOCK), n - n / 2};
}

/* Every seventh task closes without a block. */
static bool is_empty(size_t task) {
    return task % 7 == 3;
}

static void fill(size_t task, double *block) {
    for (size_t j = 0; j < BLOCK; j++) {
        block[j] = j < task % (BLOCK + 1) ? term(task, j) : NAN;
    }
}

static void expect(double *sums) {
    for (size_t task = 0; task < TASKS; task++) {
        struct task_range range[2];
        size_t at = 0;
        ranges(task, range);
        for (size_t r = 0; r < 2 && !is_empty(task); r++) {
            for (size_t j = 0; j < range[r].n; j++) {
                sums[range[r].at + j] += term(task, at++);
            }
        }
    }
}

static void close_task(struct task_sums *sums, size_t task, double *block) {
    struct task_range range[2];
    ranges(task, range);
    if (is_empty(task)) {
        free(block);
        block = NULL;
    }
    task_sums_close(sums, task, block, range);
}

static void compare(const struct task_sums *sums, const double *expected) {
    for (size_t j = 0; j < N; j++) {
        CHECK(task_sums_all(sums)[j] == expected[j], "sum %zu: %.17g, not %.17g", j,
              task_sums_all(sums)[j], expected[j]);
    }
}

/* Runs the tasks in parallel. */
struct run {
    struct task_sums *sums;
    atomic_int open, most;
};

static void work(void *argument, size_t task, size_t worker) {
    struct run *run = argument;
    (void)worker;
    double *block = task_sums_open(run->sums, task, &err);
    CHECK(block, "%s", err.text);
    int open = atomic_fetch_add(&run->open, 1) + 1, most = atomic_load(&run->most);
    while (open > most && !atomic_compare_exchange_weak(&run->most, &most, open)) {
    }
    fill(task, block);
    struct timespec some = {0, task % 5 == 0 ? 3000000 : 100000}; /* wait for the others */
    nanosleep(&some, NULL);
    atomic_fetch_sub(&run->open, 1);
    close_task(run->sums, task, block);
}

static void check_threads(struct threads *threads, size_t most, const double *expected) {
    struct run run = {0};
    MUST(task_sums_create(&run.sums, N, TASKS, BLOCK, most, &err));
    threads_run(threads, TASKS, work, &run);
    compare(run.sums, expected);
    CHECK((size_t)atomic_load(&run.most) <= most + 1, "%d open at once", atomic_load(&run.most));
    task_sums_free(run.sums);
}

int main(void) {
    struct threads *threads;
    double expected[N] = {0};
    expect(expected);
    MUST(threads_create(&threads, THREADS, &err));
    for (size_t most = 1; most <= MOST; most++) {
        check_threads(threads, most, expected);
    }
    threads_free(threads);
    task_sums_free(NULL);
    printf("ok: sums of tasks\n");
    return 0;
}
