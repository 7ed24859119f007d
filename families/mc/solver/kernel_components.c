#include "families/mc/solver/kernel_components.h"

#include "common/base/memory.h"
#include "families/mc/solver/certify.h"
#include "families/mc/solver/policy.h"
#include "fit/score_map.h"

#include <math.h>
#include <stdlib.h>

/* Parts are put together up to so many rows: less is not worth the trouble. Larger matrices are not
 * looked through. */
enum { TOGETHER = 256, MOST_ROWS = 30000 };

/* The gap of each part, of the one that is wanted: what rows of different parts have to do with one
 * another takes a little. */
static const double PART_GAP = 0.8;

int mc_kernel_parts_find(struct parts *parts, const struct mc_task *task,
                         const struct monitor *monitor, struct error *err) {
    const struct problem *problem = task->problem;
    const struct kernel_rows *rows = gram_rows(problem->gram);
    *parts = (struct parts){0};
    bool possible = task->n > TOGETHER && task->n <= MOST_ROWS && task->bias == 0 &&
                    !problem->cluster && !rows->cluster && rows->kernel->type != KERNEL_PRECOMPUTED;
    return possible ? parts_find(parts, problem, TOGETHER, monitor, err) : 0;
}

/* A part's data, its kernel matrix in double, and its rows' classes. */
struct part {
    struct data data;
    struct gram *gram;
    struct problem problem;
    struct score_map map;
    uint32_t *y;
    struct mc_task task;
};

static void free_part(struct part *part) {
    certify_free(part->task.certify);
    score_map_free(&part->map);
    gram_free(part->gram);
    data_free(&part->data);
    free(part->y);
}

/* Rows row[0..n) of the task. The caller calls free_part, of a part that could not be made, too. */
static int make_part(const struct mc_task *task, const uint32_t *row, size_t n, struct part *part,
                     struct error *err) {
    const struct problem *whole = task->problem;
    uint32_t *of_data = memory_array(n, sizeof *of_data, "rows", err);
    *part = (struct part){.y = memory_array(n, sizeof *part->y, "classes", err), .task = *task};
    part->task.certify = NULL;
    for (size_t i = 0; of_data && part->y && i < n; i++) {
        of_data[i] = whole->rows ? whole->rows[row[i]] : row[i];
        part->y[i] = task->y[row[i]];
    }
    bool made = of_data && part->y && data_subset(whole->data, of_data, n, &part->data, err) == 0 &&
                gram_create(&part->gram, gram_rows(whole->gram)->kernel, &part->data,
                            whole->cache_bytes, true, whole->threads, err) == 0;
    free(of_data);
    if (!made) {
        return -1;
    }
    part->problem =
        (struct problem){.data = &part->data,
                         .gram = part->gram,
                         .n = n,
                         .threads = whole->threads,
                         .cache_bytes = whole->cache_bytes - gram_kept_bytes(part->gram)};
    part->task.problem = &part->problem;
    part->task.n = part->task.n_all = n;
    part->task.y = part->y;
    part->task.keep = true;
    return score_map_create(&part->map, &part->problem, err) < 0 ||
                   certify_create(&part->task.certify, &part->problem, &part->map, 0, err) < 0
               ? -1
               : 0;
}

/* Solves a part, which is not searched for others again. */
static int solve_part(const struct mc_task *task, const struct mc_goal *goal,
                      const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    struct mc_solvers solvers = {.task = task, .searched = true};
    struct mc_state state = {&solvers, MC_AUTO, goal->cost, PART_GAP * goal->epsilon, fit};
    int status = mc_policy_solve(&state, monitor, err);
    mc_solvers_free(&solvers);
    return status;
}

/* What the parts come to. */
struct whole {
    double *weights;       /* (n, k) coefficients of the primal point, */
    struct mc_alpha alpha; /* and the dual one */
    double primal, dual;   /* with nothing in the parts that are still to come */
    uint64_t iterations;
};

/* Takes the fit of the rows row[0..n). */
static int take_part(struct whole *whole, size_t k, const uint32_t *row, size_t n,
                     const struct mc_fit *fit, struct error *err) {
    double *alpha = memory_array(k, sizeof *alpha, "dual variables", err);
    int status = alpha ? 0 : -1;
    for (size_t i = 0; status == 0 && i < n; i++) {
        mc_alpha_load(&fit->alpha, i, alpha);
        status = mc_alpha_store(&whole->alpha, row[i], alpha, err);
        for (size_t c = 0; c < k && !fit->certificate.worse; c++) {
            whole->weights[row[i] * k + c] = fit->weights[i * k + c];
        }
    }
    free(alpha);
    return status;
}

/* Who watches the whole, while a part is fitted. */
struct watch {
    const struct monitor *behind;
    const struct whole *whole;
    double nothing; /* the part's loss of nothing */
};

static enum stop_reason check(void *context, uint64_t iteration, double primal, double dual) {
    const struct watch *watch = context;
    const struct whole *whole = watch->whole;
    double gained = fmax(0, watch->nothing - primal);
    return monitor_check(watch->behind, whole->iterations + iteration, whole->primal - gained,
                         whole->dual + dual);
}

static bool is_late(void *context) {
    return monitor_late(((const struct watch *)context)->behind);
}

static double seconds_left(void *context) {
    return monitor_left(((const struct watch *)context)->behind);
}

static void set_algorithm(void *context, enum algorithm algorithm) {
    monitor_algorithm(((const struct watch *)context)->behind, algorithm);
}

int mc_kernel_parts_run(const struct parts *parts, struct mc_kernel *kernel,
                        const struct mc_task *task, const struct mc_goal *goal,
                        const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    size_t n = task->n, k = task->shape.k;
    struct whole whole = {.weights = memory_zeros(n, k * sizeof *whole.weights, "weights", err),
                          .primal = mc_loss_of_nothing(task, goal->cost)};
    struct watch watch = {.behind = monitor, .whole = &whole};
    enum stop_reason reason = STOP_REACHED;
    *fit = (struct mc_fit){0};
    int status = whole.weights && mc_alpha_create(&whole.alpha, n, k, err) == 0 ? 0 : -1;
    for (size_t p = 0; status == 0 && p < parts->n && !reason; p++) {
        const uint32_t *row = parts->row + parts->start[p];
        size_t m = parts->start[p + 1] - parts->start[p];
        struct monitor inner = {.context = &watch,
                                .check = check,
                                .late = is_late,
                                .left = seconds_left,
                                .algorithm = set_algorithm};
        if (monitor && monitor->most > 0) { /* at least 1: 0 would be no limit */
            inner.most = monitor->most > whole.iterations ? monitor->most - whole.iterations : 1;
        }
        struct mc_fit own = {0};
        struct part part;
        status = make_part(task, row, m, &part, err);
        if (status == 0) {
            watch.nothing = mc_loss_of_nothing(&part.task, goal->cost);
            status = solve_part(&part.task, goal, &inner, &own, err);
        }
        status = status < 0 ? -1 : take_part(&whole, k, row, m, &own, err);
        reason = stop_limited(own.reason) ? own.reason : STOP_REACHED;
        whole.primal -= fmax(0, watch.nothing - own.primal);
        whole.dual += own.dual;
        whole.iterations += own.iterations;
        mc_fit_free(&own);
        free_part(&part);
    }
    status = status < 0 || mc_kernel_take(kernel, goal, whole.weights, &whole.alpha, fit, err) < 0
                 ? -1
                 : 0;
    fit->iterations = whole.iterations;
    fit->reason = reason;
    mc_alpha_free(&whole.alpha);
    free(whole.weights);
    return status;
}
