/* Certificates of one machine, on matrices of one cell, where the nuclear norm is |w| and shrinking takes tau
 * off: bounds, and what is paid for rounding and for a y'alpha that is not 0. */
#include "solvers/smm/certify.h"

#include "tests/unit/solvers/line.h"

enum { N = 8 };

struct scene {
    struct line line;
    struct smm_matrices matrices;
    struct binary_loss loss;
    double y[N], cost[N], alpha[N];
};

static void open_scene(struct scene *scene, float *x, bool squared, struct random *random) {
    *scene = (struct scene){.loss = {.squared = squared}};
    for (size_t i = 0; i < N; i++) {
        x[i] = (float)(2 * random_unit(random) - 1);
        scene->y[i] = i % 2 ? 1 : -1;
        scene->cost[i] = i < 2 ? .75 : 1.5;
    }
    for (size_t i = 0; i < N; i += 2) { /* in pairs, so that their sum is exactly 0 */
        scene->alpha[i] = scene->alpha[i + 1] = i == 4 ? 0 : (double)random_below(random, 32) / 64;
    }
    scene->loss.y = scene->y;
    scene->loss.cost = scene->cost;
    line_open(&scene->line, x, N, false, (struct data){0});
    scene->matrices =
        (struct smm_matrices){.data = &scene->line.data, .n = N, .height = 1, .width = 1};
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

/* The loss at w x + b with what rounding may add, `off` units for a product. */
static double plain_loss(const struct scene *scene, double w, double b, double tau,
                         double *rounding) {
    double value = tau * fabs(w);
    *rounding = tau * 32 * DBL_EPSILON * fabs(w);
    for (size_t i = 0; i < N; i++) {
        double x = (double)scene->line.x[i], s = x * w + b;
        double error = (certify_factor(scene->line.certify) + 2 * line_unit) * fabs(x * w) +
                       6 * line_unit * (fabs(s) + fabs(b));
        double slack = error + DBL_EPSILON * (1 + fabs(s));
        double u = fmax(0, 1 - scene->y[i] * s), most = fmax(0, 1 - scene->y[i] * s + slack);
        value += scene->cost[i] * (scene->loss.squared ? u * u : u);
        *rounding += scene->cost[i] * (scene->loss.squared ? most * most - u * u : most - u);
    }
    *rounding += ((N + 4) * DBL_EPSILON + line_unit) * value;
    return value;
}

static struct certificate certificate_of(struct scene *scene, double w, double b, double tau) {
    struct error err;
    struct certificate found;
    const struct smm_claim claim = {.matrices = &scene->matrices,
                                    .loss = &scene->loss,
                                    .tau = tau,
                                    .W = &w,
                                    .bias = b,
                                    .alpha = scene->alpha};
    CHECK(smm_certify(scene->line.certify, &claim, &found, &err) == 0, "%s", err.text);
    return found;
}

static void check_certificate(struct scene *scene, double w, double b, double tau) {
    const double *reach = certify_reach(scene->line.certify);
    bool squared = scene->loss.squared;
    double lost, value = plain_loss(scene, w, b, tau, &lost), G = 0, linear = 0, size = 0, all = 0;
    double reached = 0, residual = 0, off = 0, used = 0, least[2] = {INFINITY, INFINITY};
    for (size_t i = 0; i < N; i++) {
        double a = scene->alpha[i], part = squared ? a * a / (4 * scene->cost[i]) : 0;
        G += scene->y[i] * a * (double)scene->line.x[i];
        linear += a - part;
        size += a + part;
        all += a;
        residual += scene->y[i] * a;
        reached += a * reach[i];
        used += a > 0;
    }
    residual = fabs(residual) + (N + 2) * DBL_EPSILON * all;
    double plain = (used + 2) * line_unit * reached, norm = fabs(G) + plain;
    double error = tau > 0 ? plain + 32 * DBL_EPSILON * norm : 0;
    G = tau > 0 ? fmax(0, fabs(G) - tau) : fabs(G);
    for (size_t i = 0; i < N; i++) { /* each row that has the room may carry the residual */
        double a = scene->alpha[i], x = fabs((double)scene->line.x[i]), moved = residual * reach[i];
        double ratio = squared ? a / (2 * scene->cost[i]) : 0;
        double curve = squared ? 1 / (2 * scene->cost[i]) : 0;
        double price = residual * (1 + ratio + G * x + 1e-9 * norm * reach[i]) +
                       .5 * (moved * moved + residual * residual * curve);
        bool positive = scene->y[i] > 0;
        double up = squared ? INFINITY : scene->cost[i] - a;
        least[positive] = residual <= up ? fmin(least[positive], price) : least[positive];
        least[!positive] = residual <= a ? fmin(least[!positive], price) : least[!positive];
        off += tau > 0 ? 0 : (used + 2) * line_unit * a * x;
    }
    double price = fmax(least[0], least[1]);
    double of_f = 6 * line_unit * w * w;
    double of_g = 6 * line_unit * G * G + (2 * G + error) * error + off * (2 * G + off);
    double nothing = plain_nothing(scene);
    struct certificate found = certificate_of(scene, w, b, tau);
    CHECK(line_near(found.nothing, nothing, 1e-14) && found.nothing > nothing,
          "nothing %.17g, not %.17g", found.nothing, nothing);
    CHECK(line_near(found.primal, fmin(.5 * w * w + value, nothing), 1e-12), "primal %g",
          found.primal);
    double paid = lost + price + (N + 4) * DBL_EPSILON * size + .5 * (of_f + of_g);
    CHECK(fabs(found.paid - paid) <= 1e-9 * paid + 8 * DBL_EPSILON, "paid %.12g, not %.12g",
          found.paid, paid);
    CHECK(fabs(found.dual - fmax(0, linear - .5 * G * G)) <= paid + 1e-14 * linear,
          "dual %.12g, not %.12g", found.dual, linear - .5 * G * G);
}

int main(void) {
    struct random random;
    random_start(&random, 9, 0);
    for (int round = 0; round < 64; round++) {
        float x[N];
        struct scene scene;
        open_scene(&scene, x, round & 1, &random);
        double w = 2 * random_unit(&random) - 1, b = random_unit(&random) - .5;
        check_certificate(&scene, w, b, round & 2 ? .125 : 0);
        scene.alpha[round % N] += 1e-7; /* y'alpha is that, and there is room to mend it */
        check_certificate(&scene, w, b, round & 2 ? .125 : 0);
        /* no room: all of one side at 0, the other not */
        for (size_t i = 0; i < N; i++) {
            scene.alpha[i] = scene.y[i] > 0 ? (scene.loss.squared ? .5 : scene.cost[i]) : 0;
        }
        struct certificate found = certificate_of(&scene, w, b, 0);
        if (!scene.loss.squared) { /* beyond its cost a squared loss has all the room there is */
            scene.alpha[1] += .5;
            found = certificate_of(&scene, w, b, 0);
            CHECK(found.dual == 0, "a dual of %g from a point that cannot be mended", found.dual);
        }
        line_close(&scene.line);
    }
    printf("ok: certificates of a machine are those of one cell, and what they pay\n");
    return 0;
}
