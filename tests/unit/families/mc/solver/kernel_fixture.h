/* A kernel problem with several classes, and coordinate descent on it after one iteration, from
 * which the other algorithms continue. */
#ifndef TESTS_UNIT_FAMILIES_MC_SOLVER_KERNEL_FIXTURE_H
#define TESTS_UNIT_FAMILIES_MC_SOLVER_KERNEL_FIXTURE_H

#include "common/kernel/gram.h"
#include "families/mc/solver/formulation.h"
#include "families/mc/solver/kernel_descent_private.h"
#include "tests/unit/compute.h"

enum { FORMS = 8 };

struct bed {
    struct data data;
    struct gram *gram;
    struct problem problem;
    size_t classes;
    uint32_t *y;    /* (n) */
    double *weight; /* (n) */
    struct score_map map;
    struct mc_task task;
};

/* n rows, rbf; the kernel matrix gets gram_bytes, and is in double where it is exact. */
static inline void bed_open(struct bed *bed, size_t n, uint32_t width, size_t classes,
                            size_t gram_bytes, bool exact) {
    static const struct kernel kernel = {.type = KERNEL_RBF, .gamma = .3};
    *bed = (struct bed){.classes = classes};
    bed->data = sample_data(n, width, 1, SAMPLE_SIGNED, false, true, 5);
    bed->data.labels = DATA_NAME;
    bed->data.label = sample_array(n, sizeof *bed->data.label);
    bed->y = check_array(n, sizeof *bed->y);
    bed->weight = check_numbers(n);
    sample_names(&bed->data.names, classes);
    for (size_t i = 0; i < n; i++) {
        bed->data.label[i] = bed->y[i] = (uint32_t)(i * 7 % classes);
        bed->weight[i] = 1;
    }
    MUST(gram_create(&bed->gram, &kernel, &bed->data, gram_bytes, exact, NULL, &err));
    bed->problem =
        (struct problem){.data = &bed->data, .gram = bed->gram, .n = n, .cache_bytes = 1 << 20};
}

static inline void bed_close(struct bed *bed) {
    gram_free(bed->gram);
    data_free(&bed->data);
}

static inline enum stop_reason stop_at_once(void *context, uint64_t iteration, double primal,
                                            double dual) {
    (void)context, (void)iteration, (void)primal, (void)dual;
    return STOP_ITERATIONS;
}

/* One iteration of coordinate descent, which sets the cost; the caller ends with descent_close. */
static inline struct mc_kernel_descent *descent_open(struct bed *bed, int form, double bias,
                                                     struct mc_goal *goal) {
    const struct monitor monitor = {.check = stop_at_once};
    struct mc_kernel_descent *descent;
    struct mc_fit fit;
    bed->task = (struct mc_task){.problem = &bed->problem,
                                 .shape = mc_shape((enum mc_formulation)form, bed->classes, 1),
                                 .n = bed->problem.n,
                                 .n_all = bed->problem.n,
                                 .y = bed->y,
                                 .row_weight = bed->weight,
                                 .bias = bias,
                                 .seed = 1};
    MUST(score_map_create(&bed->map, &bed->problem, &err));
    MUST(certify_create(&bed->task.certify, &bed->problem, &bed->map, bias, &err));
    MUST(mc_kernel_create(&descent, &bed->task, &err));
    goal->fallback_work = goal->active_set ? mc_kernel_admm_work(descent) : (double)INFINITY;
    MUST(mc_kernel_solve(descent, goal, &monitor, &fit, &err));
    mc_fit_free(&fit);
    return descent;
}

static inline void descent_close(struct bed *bed, struct mc_kernel_descent *descent) {
    mc_kernel_free(descent);
    certify_free(bed->task.certify);
    score_map_free(&bed->map);
}

#endif
