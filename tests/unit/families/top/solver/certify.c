/* Certificates at the top, on rows of one feature: the loss with its rounding-error bound, and the
 * bound that is subtracted from the dual, by their definitions. On one process, and over
 * processes. */
#define _GNU_SOURCE
#include "families/top/solver/certify.h"

#include "tests/unit/fit/line.h"
#include "tests/unit/ranks.h"

enum { N = 12 };

struct scene {
    struct line line;
    struct top_certifier certifier;
    struct top_risk risk;
    size_t ranks;
    double weights[N], alpha[N], beta[N];
    /* for certificates over processes: */
    double cost;
    struct certificate found;
    struct top_level level;
    double nothing;
};

/* Scores that are close to one another and large, so that their rounding-error bounds have many
 * digits; one row is far below them and has the largest error. The kink of the quantile's loss is
 * at some rows, or not. */
static void take_high(struct scene *scene, float *x, bool kernel, bool kink,
                      struct random *random) {
    struct top_risk *risk = &scene->risk;
    size_t far = kink ? 0 : 4;
    for (size_t i = 0; i < N; i++) {
        x[i] = 1 + (float)random_below(random, 8) * 0x1p-20F;
    }
    risk->cost[far] = 0;
    risk->mass[far] = .5;
    x[far] = -1.25F;
    x[N - 1] = 1;
    x[7] = x[5];
    scene->weights[0] = 0;
    scene->weights[kernel ? N - 1 : 0] = 0x1p20;
    risk->theta = kink ? 2 : risk->theta;
    double t = 0x1p20 + (double)random_below(random, 8) + .5;
    for (size_t i = 1; i < N && kink; i++) { /* the budget that makes t the threshold */
        double v = fmax(0, 1 + 2 * ((double)x[i] * 0x1p20 - t));
        risk->budget += risk->mass[i] * (risk->square ? v * v : v) - (i == 1 ? risk->budget : 0);
    }
    risk->budget = fmax(risk->budget, .5);
}

/* n_all: number of rows in the sums, N of which are on this process. */
static void open_scene(struct scene *scene, float *x, enum top_kind kind, bool square, bool kernel,
                       size_t n_all, bool high, bool kink, struct random *random) {
    *scene = (struct scene){.ranks = 1};
    for (size_t i = 0; i < N; i++) {
        x[i] = i == 7 ? x[5] : (float)(2 * random_unit(random) - 1);
    }
    MUST(top_risk_create(&scene->risk, N, &err));
    scene->risk.kind = kind;
    scene->risk.square = square;
    for (size_t i = 0; i < N; i++) {
        *(i < 5 ? &scene->risk.cost[i] : &scene->risk.mass[i]) = i % 4 == 2 ? 1.5 : 1;
    }
    scene->risk.mass[1] = kind == TOP_NONE ? 0 : .5; /* in both */
    scene->risk.theta = .5 + random_unit(random);
    scene->risk.budget = 2 * random_unit(random) + .3;
    scene->weights[0] = 3 * random_unit(random);
    if (high) {
        take_high(scene, x, kernel, kink, random);
    }
    top_risk_ready(&scene->risk, 2.5);
    scene->risk.n_all = n_all;
    line_open(&scene->line, x, N, kernel, (struct data){0});
    MUST(top_certifier_create(&scene->certifier, &scene->line.problem, &scene->line.map, 0, &err));
}

static void close_scene(struct scene *scene) {
    top_risk_free(&scene->risk);
    top_certifier_free(&scene->certifier);
    line_close(&scene->line);
}

/* A dual point that is feasible up to rounding: that of the cutting plane at some scores, times the
 * cost. */
static void take_dual(struct scene *scene, double cost, struct random *random) {
    double s[N], g[N], offset;
    for (size_t i = 0; i < N; i++) {
        s[i] = 2 * random_unit(random) - 1;
    }
    top_risk_cut(&scene->risk, s, g, &offset);
    for (size_t i = 0; i < N; i++) {
        scene->alpha[i] = cost * scene->risk.slope[i];
        scene->beta[i] = cost * scene->risk.slopes * scene->risk.p[i];
    }
}

/* The largest error of a score of w x, and that of row i. */
static double error_of(const struct scene *scene, size_t i) {
    double w = scene->weights[0], factor = certify_error_factor(scene->certifier.certify), sum = 0;
    double x = fabs((double)scene->line.x[i]);
    size_t used = 0;
    for (size_t j = 0; j < N && scene->line.gram; j++) {
        used += scene->weights[j] != 0;
        sum += scene->weights[j] * (double)scene->line.x[j];
    }
    double s = (double)scene->line.x[i] * (scene->line.gram ? sum : w);
    double norm_bound = 0;
    for (size_t j = 0; j < N && scene->line.gram; j++) {
        norm_bound += fabs(scene->weights[j] * (double)scene->line.x[j]);
    }
    return scene->line.gram ? (factor + (double)(used + 8) * line_unit) * x * norm_bound +
                                  6 * line_unit * fabs(s)
                            : (factor + 2 * line_unit) * x * fabs(w) + 6 * line_unit * fabs(s);
}

/* Scores of the rows (N). */
static void plain_scores(const struct scene *scene, double *s) {
    double w = 0;
    for (size_t j = 0; j < line_weights(&scene->line); j++) {
        w += scene->weights[j] * (scene->line.gram ? (double)scene->line.x[j] : 1);
    }
    for (size_t i = 0; i < N; i++) {
        volatile double rounded = (double)scene->line.x[i] * w; /* not fused with the next one */
        s[i] = rounded;
    }
}

/* The loss at the weights and its rounding-error bound if the threshold has the error `off`;
 * *threshold receives it. Each process bounds the error of its rows; the sum over processes has its
 * own. */
static double plain_loss(struct scene *scene, double cost, double t, double off, double *threshold,
                         double *rounding) {
    struct top_risk *risk = &scene->risk;
    double s[N], p[N], value = 0, most = off;
    plain_scores(scene, s);
    *threshold = top_risk_threshold(risk, s, p);
    *rounding = 0;
    /* errors of rows that determine the threshold, or are within rounding of it */
    double least = INFINITY;
    for (size_t i = 0; i < N; i++) {
        least = p[i] > 0 ? fmin(least, s[i]) : least;
    }
    least -= 1e-13 * (1 + fabs(least));
    for (size_t i = 0; i < N; i++) {
        bool makes = risk->mass[i] > 0 && s[i] >= least;
        most = risk->kind != TOP_NONE && makes ? fmax(most, error_of(scene, i)) : most;
    }
    double own = 0, lost = 0;
    for (size_t i = 0, rank = 0; i < N; i++) {
        double slack = 2 * most + error_of(scene, i) + 4 * DBL_EPSILON * (1 + fabs(t) + fabs(s[i]));
        double weight[2] = {cost * risk->cost[i],
                            risk->kind == TOP_NONE ? cost * risk->mass[i] : 0};
        double u[2] = {t - s[i], s[i]};
        for (int side = 0; side < 2; side++) {
            double loss = weight[side] * top_loss(risk->square, u[side]);
            own += loss;
            lost += fmax(0, weight[side] * top_loss(risk->square, u[side] + slack) - loss);
        }
        size_t first = ranks_first(rank, scene->ranks, N);
        if (i + 1 == ranks_first(rank + 1, scene->ranks, N)) {
            lost += (double)(i + 1 - first + 8) * DBL_EPSILON * (own + lost) + line_unit * own;
            value += own;
            *rounding += lost;
            own = lost = 0;
            rank++;
        }
    }
    *rounding += scene->ranks > 1 ? (double)scene->ranks * line_unit * (value + *rounding) : 0;
    return value;
}

/* The error bound of the mean's threshold: of its sum, and of the part of the last row. */
static double off_of_mean(const struct scene *scene) {
    const double k = 2.5;
    double s[N], left = k, size = 0, whole = 0, last = 0;
    bool taken[N] = {false};
    plain_scores(scene, s);
    while (left > 1e-12) { /* the highest score first */
        size_t best = N;
        for (size_t i = 0; i < N; i++) {
            bool free_row = !taken[i] && scene->risk.mass[i] > 0;
            best = free_row && (best == N || s[i] > s[best]) ? i : best;
        }
        taken[best] = true;
        double part = fmin(left, scene->risk.mass[best]);
        whole = part == scene->risk.mass[best] ? fabs(s[best]) : whole;
        left -= part;
        size += part * fabs(s[best]);
        last = fabs(s[best]);
    }
    double sums =
        (double)scene->risk.n_all * (double)LDBL_EPSILON + (double)(scene->ranks - 1) * DBL_EPSILON;
    return (sums + 4 * DBL_EPSILON) * size / k + (whole > 0 ? sums * (whole + last) : 0);
}

/* The excess of the quantile's equation at t, with its error bound. */
static long double plain_excess(const struct scene *scene, const double *s, long double t,
                                long double *slope, long double *error) {
    const struct top_risk *risk = &scene->risk;
    long double sum = 0, theta = (long double)risk->theta, budget = (long double)risk->budget;
    *slope = *error = 0;
    for (size_t i = 0; i < N; i++) {
        long double mass = (long double)risk->mass[i], lift = theta * ((long double)s[i] - t);
        long double off = 4 * LDBL_EPSILON * (1 + fabsl(lift)), v = fmaxl(0, 1 + lift);
        sum += mass * (risk->square ? v * v : v);
        *slope += v > 0 ? mass * theta * (risk->square ? 2 * v : 1) : 0;
        *error += 1 + lift <= -off ? 0 : risk->square ? mass * (2 * v + off) * off : mass * off;
    }
    *error += (((long double)risk->n_all + 8) * LDBL_EPSILON +
               (long double)(scene->ranks - 1) * DBL_EPSILON) *
              (sum + budget);
    return sum - budget;
}

/* The quantile's threshold: rounded to double, and as accurate as its equation. */
static double off_of_quantile(const struct scene *scene, double t) {
    double s[N];
    long double slope, error;
    plain_scores(scene, s);
    plain_excess(scene, s, (long double)t, &slope, &error);
    double half = DBL_EPSILON * fabs(t) + (double)(2 * error / slope);
    for (;; half *= 4) {
        long double end = (long double)t, width = (long double)half;
        bool above = plain_excess(scene, s, end - width, &slope, &error) > error;
        if (above && plain_excess(scene, s, end + width, &slope, &error) < -error) {
            return half + DBL_EPSILON * fabs(t);
        }
    }
}

static void work_rank(struct cluster *cluster, void *context) {
    struct scene *scene = context;
    struct data data = scene->line.data;
    size_t rank = cluster_rank(cluster), first = ranks_cut(cluster, scene->ranks, &data);
    size_t n = data.n_rows;
    const struct problem problem = {.data = &data, .n = n, .cluster = cluster};
    struct score_map map;
    struct top_certifier certifier;
    struct top_risk risk;
    MUST(score_map_create(&map, &problem, &err));
    MUST(top_certifier_create(&certifier, &problem, &map, 0, &err));
    MUST(top_risk_create(&risk, n, &err));
    risk.kind = scene->risk.kind;
    risk.square = scene->risk.square;
    risk.theta = scene->risk.theta;
    risk.budget = scene->risk.budget;
    risk.cluster = cluster;
    for (size_t i = 0; i < n; i++) {
        risk.cost[i] = scene->risk.cost[first + i];
        risk.mass[i] = scene->risk.mass[first + i];
    }
    top_risk_ready(&risk, 2.5);
    double weights[1] = {scene->weights[0]}, alpha[N], beta[N], nothing;
    struct top_level level;
    memcpy(alpha, scene->alpha + first, n * sizeof *alpha);
    memcpy(beta, scene->beta + first, n * sizeof *beta);
    struct fit fit = {.weights = weights, .alpha = alpha, .beta = beta};
    struct certificate found;
    MUST(top_certify(&certifier, &risk, scene->cost, INFINITY, &fit, &found, &level, &err));
    MUST(top_loss_at_zero(&risk, scene->cost, &nothing, &err));
    CHECK(ranks_agree(cluster, found.rounding) && ranks_agree(cluster, found.dual) &&
              ranks_agree(cluster, level.threshold) && ranks_agree(cluster, level.highest),
          "rank %zu has another certificate", rank);
    memcpy(scene->alpha + first, alpha, n * sizeof *alpha); /* as made feasible */
    memcpy(scene->beta + first, beta, n * sizeof *beta);
    if (rank == 0) {
        scene->found = found;
        scene->level = level;
        scene->nothing = nothing;
    }
    top_risk_free(&risk);
    top_certifier_free(&certifier);
    score_map_free(&map);
}

/* Sums of the dual point; apart: sum of alpha less that of beta; off: its error bound. */
struct sums {
    long double alpha, beta, apart, off;
};

static struct sums plain_sums(const struct scene *scene) {
    struct sums sums = {0};
    for (size_t i = 0; i < N; i++) {
        sums.alpha += (long double)scene->alpha[i];
        sums.beta += (long double)scene->beta[i];
        sums.apart += (long double)scene->alpha[i] - (long double)scene->beta[i];
    }
    long double each = ((long double)scene->risk.n_all + 8) * 0x1p-104L;
    each += scene->ranks > 1 ? (long double)(scene->ranks + 1) * LDBL_EPSILON : 0;
    sums.off = each * (sums.alpha + sums.beta);
    return sums;
}

/* An upper bound of the excess of an entry over its cap; a cap of the whole sum does not
 * restrict. */
static double over_cap(const struct scene *scene, size_t j, const struct sums *sums, double value) {
    const struct top_risk *risk = &scene->risk;
    long double shares = -1;
    for (size_t i = 0; i < N; i++) {
        shares += (long double)risk->share[i];
    }
    double caps =
        shares > 0 && shares < ((double)risk->n_all + 8) * DBL_EPSILON ? (double)shares : 0;
    double cap = (1 - (3.51 * DBL_EPSILON + caps)) * risk->share[j] * (double)sums->alpha;
    return risk->share[j] < 1 || risk->mass_error > 0 ? fmax(0, value - cap) : 0;
}

/* Errors (N) of beta if its sum or its caps do not hold: the excess goes to the entry nearest to 0
 * that has room, else to the farthest. Returns the relative change by scaling. */
static double plain_errors(const struct scene *scene, const struct sums *sums, double *error) {
    const double *norm_bound = certify_norm_bounds(scene->certifier.certify);
    bool mean = scene->risk.kind == TOP_MEAN;
    double apart = (double)(fabsl(sums->apart) + sums->off), over = apart;
    size_t far = 0, taker = N;
    double part = sums->beta > 0 ? apart / (double)sums->beta : 0, cut = 0;
    for (size_t i = 0; i < N; i++) {
        far = norm_bound[i] > norm_bound[far] ? i : far;
        over += over_cap(scene, i, sums, scene->beta[i]);
    }
    for (size_t i = 0; i < N && mean && scene->ranks <= 1; i++) {
        bool takes = scene->beta[i] >= over &&
                     over_cap(scene, i, sums, (scene->beta[i] + over) * (1 + DBL_EPSILON)) <= 0;
        taker = takes && (taker == N || norm_bound[i] < norm_bound[taker]) ? i : taker;
    }
    for (size_t i = 0; i < N; i++) {
        if (taker < N) {
            error[i] = over_cap(scene, i, sums, scene->beta[i]) + (i == taker ? over : 0);
        } else {
            double scaled = (1 + part) * scene->beta[i] * (1 + 2 * DBL_EPSILON);
            double off = mean ? over_cap(scene, i, sums, scaled) : 0;
            error[i] = part * scene->beta[i] + off;
            cut += off;
        }
    }
    if (taker == N && mean) {
        error[far] += part * (double)sums->beta + cut;
    }
    return taker < N ? 0 : part;
}

/* The bound that is subtracted for the current dual point. */
static double plain_dual(const struct scene *scene, double cost, double *linear, double *norm,
                         double *rounding) {
    const struct top_risk *risk = &scene->risk;
    bool kernel = scene->line.gram, quantile = risk->kind == TOP_QUANTILE;
    double ranks = (double)(scene->ranks - 1), squares = 0, g = 0, part = 0, b[N], error[N] = {0};
    double units = ((double)risk->n_all + 8 + ranks) * DBL_EPSILON,
           used = ranks > 0 ? ranks + 1 : 0;
    struct sums sums = plain_sums(scene);
    if (risk->kind != TOP_NONE) {
        part = plain_errors(scene, &sums, error);
    }
    for (size_t i = 0; i < N; i++) {
        double alpha = scene->alpha[i], beta = scene->beta[i];
        b[i] = alpha - beta;
        g += b[i] * (double)scene->line.x[i];
        used += alpha != beta;
        squares += risk->square && alpha > 0 ? alpha * alpha / (4 * cost * risk->cost[i]) : 0;
        squares += risk->square && risk->kind == TOP_NONE && beta > 0
                       ? beta * beta / (4 * cost * risk->mass[i])
                       : 0;
    }
    if (kernel) { /* equal rows have one coefficient */
        long double joined = (long double)scene->alpha[5] - (long double)scene->beta[5];
        joined += (long double)scene->alpha[7] - (long double)scene->beta[7];
        b[5] = (double)joined;
        error[5] += (double)fabsl(joined - (long double)b[5]);
        b[7] = 0;
    }
    for (size_t i = 0; i < N; i++) {
        long double exact = (long double)scene->alpha[i] - (long double)scene->beta[i];
        bool joined = kernel && (i == 5 || i == 7);
        error[i] += joined ? 0 : (double)fabsl(exact - (long double)b[i]);
        error[i] += kernel ? 0 : (used + 2) * line_unit * fabs(b[i]);
    }
    double lifted = quantile                 ? (double)sums.beta / risk->theta
                    : risk->kind == TOP_NONE ? (double)sums.beta
                                             : 0;
    *linear = top_risk_dual(risk, cost, scene->alpha, scene->beta);
    double pull = quantile ? fabs((double)sums.alpha + lifted - squares - *linear) : 0;
    *rounding = units * ((double)sums.alpha + squares + lifted + pull) +
                (quantile ? part * (lifted + pull) : 0);
    return kernel ? line_rounding(&scene->line, 1, b, error, norm)
                  : line_rounding(&scene->line, 1, &g, error, norm);
}

/* The primal at a multiple of the weights, by its definition. */
static double primal_at(struct scene *scene, double cost, double length) {
    struct scene other = *scene;
    double t, lost, norm, none[N] = {0};
    for (size_t j = 0; j < line_weights(&scene->line); j++) {
        other.weights[j] *= length;
    }
    line_rounding(&scene->line, 1, other.weights, none, &norm);
    plain_loss(&other, cost, 0, 0, &t, &lost);
    return .5 * norm + plain_loss(&other, cost, t, 0, &t, &lost);
}

static void check_nothing(struct scene *scene, double cost, double nothing) {
    struct scene zero = *scene;
    double t, lost;
    memset(zero.weights, 0, sizeof zero.weights);
    plain_loss(&zero, cost, 0, 0, &t, &lost);
    double off = zero.risk.kind == TOP_QUANTILE ? off_of_quantile(&zero, t) : 0;
    double value = plain_loss(&zero, cost, t, off, &t, &lost), ranks = (double)(scene->ranks - 1);
    lost -= line_unit * value; /* the error bound of the shared certificate */
    lost -= ranks > 0 ? (ranks + 1) * line_unit * value : 0;
    lost += ranks * DBL_EPSILON * value;
    double unit = (zero.risk.kind == TOP_NONE ? 1 : 8) * DBL_EPSILON * value;
    CHECK(fabs(nothing - value - lost) <= unit + 1e-300, "nothing %.17g, not %.17g", nothing,
          value + lost);
}

/* high: bounds of the scene */
static void check_certificate(struct scene *scene, double cost, bool high) {
    enum top_kind kind = scene->risk.kind;
    struct fit fit = {.weights = scene->weights, .alpha = scene->alpha, .beta = scene->beta};
    struct certificate found, longer;
    struct top_level level, again;
    double t, none[N] = {0}, lost, least, linear, norm, of_f, rounding, f_norm, nothing;
    scene->cost = cost;
    if (scene->ranks > 1) {
        ranks_run(scene->ranks, work_rank, scene);
        found = scene->found;
        level = scene->level;
        nothing = scene->nothing;
    } else {
        MUST(top_certify(&scene->certifier, &scene->risk, cost, INFINITY, &fit, &found, &level,
                         &err));
        MUST(top_loss_at_zero(&scene->risk, cost, &nothing, &err));
    }
    double of_g = plain_dual(scene, cost, &linear, &norm, &rounding);
    of_f = line_rounding(&scene->line, 1, scene->weights, none, &f_norm);
    double off = kind == TOP_MEAN       ? off_of_mean(scene)
                 : kind == TOP_QUANTILE ? off_of_quantile(scene, level.threshold)
                                        : 0;
    double value = plain_loss(scene, cost, level.threshold, off, &t, &lost);
    CHECK(found.zero_primal == nothing, "nothing %g", nothing);
    check_nothing(scene, cost, nothing);
    CHECK_NEAR(found.primal, fmin(.5 * f_norm + value, nothing), 1e-12, "primal");
    CHECK_CLOSE(level.threshold, t, 1e-14 * (1 + fabs(t)), "threshold");
    double s[N], highest = -INFINITY;
    plain_scores(scene, s);
    for (size_t i = 0; i < N; i++) {
        highest = fmax(highest, s[i]);
    }
    CHECK_CLOSE(level.highest, highest, 1e-13 * (1 + fabs(highest)), "highest score");
    double rest = rounding + .5 * (of_f + of_g);
    CHECK_CLOSE(found.dual, fmax(0, linear - .5 * norm),
                1e-12 * (fabs(linear) + norm) + found.rounding, "dual");
    double unlike = high ? 1e-6 * lost + (scene->line.gram ? 1e-8 : 1e-12) * rest
                         : 1e-9 * found.rounding + 4 * DBL_EPSILON * (1 + value);
    /* an excess over a cap is rounded as beta is */
    for (size_t i = 0; i < N && kind == TOP_MEAN; i++) {
        double norm_bound = certify_norm_bounds(scene->certifier.certify)[i];
        unlike += 4 * DBL_EPSILON * scene->beta[i] * norm_bound * sqrt(norm);
    }
    CHECK(fabs(found.rounding - rest - lost) <= unlike, "kind %d: paid %.12g, not %.12g", (int)kind,
          found.rounding, rest + lost);
    if (scene->ranks > 1) {
        return;
    }
    /* another multiple is tried if the gap is not reached, and taken if it is better */
    double before = scene->weights[0];
    MUST(top_certify(&scene->certifier, &scene->risk, cost, 0, &fit, &longer, &again, &err));
    CHECK(longer.primal <= found.primal &&
              (longer.primal < found.primal || scene->weights[0] == before),
          "a longer w is worse: %g after %g", longer.primal, found.primal);
    for (int k = -40; k <= 40 && !high; k++) { /* no multiple of the result is better */
        double other = primal_at(scene, cost, exp2(k / 8.));
        CHECK(longer.primal <= other * (1 + 1e-10) || longer.primal == nothing,
              "primal %.12g, and %.12g at 2^(%d/8)", longer.primal, other, k);
    }
    plain_loss(scene, cost, 0, 0, &t, &least);
    CHECK_CLOSE(again.threshold, t, 1e-13 * (1 + fabs(t)), "threshold of the weights there are");
}

/* The certificate of weights and a dual point on rows of `width` features and a constant one, for
 * the target gap epsilon. */
static struct certificate certify_rows(float *x, uint32_t width, double constant, bool kernel,
                                       double epsilon, struct scene *scene) {
    struct certificate found;
    struct score_map map;
    struct top_certifier certifier;
    double weights[N], alpha[N], beta[N];
    struct top_level level;
    struct fit fit = {.weights = weights, .alpha = alpha, .beta = beta};
    struct data data = {.n_rows = N, .n_features = width, .value = x};
    const struct kernel linear = {.type = KERNEL_LINEAR};
    struct gram *gram = NULL;
    if (kernel) {
        MUST(gram_create(&gram, &linear, &data, 1 << 20, true, NULL, &err));
    }
    const struct problem problem = {.data = &data, .gram = gram, .n = N};
    struct problem own = problem;
    own.constant = constant;
    MUST(score_map_create(&map, &own, &err));
    MUST(top_certifier_create(&certifier, &problem, &map, constant, &err));
    memcpy(weights, scene->weights, sizeof weights);
    memcpy(alpha, scene->alpha, sizeof alpha);
    memcpy(beta, scene->beta, sizeof beta);
    MUST(top_certify(&certifier, &scene->risk, 1.25, epsilon, &fit, &found, &level, &err));
    top_certifier_free(&certifier);
    score_map_free(&map);
    gram_free(gram);
    return found;
}

/* A constant feature equals a feature with its value in all rows. */
static void check_constant(double constant, bool kernel, struct random *random) {
    float x[N], both[2 * N];
    struct scene scene;
    open_scene(&scene, x, TOP_NONE, false, kernel, N, false, false, random);
    take_dual(&scene, 1.25, random);
    for (size_t i = 0; i < N; i++) { /* a fit that is better than w = 0 */
        x[i] = (float)((i < 5 ? 1 : -1) * (.2 + random_unit(random)));
        both[2 * i] = x[i];
        both[2 * i + 1] = (float)constant;
        scene.weights[i] = (i < 5 ? 1 : -1) * (.02 + .05 * random_unit(random));
        scene.alpha[i] *= .1;
        scene.beta[i] *= .1;
    }
    struct certificate apart = certify_rows(x, 1, constant, kernel, INFINITY, &scene);
    struct certificate among = certify_rows(both, 2, 0, kernel, INFINITY, &scene);
    struct certificate best = certify_rows(x, 1, constant, kernel, 0, &scene);
    CHECK(near(apart.primal, among.primal, 1e-12) && apart.primal < apart.zero_primal,
          "constant %g: primal %g, not %g", constant, apart.primal, among.primal);
    CHECK(fabs(apart.dual - among.dual) <= 1e-12 * among.primal && apart.dual > 0,
          "constant %g: dual %g, not %g", constant, apart.dual, among.dual);
    CHECK_NEAR(apart.norm, among.norm, 1e-12, "constant %g: norm", constant);
    CHECK(best.primal < apart.primal - 1e-3,
          "constant %g: primal %g of the best bias, not below %g", constant, best.primal,
          apart.primal);
    close_scene(&scene);
}

/* Margins that are exactly 1 have a loss within rounding, which a slightly longer w avoids. */
static void check_longer(struct random *random) {
    float x[N];
    struct scene scene;
    open_scene(&scene, x, TOP_NONE, false, false, N, false, false, random);
    scene.weights[0] = 1;
    for (size_t i = 0; i < N; i++) {
        x[i] = i < 5 ? 1 : -1;
        scene.risk.mass[i] = i >= 5;
    }
    struct top_certifier certifier;
    MUST(top_certifier_create(&certifier, &scene.line.problem, &scene.line.map, 0, &err));
    struct fit fit = {.weights = scene.weights, .alpha = scene.alpha, .beta = scene.beta};
    struct certificate as_it_is, longer;
    struct top_level level;
    MUST(top_certify(&certifier, &scene.risk, 1e6, INFINITY, &fit, &as_it_is, &level, &err));
    MUST(top_certify(&certifier, &scene.risk, 1e6, 0, &fit, &longer, &level, &err));
    CHECK(as_it_is.primal > .5 + 1e-9 && longer.primal < .5 + 1e-12, "primal %.15g, longer %.15g",
          as_it_is.primal, longer.primal);
    top_certifier_free(&certifier);
    close_scene(&scene);
}

/* The bias of a constant feature from weights and from coefficients, and a given bias. */
static void check_bias(struct scene *scene) {
    static const double constants[] = {0, 3, 1};
    for (int i = 0; i < 4; i++) {
        double w[N] = {1, 2, 4, .5}, alpha[N] = {0}, beta[N] = {0};
        struct top_level level;
        struct top_certifier own = scene->certifier;
        struct fit fit = {.weights = w, .alpha = alpha, .beta = beta};
        struct certificate found;
        own.constant = constants[i % 3];
        double expected = own.constant * (scene->line.gram ? 7.5 * own.constant : w[0]);
        if (i == 3) {
            fit.has_bias = true;
            fit.bias = expected = -.25;
        }
        MUST(top_certify(&own, &scene->risk, 1, INFINITY, &fit, &found, &level, &err));
        CHECK(fit.bias == expected, "bias %g, not %g", fit.bias, expected);
    }
}

int main(void) {
    struct random random = sample_random(10, 0);
    for (int round = 0; round < 384; round++) {
        float x[N];
        struct scene scene;
        double cost = round & 4 ? .1 : 1.25;
        bool high = (round & 64) && round % 3 != TOP_NONE;
        open_scene(&scene, x, (enum top_kind)(round % 3), round & 1, round & 8,
                   round & 16 ? 100000 : N, high, round & 32, &random);
        if (!(round & 8) && !(round & 16) && (round & 128) && !(high && (round & 32))) {
            scene.ranks = 3;
        }
        take_dual(&scene, cost, &random);
        double weights[N];
        memcpy(weights, scene.weights, sizeof weights);
        check_certificate(&scene, cost, high);
        check_bias(&scene);
        memcpy(scene.weights, weights, sizeof weights); /* restored */
        memset(scene.alpha, 0, sizeof scene.alpha);
        memset(scene.beta, 0, sizeof scene.beta);
        check_certificate(&scene, cost, high);
        close_scene(&scene);
    }
    check_longer(&random);
    printf("ok: certificates at the top are those of the definition, and what they pay\n");
    for (int round = 0; round < 4; round++) {
        check_constant(round & 1 ? .5 : 2, round & 2, &random);
    }
    printf("ok: a constant feature is one like others\n");
    return 0;
}
