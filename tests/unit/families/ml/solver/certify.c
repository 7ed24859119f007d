/* Certificates of label sets against their definitions: the loss with its rounding-error bound, and
 * what is subtracted from the dual. */
#include "families/ml/solver/certify.h"

#include "tests/unit/fit/line.h"

enum { N = 7, EMPTY = 4, MOST_Q = 66 };

struct scene {
    struct line line;
    uint32_t q, relevant[N * MOST_Q], row[N];
    uint64_t start[N + 1];
    struct ml_rows rows;
    struct ml_feasibility size[N];
    double s[N * MOST_Q], zero[N * MOST_Q], g[N * MOST_Q], residual[MOST_Q];
    struct ml_scratch *scratch;
};

/* part: of the scores' size */
static void open_scene(struct scene *scene, float *x, uint32_t q, bool kernel, double part,
                       struct random *random) {
    *scene = (struct scene){.q = q};
    uint64_t at = 0;
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
        x[i] = (float)(2 * random_unit(random) - 1);
        scene->start[i] = at;
        for (uint32_t k = 0; k < q && i != EMPTY; k++) {
            if ((k + i) % 2 == 0) {
                scene->relevant[at++] = k;
            }
        }
        if (i != EMPTY) {
            scene->row[n++] = (uint32_t)i;
            scene->size[i] =
                (struct ml_feasibility){random_unit(random), 1e-15 * random_unit(random),
                                        i % 2 ? 0.001 : 1000, i == 2 ? .01 : 0};
        }
        for (size_t k = 0; k < q; k++) {
            scene->s[i * q + k] =
                part * (3 * random_unit(random) + ((k + i) % 2 == 1 && i == 2 ? -9 : 0));
        }
    }
    scene->size[3].sum = 0;
    scene->start[N] = at;
    scene->rows = (struct ml_rows){.q = q,
                                   .n_all = N,
                                   .start = scene->start,
                                   .relevant = scene->relevant,
                                   .n = n,
                                   .n_everywhere = n,
                                   .total_weight = {.sum = (double)n},
                                   .row = scene->row};
    for (size_t k = 0; k < q; k++) {
        scene->residual[k] = 1e-15 * (random_unit(random) - .5);
    }
    line_open(&scene->line, x, N, kernel, (struct data){0});
    for (size_t j = 0; j < line_weights(&scene->line) * q; j++) {
        scene->g[j] = random_unit(random) - .4;
    }
    MUST(ml_scratch_create(&scene->scratch, q, &err));
}

static void close_scene(struct scene *scene) {
    ml_scratch_free(scene->scratch);
    line_close(&scene->line);
}

static struct ml_block block_of(const struct scene *scene, size_t i, enum ml_loss loss,
                                double cost) {
    uint64_t first = scene->start[i], n = scene->start[i + 1] - first;
    return (struct ml_block){.loss = loss,
                             .q = scene->q,
                             .n_relevant = (uint32_t)n,
                             .relevant = scene->relevant + first,
                             .lambda = cost / ((double)n * (scene->q - (double)n))};
}

/* The loss of a row, pair by pair, whose scores may be off by 6 units of the largest. */
static void plain_row(const struct ml_block *block, const double *s, bool apart, double *value,
                      double *rounding) {
    double largest = 0, sum = 0, off = 0,
           pairs = block->n_relevant * (block->q - (double)block->n_relevant);
    bool squared = block->loss == ML_SQUARED_HINGE;
    for (size_t k = 0; k < block->q; k++) {
        largest = fmax(largest, fabs(s[k]));
    }
    double error = 6 * line_unit * largest;
    for (size_t p = 0; p < block->q; p++) {
        for (size_t r = 0; r < block->q; r++) {
            bool is_pair = false;
            for (size_t e = 0; e < block->n_relevant; e++) {
                is_pair |= block->relevant[e] == p;
            }
            for (size_t e = 0; e < block->n_relevant; e++) {
                is_pair &= block->relevant[e] != r;
            }
            double u = 1 - (s[p] - s[r]), h = fmax(0, u);
            double slack = 2 * error + 2 * DBL_EPSILON * (1 + fabs(s[p]) + fabs(s[r]));
            sum += is_pair ? (squared ? h * h : h) : 0;
            off += is_pair && u + slack > 0 ? (squared ? slack * (2 * h + slack) : slack) : 0;
        }
    }
    double found = block->lambda * sum, size = 1 + 2 * largest, slack = 2 * error;
    double unit = 4 * (block->q + 8.) * DBL_EPSILON * size, all = block->lambda * pairs;
    *value += found;
    *rounding +=
        apart     ? block->lambda * (off + (pairs + 4) * DBL_EPSILON * (sum + off))
        : squared ? slack * (2 * sqrt(all * found) + all * slack) + all * unit * (size + 2 * slack)
                  : all * (slack + unit);
}

static void check_certificate(struct scene *scene, enum ml_loss loss, bool free_bias) {
    const double cost = 1.5, linear = 30;
    double q = scene->q, value = 0, lost = 0, error[N] = {0}, all = 0, norm_bound = 0, ratio = 0,
           norm;
    double unit = (q + 8) * DBL_EPSILON, residual = 0, largest = 0;
    for (size_t i = 0; i < N; i++) {
        if (i == EMPTY) {
            continue;
        }
        struct ml_block block = block_of(scene, i, loss, cost);
        double pairs = block.n_relevant * (q - block.n_relevant), sum = scene->size[i].sum;
        plain_row(&block, scene->s + i * scene->q, pairs <= 1024, &value, &lost);
        double apart = loss != ML_HINGE                             ? 0
                       : scene->size[i].max_product <= block.lambda ? scene->size[i].infeasibility
                                                                    : unit * block.lambda;
        if (loss == ML_HINGE && scene->size[i].max_product > block.lambda &&
            scene->size[i].excess > 0) {
            apart += scene->size[i].infeasibility + 2 * scene->size[i].excess;
        }
        error[i] = sum > 0 ? (unit + (N - 1 + 2) * line_unit) * sum + apart : 0;
        all += sum + apart / unit;
        norm_bound = fmax(norm_bound, certify_norm_bounds(scene->line.certify)[i]);
        ratio = fmax(ratio, loss == ML_HINGE ? 0 : sum / block.lambda);
    }
    lost += (N + 4) * DBL_EPSILON * value + line_unit * value;
    for (size_t k = 0; k < scene->q; k++) {
        residual += fabs(scene->residual[k]);
    }
    double exact[N * MOST_Q];
    bool kernel = scene->line.gram;
    MUST(scene->line.map.exact(&scene->line.map, scene->g, scene->q, exact, &err));
    const struct certify_function f = {.weights = scene->zero, .exact = scene->s},
                                  g = {.weights = scene->g, .exact = kernel ? exact : NULL};
    struct certify_function scored = g;
    scored.error = error;
    MUST(certify_score_bound(scene->line.certify, scene->q, &scored, &largest, &err));
    residual += (N - 1 + 2) * DBL_EPSILON * all;
    double moved = q * residual, step = 2 * moved * norm_bound;
    double price = free_bias ? moved * (1 + ratio + 2 * largest) + .5 * step * step : 0;
    double of_g = line_rounding(&scene->line, scene->q, scene->g, error, &norm);
    const struct ml_claim claim = {.rows = &scene->rows,
                                   .loss = loss,
                                   .cost = cost,
                                   .f = &f,
                                   .g = &g,
                                   .feasibility = scene->size,
                                   .residual = free_bias ? scene->residual : NULL,
                                   .linear = linear,
                                   .scratch = scene->scratch};
    struct certificate found;
    MUST(ml_certify(scene->line.certify, &claim, &found, &err));
    CHECK(found.zero_primal == (N - 1) * cost &&
              ml_loss_of_zero(&scene->rows, cost) == found.zero_primal,
          "nothing %g", found.zero_primal);
    CHECK_NEAR(found.primal, fmin(value, found.zero_primal), 1e-12, "primal");
    double paid = lost + 2 * (16 * (q + 8) + N - 1) * DBL_EPSILON * all + price + .5 * of_g;
    CHECK_NEAR(found.rounding, paid, 1e-9, "paid");
    CHECK_CLOSE(found.dual, fmax(0, linear - .5 * norm), 1e-12 * linear + paid, "dual");
}

/* Pairs whose margins are met exactly: the error is the square of the rounding error of such
 * scores. */
static void check_met(struct random *random) {
    enum { Q = 5 };
    struct scene scene;
    float x[N];
    double value = 0, lost = 0;
    open_scene(&scene, x, Q, false, 1, random);
    memset(scene.g, 0, sizeof scene.g);
    for (size_t i = 0; i < N; i++) {
        scene.size[i] = (struct ml_feasibility){0};
        for (size_t k = 0; k < Q; k++) {
            scene.s[i * Q + k] = 0x1p40 + ((k + i) % 2 == 0);
        }
        if (i != EMPTY) {
            struct ml_block block = block_of(&scene, i, ML_SQUARED_HINGE, 1.5);
            plain_row(&block, scene.s + i * Q, true, &value, &lost);
        }
    }
    const struct certify_function f = {.weights = scene.zero, .exact = scene.s},
                                  g = {.weights = scene.g};
    const struct ml_claim claim = {.rows = &scene.rows,
                                   .loss = ML_SQUARED_HINGE,
                                   .cost = 1.5,
                                   .f = &f,
                                   .g = &g,
                                   .feasibility = scene.size,
                                   .scratch = scene.scratch};
    struct certificate found;
    MUST(ml_certify(scene.line.certify, &claim, &found, &err));
    CHECK(value == 0 && lost > 0 && near(found.rounding, lost, 1e-9) &&
              near(found.primal, lost, 1e-9),
          "pairs that are met: primal %g, paid %g, not %g", found.primal, found.rounding, lost);
    close_scene(&scene);
}

int main(void) {
    struct random random = sample_random(8, 0);
    for (int round = 0; round < 32; round++) {
        float x[N];
        struct scene scene;
        open_scene(&scene, x, round & 1 ? MOST_Q : 5, round & 2, round & 16 ? .01 : 1, &random);
        check_certificate(&scene, round & 4 ? ML_SQUARED_HINGE : ML_HINGE, round & 8);
        close_scene(&scene);
    }
    check_met(&random);
    printf("ok: certificates of label sets and their rounding-error bounds are those of the "
           "definition\n");
    return 0;
}
