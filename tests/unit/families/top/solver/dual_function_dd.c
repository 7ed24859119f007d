/* Functions of dual points whose sums and caps are violated by known amounts: how the sums are made
 * equal, and the error bounds. */
#include "families/top/solver/dual_function_dd.h"

#include "tests/unit/fit/line.h"

enum { N = 8 };

static const double unit = 3.51 * DBL_EPSILON; /* relative error of a cap */

struct scene {
    struct line line;
    struct top_certifier certifier;
    struct top_risk risk;
    float x[N];
    double alpha[N], beta[N];
    struct fit fit;
    struct top_dual_function made;
};

/* Rows 0 to 3 are positive, all are in J; K = 2.5, so shares are .4. Row i has the feature i + 1,
 * but row 6 has 1/2, and row 7 equals row 5. alpha sums to 4, beta is 1/2 each. */
static void open_scene(struct scene *scene, enum top_kind kind) {
    *scene = (struct scene){.fit = {.alpha = scene->alpha, .beta = scene->beta}};
    for (size_t i = 0; i < N; i++) {
        scene->x[i] = i == 7 ? 6 : i == 6 ? .5F : (float)(i + 1);
        scene->beta[i] = .5;
    }
    MUST(top_risk_create(&scene->risk, N, &err));
    scene->risk.kind = kind;
    scene->risk.theta = 2;
    scene->risk.budget = 1;
    for (size_t i = 0; i < N; i++) {
        scene->risk.cost[i] = i < 4 ? 1 : 0;
        scene->risk.mass[i] = 1;
        scene->alpha[i] = i < 4 ? 1 : 0;
    }
    top_risk_ready(&scene->risk, 2.5);
    line_open(&scene->line, scene->x, N, true, (struct data){0});
    MUST(top_certifier_create(&scene->certifier, &scene->line.problem, &scene->line.map, 0, &err));
}

static void make(struct scene *scene) {
    top_dual_function_free(&scene->made);
    MUST(top_dual_function_make(&scene->certifier, &scene->risk, 1, &scene->fit, &scene->made,
                                &err));
}

static void close_scene(struct scene *scene) {
    top_dual_function_free(&scene->made);
    top_risk_free(&scene->risk);
    top_certifier_free(&scene->certifier);
    line_close(&scene->line);
}

/* Checks the errors (N), up to 1e-9 and the rounding of double-double. */
static void expect(const struct scene *scene, const char *what, const double *error) {
    for (size_t i = 0; i < N; i++) {
        CHECK_CLOSE(scene->made.error[i], error[i], 1e-9 * error[i] + 0x1p-94, "%s: row %zu", what,
                    i);
    }
}

/* The difference of the sums goes to the smallest entry that can take it. */
static void check_sums(enum top_kind kind) {
    const double none[N] = {0}, small = 0x1p-20, extra = 3 * 0x1p-70;
    struct scene scene;
    for (int sign = -1; sign <= 1; sign += 2) {
        open_scene(&scene, kind);
        scene.beta[4] = small + sign * extra;
        scene.beta[6] = 1 - small;
        make(&scene);
        CHECK(scene.beta[4] == small && scene.beta[6] == 1 - small, "%.17g", scene.beta[4]);
        expect(&scene, "sums", none);
        close_scene(&scene);
    }
    /* an entry that is not larger than the difference does not take it */
    open_scene(&scene, kind);
    scene.beta[4] = 0x1p-71;
    scene.beta[5] = small + extra;
    scene.beta[6] = 1.5 - small;
    make(&scene);
    CHECK(scene.beta[4] == 0x1p-71 && scene.beta[5] == small - 0x1p-71, "%.17g", scene.beta[5]);
    close_scene(&scene);
}

/* TOP_MEAN: an entry at its cap takes nothing; one above it has an error, and so has the one of
 * smallest norm that has room. */
static void check_caps(void) {
    struct scene scene;
    double error[N] = {0}, cap = (1 - unit) * .4 * 4, over = 0x1p-30;
    open_scene(&scene, TOP_MEAN);
    scene.risk.share[4] = 0x1p-22; /* a cap of 2^-20 */
    scene.beta[4] = 0x1p-20 * (1 - 4 * DBL_EPSILON);
    scene.beta[6] = 1 - 0x1p-20 - 0x1p-45;
    make(&scene);
    CHECK(scene.beta[4] == 0x1p-20 * (1 - 4 * DBL_EPSILON), "an entry above its cap");
    CHECK(scene.beta[0] > .5 && scene.beta[0] < .5 + 0x1p-44, "no other takes it");
    close_scene(&scene);

    open_scene(&scene, TOP_MEAN);
    scene.beta[0] = cap + over;
    scene.beta[6] = 0x1p-40; /* smallest norm, but not larger than the excess */
    scene.beta[7] = 0;
    scene.beta[5] = 4 - 2 - 0x1p-40 - scene.beta[0];
    make(&scene);
    error[0] = scene.beta[0] - cap;
    error[1] = error[0]; /* the smallest norm of the others */
    expect(&scene, "caps", error);
    close_scene(&scene);

    /* a share of 1 is no cap, unless a weight has a rounding error */
    for (int exact = 0; exact < 2; exact++) {
        open_scene(&scene, TOP_MEAN);
        memset(error, 0, sizeof error);
        memset(scene.beta, 0, sizeof scene.beta);
        scene.risk.share[6] = 1;
        scene.risk.mass_error = exact ? 0 : DBL_EPSILON;
        scene.beta[6] = 4;
        make(&scene);
        if (!exact) { /* none has room: beta is scaled and cut, the largest norm takes the rest */
            error[6] = 4 * (1 + 2 * DBL_EPSILON) - (1 - unit) * 4;
            error[5] = error[6]; /* and row 7, which is equal */
        }
        expect(&scene, exact ? "a share of 1" : "a share of about 1", error);
        close_scene(&scene);
    }
}

/* TOP_MEAN, all at caps of a slightly larger sum: each entry has its excess as error, and the
 * largest norm has the sum. Shares that are scaled to sum to 1 are no higher than without. */
static void check_all_capped(void) {
    struct scene scene;
    double more = 0x1p-40;
    open_scene(&scene, TOP_MEAN);
    for (size_t i = 0; i < N; i++) {
        scene.risk.share[i] = .125;
        scene.beta[i] = .5 * (1 + more);
    }
    make(&scene);
    for (size_t i = 1; i < N; i++) { /* the first one takes the difference: it has no room then */
        CHECK(scene.made.error[i] > .4 * more, "row %zu: %g", i, scene.made.error[i]);
    }
    CHECK(scene.made.error[5] > 3 * more, "the farthest: %g, not %g", scene.made.error[5],
          4 * more);
    close_scene(&scene);

    open_scene(&scene, TOP_MEAN);
    memset(scene.beta, 0, sizeof scene.beta);
    scene.risk.n_all = N;
    for (size_t i = 0; i < N; i++) {
        scene.risk.share[i] = .125 * (1 + 8 * DBL_EPSILON);
        scene.beta[i] = .5 * (1 + (i < 4 ? 8 : -8) * DBL_EPSILON);
    }
    make(&scene);
    for (size_t i = 0; i < 4; i++) {
        CHECK(scene.made.error[i] >= 8 * .5 * DBL_EPSILON, "row %zu: %g", i, scene.made.error[i]);
    }
    close_scene(&scene);
}

/* Without an equality constraint nothing is moved, and there is no error. */
static void check_none(void) {
    const double none[N] = {0};
    struct scene scene;
    open_scene(&scene, TOP_NONE);
    scene.beta[4] = 0.25;
    make(&scene);
    CHECK(scene.beta[4] == .25, "%g", scene.beta[4]);
    expect(&scene, "none", none);
    close_scene(&scene);
}

/* Equal rows have one coefficient; the error is what double cannot hold of it. */
static void check_twins(void) {
    struct scene scene;
    double error[N] = {0};
    open_scene(&scene, TOP_NONE);
    scene.alpha[0] = 1 + 0x1p-52;
    scene.beta[0] = 0x1p-55;
    scene.beta[5] = 1;
    scene.beta[7] = 0x1p-60;
    make(&scene);
    error[0] = 0x1p-55;
    error[5] = 0x1p-60;
    expect(&scene, "duplicates", error);
    CHECK(scene.made.b[0] == 1 + 0x1p-52 && scene.made.b[5] == -1 && scene.made.b[7] == 0,
          "coefficients %g, %g, %g", scene.made.b[0], scene.made.b[5], scene.made.b[7]);
    close_scene(&scene);
}

int main(void) {
    check_sums(TOP_MEAN);
    check_sums(TOP_QUANTILE);
    check_caps();
    check_all_capped();
    check_none();
    check_twins();
    puts("ok: dual points are settled within their rounding-error bounds");
    return 0;
}
