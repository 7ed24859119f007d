/* The path of smoothed problems on an SVM with one weight, whose optimum a search over the weight
 * finds: with steps that are searched along and steps that are cut; and every way to end. */
#include "solvers/methods/huber_path.h"
#include "common/base/random.h"
#include "tests/unit/compute.h"

#include <math.h>

enum { ROWS = 40 };

struct bed {
    double x[ROWS], y[ROWS], cost;
    double w, step, gradient, curvature;
    double best_w;                 /* as keep_primal left it */
    double alpha_sum, alpha_w;     /* of the point: sum alpha, sum alpha y x */
    double best_sum, best_alpha_w; /* as keep_dual left them */
    int lowered, steps, steps_left;
};

static double argument_of(const struct bed *bed, size_t i, double w) {
    return 1 - bed->y[i] * bed->x[i] * w;
}

static double primal_at(const struct bed *bed, double w) {
    double sum = 0;
    for (size_t i = 0; i < ROWS; i++) {
        sum += fmax(argument_of(bed, i, w), 0);
    }
    return w * w / 2 + bed->cost * sum;
}

/* The gradient for mu of a point in the band of `band`. */
static double gradient_at(struct bed *bed, double w, double band, double mu) {
    bed->alpha_sum = bed->alpha_w = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double u = argument_of(bed, i, w);
        double alpha = bed->cost * (u <= 0 ? 0 : u >= band ? 1 : u / mu);
        bed->alpha_sum += alpha;
        bed->alpha_w += alpha * bed->y[i] * bed->x[i];
    }
    return w - bed->alpha_w;
}

static int look(void *context, const struct huber_path *path, struct huber_point *at,
                struct error *err) {
    (void)err;
    struct bed *bed = context;
    bed->gradient = gradient_at(bed, bed->w, path->mu, path->mu);
    *at = (struct huber_point){.primal = primal_at(bed, bed->w),
                               .dual = bed->alpha_sum - bed->alpha_w * bed->alpha_w / 2,
                               .residual = bed->gradient * bed->gradient / 2};
    return 0;
}

static void keep_primal(void *context) {
    struct bed *bed = context;
    bed->best_w = bed->w;
}

static void keep_dual(void *context) {
    struct bed *bed = context;
    bed->best_sum = bed->alpha_sum;
    bed->best_alpha_w = bed->alpha_w;
}

static int lower(void *context, double band, double mu, struct error *err) {
    (void)err;
    struct bed *bed = context;
    CHECK(mu < band, "mu goes from %g to %g", band, mu);
    bed->lowered++;
    bed->gradient = gradient_at(bed, bed->w, band, mu);
    return 0;
}

static int step(void *context, const struct huber_path *path, double band, bool *found,
                struct error *err) {
    (void)err;
    struct bed *bed = context;
    double curvature = 1;
    for (size_t i = 0; i < ROWS; i++) {
        double u = argument_of(bed, i, bed->w);
        curvature += u > 0 && u < band ? bed->cost / path->mu * bed->x[i] * bed->x[i] : 0;
    }
    bed->step = -bed->gradient / curvature;
    bed->steps++;
    *found = bed->steps_left-- != 0;
    return 0;
}

/* The gradient rises with w: halve the interval. */
static int search(void *context, const struct huber_path *path, bool *moved, struct error *err) {
    (void)err;
    struct bed *bed = context;
    double low = 0, high = 4;
    double sign = bed->step < 0 ? -1 : 1;
    for (int k = 0; k < 200; k++) {
        double middle = (low + high) / 2, w = bed->w + middle * bed->step;
        *(gradient_at(bed, w, path->mu, path->mu) * sign < 0 ? &low : &high) = middle;
    }
    bed->w += low * bed->step;
    *moved = bed->step != 0;
    return 0;
}

static void move(void *context, double length) {
    struct bed *bed = context;
    bed->w += length * bed->step;
}

static const struct huber_steps SEARCHED = {look, keep_primal, keep_dual, lower,
                                            step, search,      NULL};
static const struct huber_steps CUT = {look, keep_primal, keep_dual, lower, step, search, move};
static const struct huber_pace PACE = {.near = 0.3,
                                       .careful = 0.1,
                                       .bold = 0.01,
                                       .most = 0.5,
                                       .least = 1e-12,
                                       .patience = 40,
                                       .far = 0.9,
                                       .shortest = 0.1,
                                       .corrections = 8,
                                       .back = 5};

static void make_bed(struct bed *bed, double cost, uint64_t seed) {
    struct random random;
    random_start(&random, seed, 0);
    *bed = (struct bed){.cost = cost, .steps_left = -1};
    for (size_t i = 0; i < ROWS; i++) {
        bed->y[i] = random_unit(&random) < 0.5 ? -1 : 1;
        bed->x[i] = bed->y[i] * 0.3 + 2 * random_unit(&random) - 1;
    }
}

static struct huber_path make_path(struct bed *bed, const struct huber_steps *steps) {
    return (struct huber_path){.steps = steps,
                               .context = bed,
                               .pace = &PACE,
                               .epsilon = 1e-6,
                               .kinks = true,
                               .mu = 1,
                               .primal = INFINITY,
                               .dual = -INFINITY};
}

/* The least primal, by thirds of an interval that holds it. */
static double optimum(const struct bed *bed) {
    double low = -100, high = 100;
    for (int k = 0; k < 400; k++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;
        *(primal_at(bed, a) < primal_at(bed, b) ? &high : &low) =
            primal_at(bed, a) < primal_at(bed, b) ? b : a;
    }
    return primal_at(bed, low);
}

/* The bounds are those of the points that were kept. */
static void check_kept(const struct bed *bed, const struct huber_path *path, double best) {
    double dual = bed->best_sum - bed->best_alpha_w * bed->best_alpha_w / 2;
    CHECK(primal_at(bed, bed->best_w) == path->primal, "primal %.17g, kept %.17g", path->primal,
          primal_at(bed, bed->best_w));
    CHECK(dual == path->dual, "dual %.17g, kept %.17g", path->dual, dual);
    CHECK(path->dual <= best * (1 + 1e-12) && path->primal >= best * (1 - 1e-12),
          "[%.17g, %.17g] without %.17g", path->dual, path->primal, best);
}

static void check_reached(void) {
    struct error err;
    int lowered[2] = {0};
    for (uint64_t seed = 1; seed <= 100; seed++) {
        for (int cut = 0; cut < 2; cut++) {
            struct bed bed;
            make_bed(&bed, pow(10, (double)(seed % 7) - 3), seed);
            struct huber_path path = make_path(&bed, cut ? &CUT : &SEARCHED);
            CHECK(huber_path_run(&path, &err) == 0, "failed");
            check_kept(&bed, &path, optimum(&bed));
            CHECK(path.reason == STOP_REACHED && path.primal - path.dual <= 1e-6 * path.primal,
                  "seed %d: [%.17g, %.17g], %s", (int)seed, path.dual, path.primal,
                  stop_message(path.reason));
            lowered[cut] += bed.lowered;
        }
    }
    CHECK(lowered[0] > 100 && lowered[1] > 100, "mu went down %d and %d times", lowered[0],
          lowered[1]);
    printf("ok: the gap is reached, steps searched along or cut\n");
}

static enum stop_reason third(void *context, uint64_t iteration, double primal, double dual) {
    (void)context;
    CHECK(primal >= dual, "[%g, %g]", dual, primal);
    return iteration >= 3 ? STOP_INTERRUPTED : 0;
}

static void check_ends(void) {
    struct error err;
    struct bed bed;
    const struct monitor monitor = {.check = third};
    for (int cut = 0; cut < 2; cut++) {
        const struct huber_steps *steps = cut ? &CUT : &SEARCHED;
        make_bed(&bed, 10, 3);
        double best = optimum(&bed);
        struct huber_path path = make_path(&bed, steps);
        path.monitor = &monitor;
        path.epsilon = 1e-12;
        CHECK(huber_path_run(&path, &err) == 0 && path.reason == STOP_INTERRUPTED &&
                  path.iterations == 3,
              "%s after %d", stop_message(path.reason), (int)path.iterations);
        check_kept(&bed, &path, best);

        /* and on from there */
        path.monitor = NULL;
        path.epsilon = 1e-6;
        CHECK(huber_path_run(&path, &err) == 0 && path.reason == STOP_REACHED, "%s",
              stop_message(path.reason));
        check_kept(&bed, &path, best);

        /* a Hessian that cannot be factored */
        for (int left = 0; left < 4; left++) {
            make_bed(&bed, 10, 3);
            bed.steps_left = left;
            path = make_path(&bed, steps);
            CHECK(huber_path_run(&path, &err) == 0 && path.reason == STOP_ROUNDING &&
                      bed.steps == left + 1,
                  "%s after %d steps", stop_message(path.reason), bed.steps);
            check_kept(&bed, &path, best);
        }

        /* a gap below what doubles can tell */
        make_bed(&bed, 10, 3);
        path = make_path(&bed, steps);
        path.epsilon = 1e-30;
        CHECK(huber_path_run(&path, &err) == 0, "failed");
        CHECK(path.reason == STOP_ROUNDING || path.primal <= path.dual, "%s, [%.17g, %.17g]",
              stop_message(path.reason), path.dual, path.primal);
    }
    printf("ok: limits, rounding and failed factors end it with the best points\n");
}

static void check_try(void) {
    struct error err;
    struct bed bed;
    make_bed(&bed, 1000, 5);
    struct huber_path path = make_path(&bed, &CUT);
    double dual;
    CHECK(huber_path_try(&path, 1, 10, 1e12, &dual, &err) == 0, "failed");
    CHECK(path.mu > 1 && dual == path.dual, "mu %g, dual %g of %g", path.mu, dual, path.dual);
    for (double mu = 1; mu <= 1e12; mu *= 10) {
        gradient_at(&bed, 0, mu, mu);
        double at = bed.alpha_sum - bed.alpha_w * bed.alpha_w / 2;
        CHECK(at <= dual, "mu %g has the bound %g, above %g", mu, at, dual);
    }
    printf("ok: the mu to start from has the best bound of all that were tried\n");
}

int main(void) {
    check_reached();
    check_ends();
    check_try();
    return 0;
}
