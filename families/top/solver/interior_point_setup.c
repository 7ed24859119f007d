/* The data of a run: which rows are in use, their risk, system and variables, and all arrays. */
#include "common/base/arrays.h"
#include "families/top/solver/interior_point_private.h"

#include "common/base/memory.h"
#include "families/top/solver/interior_point.h"
#include "fit/work.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* If the shares sum to at most this, the interior is empty: beta is determined by alpha and the
 * shares. */
static const double EMPTY_SHARES = 1 + 1e-8;

static bool in_use(const struct top_risk *risk, const bool *in_set, bool empty_interior, size_t i) {
    return (!in_set || in_set[i]) && (risk->cost[i] > 0 || (!empty_interior && risk->mass[i] > 0));
}

static bool has_empty_interior(const struct top_risk *risk) {
    return risk->kind == TOP_MEAN && top_risk_sum_shares(risk) <= EMPTY_SHARES;
}

static size_t count_rows(const struct top_risk *risk, const bool *in_set, bool empty_interior) {
    size_t m = 0;
    for (size_t i = 0; i < risk->n; i++) {
        m += in_use(risk, in_set, empty_interior, i);
    }
    return m;
}

double top_interior_work(const struct problem *problem, const struct top_risk *risk) {
    enum { ARRAYS = 50 }; /* loops over the rows in an iteration */
    size_t m = count_rows(risk, NULL, has_empty_interior(risk));
    m = cluster_count(risk->cluster, m);
    return TOP_INTERIOR_STEPS * (top_system_work(problem, m) + work_scalar(ARRAYS * (double)m));
}

/* The risk of the rows in use. With an empty interior it is that of the margins s_i - sum share_j
 * s_j. */
static int make_risk(struct top_interior_run *run, size_t m, struct error *err) {
    const struct top_risk *full_risk = run->full_risk;
    struct top_risk *risk = &run->risk;
    run->rows = memory_array(m, sizeof *run->rows, "rows", err);
    if (!run->rows || top_risk_create(risk, m, err) < 0) {
        return -1;
    }
    risk->cluster = full_risk->cluster;
    risk->n_all = full_risk->n_all;
    risk->kind = run->empty_interior ? TOP_NONE : full_risk->kind;
    risk->square = full_risk->square;
    risk->k = full_risk->k;
    risk->theta = full_risk->theta;
    risk->budget = full_risk->budget;
    risk->total_cost = run->in_set ? 0 : full_risk->total_cost;
    risk->total_mass = run->in_set || run->empty_interior ? 0 : full_risk->total_mass;
    m = 0;
    for (size_t i = 0; i < full_risk->n; i++) {
        if (in_use(full_risk, run->in_set, run->empty_interior, i)) {
            run->rows[m] = (uint32_t)i;
            risk->cost[m] = full_risk->cost[i];
            risk->mass[m] = run->empty_interior ? 0 : full_risk->mass[i];
            risk->share[m] = run->empty_interior ? 0 : full_risk->share[i];
            risk->total_cost += run->in_set ? risk->cost[m] : 0;
            risk->total_mass += run->in_set ? risk->mass[m] : 0;
            m++;
        }
    }
    return 0;
}

static int make_system(struct top_interior_run *run, struct error *err) {
    double *centre = NULL;
    size_t n = run->full_risk->n;
    if (run->empty_interior) {
        centre = memory_array(n, sizeof *centre, "a centre", err);
        if (!centre) {
            return -1;
        }
        double shares = top_risk_sum_shares(run->full_risk);
        for (size_t i = 0; i < n; i++) {
            centre[i] = run->full_risk->share[i] / shares;
        }
    }
    int status =
        top_system_create(&run->in.system, run->problem, run->map, run->rows, run->risk.n, centre,
                          run->norm_bound ? &run->factor_features : NULL, run->add_constant, err);
    free(centre);
    return status;
}

static int make_arrays(struct top_interior_run *run, struct error *err) {
    struct top_interior *in = &run->in;
    struct top_point *const point[] = {&in->at, &in->affine, &in->centre, &in->corrector};
    size_t n = in->n, m = in->m;
    in->width = top_system_width(in->system);
    run->width = in->width > 0 ? in->width : m;
    run->block = ARRAYS_CREATE(
        "a dual point", err,
        ARRAYS(4 * n, double, &in->at.x, &in->affine.x, &in->centre.x, &in->corrector.x),
        ARRAYS(n, double, &in->fixed, &in->moving, &in->linear, &in->square, &in->perspective,
               &in->curvature, &in->right, &in->slope, &in->cap_residual, &in->border[0],
               &in->border[1], &in->border[2], &in->column[0], &in->column[1], &in->column[2]),
        ARRAYS(m, double, &in->b, &in->s, &in->E, &in->solved, &run->alpha, &run->beta,
               &run->scores, &run->best_alpha, &run->best_beta),
        ARRAYS(2 * m, double, &run->work),
        ARRAYS(in->width, double, &in->at.f, &in->affine.f, &in->centre.f, &in->corrector.f,
               &in->residual),
        ARRAYS(run->width, double, &run->best_f), ARRAYS(n, size_t, &in->row),
        ARRAYS(m, size_t, &in->alpha_of, &in->beta_of), ARRAYS(n, bool, &in->capped));
    for (size_t p = 0; p < 4 && run->block; p++) {
        point[p]->z = point[p]->x + n;
        point[p]->u = point[p]->z + n;
        point[p]->y = point[p]->u + n;
    }
    return run->block ? 0 : -1;
}

/* Sets the cap and the linear and square terms of variable k, which belongs to row i. */
static void fill_variable(struct top_interior_run *run, size_t k, size_t i) {
    struct top_interior *in = &run->in;
    const struct top_risk *risk = &run->risk;
    struct top_terms terms = top_risk_terms(risk, in->cost, i);
    bool beta = k >= in->n_alpha;
    in->row[k] = i;
    in->border[1][k] = beta ? -1 : 1;
    in->border[2][k] = beta ? 0 : 1;
    if (!beta) {
        in->alpha_of[i] = k;
        in->linear[k] = 1;
        in->square[k] = terms.h;
        in->fixed[k] = terms.max_alpha;
        in->capped[k] = isfinite(terms.max_alpha);
        return;
    }
    in->beta_of[i] = k;
    in->linear[k] = top_risk_beta_offset(risk);
    in->square[k] = terms.q;
    *(in->levelled && isfinite(terms.cap) ? &in->moving[k] : &in->fixed[k]) = terms.cap;
    /* a cap of the whole sum does not restrict */
    in->capped[k] = risk->kind == TOP_MEAN ? terms.cap < 1 : isfinite(terms.cap);
    if (risk->kind == TOP_QUANTILE && risk->square) {
        in->perspective[k] = 2 * risk->theta * risk->theta * risk->mass[i];
    }
}

static const struct row_groups none = {0}; /* no centring */

/* Makes features of a factor of K without the constant feature; *applies is false if there are
 * none. work (m). */
static int make_plain_features(struct top_interior_run *run, double *work, bool *applies,
                               struct error *err) {
    struct problem plain = *run->problem;
    struct score_map map;
    plain.constant = 0;
    if (score_map_create(&map, &plain, err) < 0) {
        return -1;
    }
    int status = map.primal ? 0 : map.diagonal(&map, work, err);
    /* norm_bound includes the constant feature */
    for (size_t i = 0; i < map.n && !map.primal; i++) {
        work[i] = sqrt(fmax(0, work[i])) * (1 + 4 * DBL_EPSILON);
    }
    *applies = !row_features_are_own(&map);
    if (status == 0 && *applies) {
        status = row_features_create(&run->factor_features, &plain, &map, &none,
                                     map.primal ? run->norm_bound : work, applies, err);
    }
    score_map_free(&map);
    return status;
}

/* Makes features of a factor of K, if the m rows are all rows, and few; without the constant
 * feature if that is possible. */
static int make_features(struct top_interior_run *run, size_t m, bool *applies, struct error *err) {
    const struct problem *problem = run->problem;
    *applies = !run->empty_interior && !run->in_set && !problem->cluster &&
               m == run->full_risk->n && row_features_fits(run->map, m, MAX_FACTOR_ROWS) &&
               !row_features_are_own(run->map);
    if (!*applies) {
        return 0;
    }
    run->constant = problem->constant;
    if (problem->constant > 0) {
        double *work = memory_array(m, sizeof *work, "features", err);
        int status = work ? make_plain_features(run, work, &run->add_constant, err) : -1;
        free(work);
        if (status < 0 || run->add_constant) {
            return status;
        }
    }
    return row_features_create(&run->factor_features, problem, run->map, &none, run->norm_bound,
                               applies, err);
}

int top_interior_make(struct top_interior_run *run, bool *applies, struct error *err) {
    struct top_interior *in = &run->in;
    struct top_risk *risk = &run->risk;
    run->empty_interior = has_empty_interior(run->full_risk);
    size_t m = count_rows(run->full_risk, run->in_set, run->empty_interior), k = 0;
    *applies = true;
    if (run->norm_bound && make_features(run, m, applies, err) < 0) {
        return -1;
    }
    if (!*applies) {
        return 0;
    }
    if (make_risk(run, m, err) < 0 || make_system(run, err) < 0) {
        return -1;
    }
    in->cluster = risk->cluster;
    in->risk = risk;
    in->cost = run->cost;
    in->m = m;
    for (size_t i = 0; i < m; i++) {
        in->n_alpha += risk->cost[i] > 0;
        in->n += (risk->cost[i] > 0) + (size_t)(risk->mass[i] > 0);
    }
    in->total = cluster_total(in->cluster, (double)in->n);
    in->balanced = in->levelled = risk->kind != TOP_NONE;
    in->n_borders = risk->kind == TOP_MEAN ? 3 : risk->kind == TOP_QUANTILE ? 2 : 0;
    if (make_arrays(run, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < m; i++) {
        in->alpha_of[i] = in->beta_of[i] = SIZE_MAX;
        if (risk->cost[i] > 0) {
            fill_variable(run, k++, i);
        }
    }
    for (size_t i = 0; i < m; i++) {
        if (risk->mass[i] > 0) {
            fill_variable(run, k++, i);
        }
    }
    return 0;
}

void top_interior_release(struct top_interior_run *run) {
    row_features_free(&run->factor_features);
    top_system_free(run->in.system);
    top_risk_free(&run->risk);
    free(run->block);
    free(run->rows);
}
