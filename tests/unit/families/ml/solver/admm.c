/* ADMM (families/ml/solver/admm.h) reaches the optimum of the other methods with both losses, every
 * kind of bias and any number of threads, and its dual points are feasible. */
#include "families/ml/solver/admm.h"
#include "families/ml/solver/certify.h"
#include "tests/unit/families/ml/solver/fixture.h"

enum { ROWS = 40, LABELS = 5 };

static const double SMALL = 1e-2;

/* Half of each pair's largest alpha, and the scores of such coefficients. */
static void set_halves(const struct ml_rows *rows, enum ml_loss loss, double cost, double *beta,
                       double *scores) {
    for (size_t i = 0; i < rows->n; i++) {
        struct ml_block block = ml_rows_block(rows, i, loss, cost);
        double relevant = (double)block.n_relevant, others = (double)block.q - relevant;
        for (size_t k = 0; k < LABELS; k++) {
            beta[i * LABELS + k] = -block.lambda / 2 * relevant;
            scores[i * LABELS + k] = cost * (i % 3 == 0 ? .1 : -.1);
        }
        for (uint32_t p = 0; p < block.n_relevant; p++) {
            beta[i * LABELS + block.relevant[p]] = block.lambda / 2 * others;
        }
    }
}

/* Runs ADMM from an arbitrary point; at a small cost from one inside its bounds. */
static struct ml_fit run_admm(const struct bed *bed, const struct ml_rows *rows,
                              const struct ml_setup *setup, enum ml_loss loss, double cost,
                              double epsilon, struct ml_admm **made) {
    struct ml_fit fit;
    double *beta = sample_array(rows->n * LABELS, 2 * sizeof *beta);
    double *scores = beta + rows->n * LABELS;
    const struct ml_admm_start start = {beta, scores, LABELS};
    if (cost < SMALL) {
        set_halves(rows, loss, cost, beta, scores);
    }
    CHECK(isfinite(ml_admm_work(&bed->problem, rows)), "no memory for ADMM");
    MUST(ml_admm_create(made, &bed->problem, rows, loss, cost, setup->bias * setup->bias,
                        setup->free_bias, &start, &err));
    CHECK(*made, "no factor");
    ml_admm_run(*made, epsilon, 0, NULL, &fit);
    free(beta);
    return fit;
}

/* Every alpha is within its bounds, and with a free bias sums are 0 up to the requested gap. */
static void check_alphas(const struct ml_fit *fit, const struct ml_rows *rows, bool free_bias,
                         double cost, const char *what) {
    double sum[LABELS] = {0}, alpha[LABELS * LABELS], size = 0;
    for (size_t i = 0; i < rows->n; i++) {
        struct ml_block block = ml_rows_block(rows, i, fit->alphas.loss, cost);
        size_t at = 0;
        fit->alphas.row(fit->alphas.context, i, &block, alpha);
        for (uint32_t p = 0; p < block.n_relevant; p++) {
            for (uint32_t r = 0, next = 0; r < block.q; r++) {
                if (next < block.n_relevant && block.relevant[next] == r) {
                    next++;
                    continue;
                }
                double most = block.loss == ML_HINGE ? block.lambda * (1 + 1e-12) : INFINITY;
                CHECK(alpha[at] >= 0 && alpha[at] <= most, "%s: alpha %g", what, alpha[at]);
                sum[block.relevant[p]] += alpha[at];
                sum[r] -= alpha[at];
                size += alpha[at++];
            }
        }
    }
    for (size_t k = 0; free_bias && k < LABELS; k++) {
        CHECK(fabs(sum[k]) <= 1e-4 * size, "%s: label %zu sends %g too much", what, k, sum[k]);
    }
}

int main(void) {
    const double epsilon = 1e-6;
    for (int t = 0; t < 32; t++) {
        double gamma = t & 1 ? .3 : 0, cost = t >= 24 ? 1e-5 : t & 2 ? 300 : .5;
        enum ml_loss loss = t & 4 ? ML_SQUARED_HINGE : ML_HINGE;
        struct ml_setup setup = {.bias = t / 8 == 1 ? 1.5 : 0, .free_bias = t >= 16, .seed = 1};
        struct bed bed;
        struct ml_rows rows;
        struct solution known;
        struct ml_admm *made, *again;
        char what[32];
        snprintf(what, sizeof what, "trial %d", t);
        make_bed(&bed, random_data(ROWS, 3, LABELS, .4, (uint64_t)t), gamma, 3);
        bed.problem.cache_bytes = (size_t)1 << 20;
        solve_once(&bed, &setup, loss, ML_AUTO, cost, epsilon, &known);
        MUST(ml_rows_create(&rows, &bed.problem, &err));
        struct ml_fit fit = run_admm(&bed, &rows, &setup, loss, cost, epsilon, &made);
        CHECK(fit.stop == STOP_REACHED, "%s: %s", what, stop_message(fit.stop));
        CHECK(fit.primal >= known.dual * (1 - 1e-9) && fit.dual <= known.primal * (1 + epsilon) &&
                  fit.primal - fit.dual <= epsilon * fit.primal,
              "%s: %.17g .. %.17g, not %.17g .. %.17g", what, fit.dual, fit.primal, known.dual,
              known.primal);
        check_alphas(&fit, &rows, setup.free_bias, cost, what);
        struct threads *threads = bed.problem.threads;
        bed.problem.threads = NULL;
        struct ml_fit alone = run_admm(&bed, &rows, &setup, loss, cost, epsilon, &again);
        CHECK(alone.primal == fit.primal && alone.dual == fit.dual &&
                  memcmp(alone.coefficients, fit.coefficients, rows.n * LABELS * sizeof(double)) ==
                      0,
              "%s: the fit depends on the threads", what);
        ml_admm_free(again);
        bed.problem.threads = threads;
        ml_admm_free(made);
        ml_rows_free(&rows);
        solution_free(&known);
        free_bed(&bed);
    }
    printf("ok: ADMM reaches the optimum of both losses, with every bias\n");
    return 0;
}
