/* Search for connected components, and fits of the components. */
#include "families/mc/solver/kernel_components.h"

#include "common/base/memory.h"
#include "families/mc/solver/certify.h"
#include "families/mc/solver/policy.h"
#include "fit/score_map.h"

#include <math.h>
#include <stdlib.h>

/* Components are merged up to MIN_COMPONENT rows, because each fit has a fixed cost: 30,000 rows
 * without neighbours take 118 iterations instead of 30,000. Matrices of more than MAX_ROWS are not
 * searched. */
enum { MIN_COMPONENT = 256, MAX_ROWS = 30000 };

/* Target gap of a component over that of the whole: the rest is for the entries between
 * components. */
static const double COMPONENT_GAP = 0.8;

int mc_kernel_components_find(struct components *components, const struct mc_task *task,
                              const struct monitor *monitor, struct error *err) {
    const struct problem *problem = task->problem;
    const struct kernel_rows *rows = gram_rows(problem->gram);
    *components = (struct components){0};
    bool possible = task->n > MIN_COMPONENT && task->n <= MAX_ROWS && task->bias == 0 &&
                    !problem->cluster && !rows->cluster && rows->kernel->type != KERNEL_PRECOMPUTED;
    return possible ? components_find(components, problem, MIN_COMPONENT, monitor, err) : 0;
}

/* A component as a task: its data, its kernel matrix in double, its rows' classes and weights. */
struct component {
    struct data data;
    struct gram *gram;
    struct problem problem;
    struct score_map map;
    uint32_t *y;
    double *row_weight;
    struct mc_task task;
};

static void free_component(struct component *component) {
    certify_free(component->task.certify);
    score_map_free(&component->map);
    gram_free(component->gram);
    data_free(&component->data);
    free(component->y);
    free(component->row_weight);
}

/* Makes the task of rows row[0..n). The caller calls free_component, also after a failure. */
static int make_component(const struct mc_task *task, const uint32_t *row, size_t n,
                          struct component *component, struct error *err) {
    const struct problem *whole = task->problem;
    uint32_t *of_data = memory_array(n, sizeof *of_data, "rows", err);
    *component = (struct component){
        .y = memory_array(n, sizeof *component->y, "classes", err),
        .row_weight = memory_array(n, sizeof *component->row_weight, "weights", err),
        .task = *task};
    component->task.certify = NULL;
    bool made = of_data && component->y && component->row_weight;
    for (size_t i = 0; made && i < n; i++) {
        of_data[i] = whole->rows ? whole->rows[row[i]] : row[i];
        component->y[i] = task->y[row[i]];
        component->row_weight[i] = task->row_weight[row[i]];
    }
    made = made && data_subset(whole->data, of_data, n, &component->data, err) == 0 &&
           gram_create(&component->gram, gram_rows(whole->gram)->kernel, &component->data,
                       whole->cache_bytes, true, whole->threads, err) == 0;
    free(of_data);
    if (!made) {
        return -1;
    }
    component->problem =
        (struct problem){.data = &component->data,
                         .gram = component->gram,
                         .n = n,
                         .threads = whole->threads,
                         .abandon_time = whole->abandon_time,
                         .cache_bytes = whole->cache_bytes - gram_cached_bytes(component->gram),
                         .certify_time = whole->certify_time};
    component->task.problem = &component->problem;
    component->task.n = component->task.n_all = n;
    component->task.y = component->y;
    component->task.row_weight = component->row_weight;
    component->task.keep = true;
    return score_map_create(&component->map, &component->problem, err) < 0 ||
                   certify_create(&component->task.certify, &component->problem, &component->map, 0,
                                  err) < 0
               ? -1
               : 0;
}

/* Solves a component, which is not searched for components again. */
static int solve_component(const struct mc_task *task, const struct mc_goal *goal,
                           const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    struct mc_solvers solvers = {.task = task, .searched = true, .measured = true};
    struct mc_state state = {&solvers, MC_AUTO, goal->cost, COMPONENT_GAP * goal->epsilon, fit};
    int status = mc_policy_solve(&state, monitor, err);
    mc_solvers_free(&solvers);
    return status;
}

/* The joint point of the components. */
struct joint_point {
    double *weights;       /* (n, k) coefficients of the primal point */
    struct mc_alpha alpha; /* the dual point */
    double primal, dual;   /* with the zero solution in components not solved yet */
    uint64_t iterations;
};

/* Copies the fit of the rows row[0..n). */
static int copy_component(struct joint_point *whole, size_t k, const uint32_t *row, size_t n,
                          const struct mc_fit *fit, struct error *err) {
    double *alpha = memory_array(k, sizeof *alpha, "dual variables", err);
    int status = alpha ? 0 : -1;
    for (size_t i = 0; status == 0 && i < n; i++) {
        mc_alpha_load(&fit->alpha, i, alpha);
        status = mc_alpha_store(&whole->alpha, row[i], alpha, err);
        for (size_t c = 0; c < k && !fit->certificate.zero_is_better; c++) {
            whole->weights[row[i] * k + c] = fit->weights[i * k + c];
        }
    }
    free(alpha);
    return status;
}

int mc_kernel_components_solve(const struct components *components,
                               struct mc_kernel_descent *descent, const struct mc_task *task,
                               const struct mc_goal *goal, const struct monitor *monitor,
                               struct mc_fit *fit, struct error *err) {
    size_t n = task->n, k = task->shape.k;
    struct joint_point whole = {.weights =
                                    memory_zeros(n, k * sizeof *whole.weights, "weights", err),
                                .primal = mc_zero_loss(task, goal->cost)};
    enum stop_reason reason = STOP_REACHED;
    *fit = (struct mc_fit){0};
    int status = whole.weights && mc_alpha_create(&whole.alpha, n, k, err) == 0 ? 0 : -1;
    for (size_t p = 0; status == 0 && p < components->n && !reason; p++) {
        const uint32_t *row = components->row + components->start[p];
        size_t m = components->start[p + 1] - components->start[p];
        struct monitor_run run;
        struct monitor inner = monitor_continue(&run, monitor, whole.iterations, 0);
        struct mc_fit own = {0};
        struct component component;
        double zero_loss = 0;
        status = make_component(task, row, m, &component, err);
        if (status == 0) {
            zero_loss = mc_zero_loss(&component.task, goal->cost);
            run.primal = whole.primal; /* that of a component with its zero solution */
            run.add_primal = whole.primal - zero_loss;
            run.add_dual = whole.dual;
            status = solve_component(&component.task, goal, &inner, &own, err);
        }
        status = status < 0 ? -1 : copy_component(&whole, k, row, m, &own, err);
        reason = stop_limited(own.reason) ? own.reason : STOP_REACHED;
        whole.primal -= fmax(0, zero_loss - own.certificate.primal);
        whole.dual += own.certificate.dual;
        whole.iterations += own.iterations;
        mc_fit_free(&own);
        free_component(&component);
    }
    status = status < 0 || mc_kernel_set_solution(descent, goal, whole.weights, &whole.alpha, fit,
                                                  err) < 0
                 ? -1
                 : 0;
    fit->iterations = whole.iterations;
    fit->reason = reason;
    mc_alpha_free(&whole.alpha);
    free(whole.weights);
    return status;
}
