/* Sums over tasks are those of a plain loop, to the bit, in whatever order tasks are closed, and
 * blocks are used again. */
#include "common/kernel/task_sums.h"
#include "common/base/random.h"
#include "tests/unit/check.h"

#include <math.h>

enum { N = 5, TASKS = 40, AT_ONCE = 6 };

/* Numbers of all sizes: their sum depends on the order. */
static double term(size_t task, size_t j) {
    struct random random;
    random_start(&random, task, j);
    return ldexp(random_unit(&random) - 0.5, (int)(task * 7 % 50));
}

static size_t used(size_t task) {
    return task % (N + 1);
}

int main(void) {
    double expected[N] = {0};
    for (size_t task = 0; task < TASKS; task++) {
        for (size_t j = 0; j < used(task); j++) {
            expected[j] += term(task, j);
        }
    }
    for (size_t order = 0; order < 50; order++) {
        struct error err;
        struct task_sums *sums;
        struct random random;
        struct {
            size_t task;
            double *block;
        } open[AT_ONCE];
        double *seen[TASKS];
        size_t n_open = 0, n_seen = 0;
        random_start(&random, 3, order);
        CHECK(task_sums_create(&sums, N, TASKS, &err) == 0, "%s", err.text);
        for (size_t task = 0; task < TASKS || n_open > 0;) {
            if (task < TASKS && n_open < (order == 0 ? 1 : AT_ONCE)) {
                double *block = task_sums_open(sums, &err);
                CHECK(block, "%s", err.text);
                for (size_t j = 0; j < N; j++) {
                    block[j] = j < used(task) ? term(task, j) : NAN;
                }
                size_t known = 0;
                while (known < n_seen && seen[known] != block) {
                    known++;
                }
                seen[known] = block;
                n_seen += known == n_seen;
                open[n_open].task = task++;
                open[n_open++].block = block;
                continue;
            }
            size_t which = (size_t)(random_unit(&random) * (double)n_open);
            task_sums_close(sums, open[which].task, open[which].block, used(open[which].task));
            open[which] = open[--n_open];
        }
        for (size_t j = 0; j < N; j++) {
            CHECK(task_sums_all(sums)[j] == expected[j], "sum %zu: %.17g, not %.17g", j,
                  task_sums_all(sums)[j], expected[j]);
        }
        CHECK(order > 0 || n_seen == 1, "%zu blocks where one would do", n_seen);
        task_sums_free(sums);
    }
    task_sums_free(NULL);
    printf("ok: sums of tasks\n");
    return 0;
}
