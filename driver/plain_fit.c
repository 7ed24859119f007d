#include "driver/plain_fit.h"

#include "common/data/scale.h"
#include "driver/fit.h"
#include "driver/training_data.h"

/* Fits the scaling. Rows that are scaled one by one have been before: that is only noted. */
static int scale_data(struct plain_fit *fit, struct data *data, struct error *err) {
    const struct options *options = fit->point.options;
    enum scale_kind kind = (enum scale_kind)options_choice(options, "scale");
    if (scale_fit(&fit->scale, kind, data, err) < 0) {
        return -1;
    }
    return training_data_scale_looks(options) ? scale_apply(&fit->scale, data, err) : 0;
}

/* Makes the kernel matrix, if one is wanted, and opens the problem. */
static int open_problem(struct plain_fit *fit, const struct plain_fit_setup *setup,
                        struct error *err) {
    const struct family *family = fit->family;
    double start = progress_clock();
    size_t kept_bytes = 0;
    if (fit_wants_gram(family, fit->point.options, &fit->kernel)) {
        if (fit_gram(&fit->gram, family, fit->point, &fit->kernel, setup->data, false,
                     setup->cache_bytes, setup->threads, err) < 0) {
            return -1;
        }
        kept_bytes = gram_kept_bytes(fit->gram);
        fit->kernel_seconds = progress_clock() - start;
    }
    fit->problem = (struct problem){.data = setup->data,
                                    .gram = fit->gram,
                                    .n = setup->data->n_rows,
                                    .threads = setup->threads,
                                    .cache_bytes = setup->cache_bytes - kept_bytes};
    start = progress_clock();
    if (family->open(&fit->state, &fit->problem, fit->point, err) < 0) {
        fit->state = NULL;
        return -1;
    }
    fit->solve_seconds = progress_clock() - start;
    return 0;
}

static int solve(struct plain_fit *fit, const struct plain_fit_setup *setup, struct error *err) {
    struct watch watch = fit_watch(fit->point.options);
    watch.progress = setup->progress;
    watch.log = setup->log;
    struct monitor monitor = watch_monitor(&watch);
    double start = progress_clock();
    if (fit->family->solve(fit->state, fit->point, &monitor, &fit->solution, err) < 0) {
        fit->solution = (struct solution){0};
        return -1;
    }
    fit->solve_seconds += progress_clock() - start;
    progress_clear(setup->progress);
    return 0;
}

static int make_model(struct plain_fit *fit, struct error *err) {
    if (fit_header(fit->family, fit->state, fit->point, &fit->kernel, &fit->problem, &fit->solution,
                   &fit->model, err) < 0) {
        return -1;
    }
    fit->model.scale = fit->scale;
    fit->scale = (struct scale){0};
    return fit_body(&fit->model, &fit->problem, &fit->solution, err);
}

int plain_fit_open(struct plain_fit *fit, const struct plain_fit_setup *setup, struct error *err) {
    *fit = (struct plain_fit){.family = setup->family,
                              .point = setup->point,
                              .kernel = fit_kernel(setup->family, setup->point, setup->n_features)};
    if (scale_data(fit, setup->data, err) < 0 || open_problem(fit, setup, err) < 0 ||
        solve(fit, setup, err) < 0 || make_model(fit, err) < 0) {
        plain_fit_close(fit);
        return -1;
    }
    return 0;
}

void plain_fit_close(struct plain_fit *fit) {
    model_free(&fit->model);
    solution_free(&fit->solution);
    if (fit->state) {
        fit->family->close(fit->state);
    }
    gram_free(fit->gram);
    scale_free(&fit->scale);
    *fit = (struct plain_fit){0};
}
