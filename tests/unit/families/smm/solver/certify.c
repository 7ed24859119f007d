/* Certificates of one subproblem on matrices with a single cell that is not 0, where the nuclear
 * norm is |w| and thresholding subtracts tau: bounds, rounding-error bounds, and the cost of
 * y'alpha != 0. In one process and over several. */
#define _GNU_SOURCE
#include "families/smm/solver/certify.h"

#include "tests/unit/fit/line.h"
#include "tests/unit/ranks.h"

enum { N = 8, CELLS = 6 };

struct scene {
    struct line line;
    struct smm_matrices matrices;
    struct binary_loss loss;
    size_t height, width, cell; /* the cell that is not 0 */
    size_t ranks;
    float x[N], value[N * CELLS];
    double y[N], cost[N], alpha[N], W[CELLS], bias, tau;
    struct certificate found;
};

/* round: chooses loss, matrices and number of processes. Costs are `size` times 6 and 2 in all, by
 * sides. apart: the sides lie on either side of 0. */
static void open_scene(struct scene *scene, unsigned round, double size, bool apart,
                       struct random *random) {
    bool wide = round & 4;
    *scene = (struct scene){.loss = {.squared = round & 1}, .height = 1, .width = 1, .ranks = 1};
    if (wide) {
        scene->height = round & 8 ? 3 : 2;
        scene->width = CELLS / scene->height;
        scene->cell = CELLS - 2;
    }
    scene->ranks = round & 16 ? 3 : 1;
    size_t cells = scene->height * scene->width;
    for (size_t i = 0; i < N; i++) {
        double u = random_unit(random);
        scene->y[i] = i % 2 ? 1 : -1;
        scene->x[i] = (float)(apart ? scene->y[i] * (.5 + u) : 2 * u - 1);
        scene->value[i * cells + scene->cell] = scene->x[i];
        scene->cost[i] = size * (i % 2 ? 1.5 : .5);
    }
    scene->loss.y = scene->y;
    scene->loss.cost = scene->cost;
    line_open(&scene->line, scene->x, N, false,
              (struct data){.n_features = (uint32_t)cells, .value = scene->value});
    scene->matrices = (struct smm_matrices){
        .data = &scene->line.data, .n = N, .height = scene->height, .width = scene->width};
}

/* In pairs whose sum is exactly 0, at the bounds or between them. */
static void take_alpha(struct scene *scene, bool bounds, struct random *random) {
    for (size_t i = 0; i < N; i += 2) {
        double cost = scene->cost[0], part = (double)random_below(random, 32) / 32;
        part = bounds && part < .75 ? part < .25 : part;
        scene->alpha[i] = scene->alpha[i + 1] = i == 4 ? 0 : part * cost;
    }
}

static double sum_of(const struct scene *scene, bool positive, const double *values) {
    double sum = 0;
    for (size_t i = 0; i < N; i++) {
        sum += (scene->y[i] > 0) == positive ? values[i] : 0;
    }
    return sum;
}

static double plain_nothing(const struct scene *scene) {
    double a = sum_of(scene, true, scene->cost), b = sum_of(scene, false, scene->cost);
    return scene->loss.squared ? 4 * a * b / (a + b) : 2 * fmin(a, b);
}

/* The loss with its rounding-error bound: of each process's rows, and of their sum. */
static double plain_loss(const struct scene *scene, double *rounding) {
    double w = scene->W[scene->cell], b = scene->bias, all = 0;
    double k = (double)(scene->height < scene->width ? scene->height : scene->width);
    *rounding = 0;
    for (size_t r = 0; r < scene->ranks; r++) {
        size_t first = ranks_first(r, scene->ranks, N), end = ranks_first(r + 1, scene->ranks, N);
        double value = r == 0 ? scene->tau * fabs(w) : 0;
        *rounding += value * 16 * (double)(scene->height + scene->width) * k * DBL_EPSILON;
        for (size_t i = first; i < end; i++) {
            double x = (double)scene->x[i], s = x * w + b;
            double error =
                (certify_error_factor(scene->line.certify) + 2 * line_unit) * fabs(x * w) +
                6 * line_unit * (fabs(s) + fabs(b));
            double slack = error + DBL_EPSILON * (1 + fabs(s));
            double u = fmax(0, 1 - scene->y[i] * s), most = fmax(0, 1 - scene->y[i] * s + slack);
            value += scene->cost[i] * (scene->loss.squared ? u * u : u);
            *rounding += scene->cost[i] * (scene->loss.squared ? most * most - u * u : most - u);
        }
        *rounding += ((double)(end - first + 4) * DBL_EPSILON + line_unit) * value;
        all += value;
    }
    *rounding += scene->ranks > 1 ? (double)scene->ranks * line_unit * (all + *rounding) : 0;
    return all;
}

static struct certificate certify_rows(const struct scene *scene, struct certify *certify,
                                       const struct smm_matrices *matrices,
                                       const struct binary_loss *loss, size_t first) {
    struct certificate found;
    const struct smm_claim claim = {.matrices = matrices,
                                    .loss = loss,
                                    .tau = scene->tau,
                                    .W = scene->W,
                                    .bias = scene->bias,
                                    .alpha = scene->alpha + first};
    MUST(smm_certify(certify, &claim, &found, &err));
    return found;
}

static void work_rank(struct cluster *cluster, void *context) {
    struct scene *scene = context;
    struct data data = scene->line.data;
    size_t rank = cluster_rank(cluster), first = ranks_cut(cluster, scene->ranks, &data);
    size_t n = data.n_rows;
    const struct problem problem = {.data = &data, .n = n, .cluster = cluster};
    struct score_map map;
    struct certify *certify;
    MUST(score_map_create(&map, &problem, &err));
    MUST(certify_create(&certify, &problem, &map, 0, &err));
    struct smm_matrices matrices = scene->matrices;
    matrices.data = &data;
    matrices.n = n;
    matrices.cluster = cluster;
    struct binary_loss loss = scene->loss;
    loss.y += first;
    loss.cost += first;
    loss.cluster = cluster;
    struct certificate found = certify_rows(scene, certify, &matrices, &loss, first);
    CHECK(ranks_agree(cluster, found.rounding) && ranks_agree(cluster, found.dual),
          "rank %zu has another certificate", rank);
    if (rank == 0) {
        scene->found = found;
    }
    certify_free(certify);
    score_map_free(&map);
}

static struct certificate certificate_of(struct scene *scene) {
    if (scene->ranks > 1) {
        ranks_run(scene->ranks, work_rank, scene);
        return scene->found;
    }
    return certify_rows(scene, scene->line.certify, &scene->matrices, &scene->loss, 0);
}

/* off: how far the rounding-error bound may be from the plain sum, besides a tiny share of it. */
static void check_certificate(struct scene *scene, double off) {
    const double *norm_bound = certify_norm_bounds(scene->line.certify);
    bool squared = scene->loss.squared;
    double excess = 0, w = scene->W[scene->cell], tau = scene->tau,
           cells = (double)scene->line.data.n_features;
    double ranks = (double)scene->ranks - 1, unit_of_svd = 16 * DBL_EPSILON;
    double lost, value = plain_loss(scene, &lost), G = 0, linear = 0, size = 0, all = 0;
    double reached = 0, residual = 0, wrong = 0, used = ranks, least[2] = {INFINITY, INFINITY};
    unit_of_svd *= (double)(scene->height + scene->width);
    for (size_t i = 0; i < N; i++) {
        double a = scene->alpha[i], part = squared ? a * a / (4 * scene->cost[i]) : 0;
        excess = squared ? 0 : fmax(excess, a / scene->cost[i] - 1);
        G += scene->y[i] * a * (double)scene->x[i];
        linear += a - part;
        size += a + part;
        all += a;
        residual += scene->y[i] * a;
        reached += a * norm_bound[i];
        used += a > 0;
    }
    residual = fabs(residual) + (N + ranks + 2) * DBL_EPSILON * all;
    double plain = (used + 2) * line_unit * reached, norm = fabs(G) + plain;
    double error = tau > 0 ? plain + unit_of_svd * norm : 0;
    G = tau > 0 ? fmax(0, fabs(G) - tau) : fabs(G);
    for (size_t i = 0; i < N; i++) { /* each row with enough room may take the residual */
        double a = scene->alpha[i], x = fabs((double)scene->x[i]), moved = residual * norm_bound[i];
        double ratio = squared ? a / (2 * scene->cost[i]) : 0;
        double curve = squared ? 1 / (2 * scene->cost[i]) : 0;
        double price = residual * (1 + ratio + G * x + 1e-9 * norm * norm_bound[i]) +
                       .5 * (moved * moved + residual * residual * curve);
        bool positive = scene->y[i] > 0;
        double up = squared ? INFINITY : scene->cost[i] - a;
        least[positive] = residual <= up ? fmin(least[positive], price) : least[positive];
        least[!positive] = residual <= a ? fmin(least[!positive], price) : least[!positive];
        wrong += tau > 0 ? 0 : (used + 2) * line_unit * a * x;
    }
    double price = residual > 0 ? fmax(least[0], least[1]) : 0;
    if (!isfinite(price)) { /* the dual bound of alpha = 0 */
        linear = size = price = 0;
    }
    price += ((N + ranks + 4) * DBL_EPSILON + (excess > 4 * DBL_EPSILON ? excess : 0)) * size;
    double of_f = (cells + 5) * line_unit * w * w;
    double of_g =
        (cells + 5) * line_unit * G * G + (2 * G + error) * error + wrong * (2 * G + wrong);
    double nothing = plain_nothing(scene);
    struct certificate found = certificate_of(scene);
    double raised = (found.zero_primal / nothing - 1) / DBL_EPSILON;
    CHECK_CLOSE(raised, N + ranks + 8, 1, "units by which nothing is raised");
    CHECK_NEAR(found.primal, fmin(.5 * w * w + value, nothing), 1e-12, "primal");
    double paid = lost + price + .5 * (of_f + of_g);
    CHECK_CLOSE(found.rounding, paid, 1e-9 * paid + off, "paid");
    CHECK_CLOSE(found.dual, fmax(0, linear - .5 * G * G), paid + 1e-14 * linear, "dual");
}

/* A w with a loss. Differences of nearly equal numbers are accurate to some units. */
static void check_fit(unsigned round, struct random *random) {
    struct scene scene;
    open_scene(&scene, round, 1, false, random);
    take_alpha(&scene, false, random);
    scene.W[scene.cell] = 2 * random_unit(random) - 1;
    scene.bias = random_unit(random) - .5;
    scene.tau = round & 2 ? .125 : 0;
    check_certificate(&scene, 8 * DBL_EPSILON);
    scene.alpha[round % N] += 1e-7; /* y'alpha has this value, and rows have room to correct it */
    check_certificate(&scene, 8 * DBL_EPSILON);
    line_close(&scene.line);
}

/* The cost of each cause alone, to nine digits: of a dual point, at W = 0, ... */
static void check_dual(unsigned round, struct random *random) {
    struct scene scene;
    open_scene(&scene, round, 1024, false, random);
    for (unsigned at = 0; at < 8; at++) {
        take_alpha(&scene, at & 4, random);
        if (at & 1) {
            scene.alpha[random_below(random, 4)] += 0x1p-16;
        }
        scene.tau = round & 2 ? at & 2 ? 1e5 : 1 : 0; /* 1e5: thresholding leaves no G */
        check_certificate(&scene, 0);
    }
    for (size_t i = 0; i < N; i++) { /* no room: all of one side at 0, the other not */
        scene.alpha[i] = scene.y[i] > 0 ? scene.cost[i] : 0;
    }
    scene.loss.squared = false; /* a squared hinge has unlimited room */
    check_certificate(&scene, 0);
    struct certificate found = certificate_of(&scene);
    CHECK(found.dual == 0, "a dual of %g from a point that cannot be mended", found.dual);
    take_alpha(&scene, true, random);
    scene.alpha[0] = scene.alpha[1] = -.25; /* in balance, but negative */
    found = certificate_of(&scene);
    CHECK(found.dual == 0, "a dual of %g from a negative alpha", found.dual);
    line_close(&scene.line);
}

/* ... and of the norms of a W without loss. */
static void check_norms(unsigned round, struct random *random) {
    struct scene scene;
    open_scene(&scene, round, 1, true, random);
    scene.W[scene.cell] = 4;
    for (unsigned at = 0; at < 3; at++) {
        scene.tau = at == 2 ? 1e4 : at;
        check_certificate(&scene, 0);
    }
    line_close(&scene.line);
}

int main(void) {
    struct random random = sample_random(9, 0);
    for (unsigned round = 0; round < 128; round++) {
        check_fit(round, &random);
        check_dual(round, &random);
        check_norms(round, &random);
    }
    printf("ok: certificates and rounding-error bounds of a subproblem are those of one cell\n");
    return 0;
}
