/* Support matrix machines: products against plain loops, and steps of the low-rank solver. */
#include "families/smm/solver/smm.h"

#include "common/linear_algebra/svd.h"
#include "families/smm/solver/alternation.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/matrix_rows.h"
#include "families/smm/solver/newton.h"
#include "tests/unit/compute.h"

static void fill(double *x, size_t n, struct random *random) {
    for (size_t j = 0; j < n; j++) {
        x[j] = (float)(2 * random_unit(random) - 1);
    }
}

/* Uniform random rows X, with labels by a matrix of the given rank. */
struct sample {
    struct data data;
    struct smm_matrices matrices;
    double *y, *cost, *truth;
    struct binary_loss loss;
};

static void draw(struct sample *sample, size_t n, size_t height, size_t width, size_t rank,
                 double C, bool sparse, uint64_t seed) {
    size_t cells = height * width;
    double *U = check_numbers(height * rank), *V = check_numbers(rank * width),
           *x = check_numbers(cells);
    struct random random = sample_random(seed, 0);
    fill(U, height * rank, &random);
    fill(V, rank * width, &random);
    *sample = (struct sample){.data = {.n_rows = n, .n_features = (uint32_t)cells}};
    sample->truth = check_numbers(cells);
    sample->y = check_numbers(n);
    sample->cost = check_numbers(n);
    matrix_product(U, V, height, rank, width, sample->truth);
    struct data *data = &sample->data;
    data->value = sample_array(n * cells, sizeof *data->value);
    for (size_t i = 0; i < n; i++) {
        double score = 0.1;
        fill(x, cells, &random);
        for (size_t j = 0; j < cells; j++) {
            if (sparse && j % 3 == i % 3) {
                continue;
            }
            score += x[j] * sample->truth[j];
            data->value[i * cells + j] = (float)x[j];
        }
        sample->y[i] = score >= 0 ? 1 : -1;
        sample->cost[i] = C;
    }
    if (sparse) {
        MUST(data_make_sparse(data, &err));
    }
    sample->matrices =
        (struct smm_matrices){.data = data, .n = n, .height = height, .width = width};
    sample->loss = (struct binary_loss){.y = sample->y, .cost = sample->cost};
}

static double cosine(const double *a, const double *b, size_t n) {
    double ab = 0, aa = 0, bb = 0;
    for (size_t j = 0; j < n; j++) {
        ab += a[j] * b[j];
        aa += a[j] * a[j];
        bb += b[j] * b[j];
    }
    return ab / sqrt(aa * bb);
}

/* ---- singular values, products ---- */

/* A (m, n) = U diag(s) Vt, up to `off` in each cell; s (r) is in descending order. */
static void check_reproduction(const double *A, size_t m, size_t n, size_t r, const double *U,
                               const double *s, const double *Vt, double off) {
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t c = 0; c < r; c++) {
                sum += U[i * r + c] * s[c] * Vt[c * n + j];
                CHECK(s[c] >= 0 && (c == 0 || s[c] <= s[c - 1]), "order");
            }
            CHECK_CLOSE(sum, A[i * n + j], off, "%zux%zu", m, n);
        }
    }
}

static void check_svd(void) {
    static const size_t shapes[][2] = {{7, 4}, {4, 7}, {5, 5}, {1, 6}, {6, 1}};
    struct random random = sample_random(1, 0);
    for (size_t k = 0; k < 5; k++) {
        size_t m = shapes[k][0], n = shapes[k][1], r = m < n ? m : n;
        double *A = check_numbers(m * n), *U = check_numbers(m * r), *s = check_numbers(r),
               *Vt = check_numbers(r * n);
        double *L = check_numbers(m * 3), *R = check_numbers(3 * n);
        fill(A, m * n, &random);
        MUST(svd_thin(A, m, n, U, s, Vt, &err));
        check_reproduction(A, m, n, r, U, s, Vt, 1e-13);
        size_t q = r < 3 ? r : 3; /* all of a product of rank 3 */
        fill(L, m * 3, &random);
        fill(R, 3 * n, &random);
        matrix_product(L, R, m, 3, n, A);
        MUST(svd_product(L, R, m, 3, n, q, U, s, Vt, &err));
        check_reproduction(A, m, n, q, U, s, Vt, 1e-12);
    }
    double bad[4] = {1, NAN, 0, 1}, U[4], s[2], Vt[4];
    CHECK(svd_thin(bad, 2, 2, U, s, Vt, &err) < 0, "NaN is taken");
    printf("ok: singular value decompositions reproduce the matrix\n");
}

static void check_maps(void) {
    for (int sparse = 0; sparse < 2; sparse++) {
        struct sample sample;
        draw(&sample, 150, 6, 5, 2, 1, sparse, 3);
        size_t r = 2, R = 6, S = 5, n = 150;
        double *U = check_numbers(R * r), *Vt = check_numbers(r * S), *s = check_numbers(r),
               *x = check_numbers(R * S);
        double *F = check_numbers(n * R * r), *G = check_numbers(n * r * S),
               *T = check_numbers(n * r * (R + S));
        CHECK(svd_product(sample.truth, sample.truth, 1, 1, 1, 1, s, s, s, &err) == 0, "1x1");
        double *u = check_numbers(R * S), *q = check_numbers(S), *v = check_numbers(S * S);
        MUST(svd_thin(sample.truth, R, S, u, q, v, &err));
        for (size_t a = 0; a < R; a++) {
            memcpy(U + a * r, u + a * S, r * sizeof *U);
        }
        memcpy(Vt, v, r * S * sizeof *Vt);
        MUST(smm_project(&sample.matrices, NULL, Vt, r, F, &err));
        MUST(smm_project(&sample.matrices, U, NULL, r, G, &err));
        MUST(smm_project(&sample.matrices, U, Vt, r, T, &err));
        for (size_t i = 0; i < n; i++) {
            data_row_dense(&sample.data, i, R * S, x);
            for (size_t k = 0; k < r; k++) {
                for (size_t a = 0; a < R; a++) {
                    double sum = 0, inside = 0;
                    for (size_t c = 0; c < S; c++) {
                        sum += x[a * S + c] * Vt[k * S + c];
                    }
                    CHECK_CLOSE(F[(i * R + a) * r + k], sum, 1e-13, "X V");
                    for (size_t j = 0; j < r; j++) {
                        for (size_t e = 0; e < R; e++) {
                            inside += U[a * r + j] * U[e * r + j] * F[(i * R + e) * r + k];
                        }
                    }
                    CHECK_CLOSE(T[i * r * (R + S) + r * S + a * r + k], sum - inside, 1e-13,
                                "(I - UU') X V");
                }
                for (size_t c = 0; c < S; c++) {
                    double sum = 0;
                    for (size_t a = 0; a < R; a++) {
                        sum += U[a * r + k] * x[a * S + c];
                    }
                    CHECK_CLOSE(G[(i * r + k) * S + c], sum, 1e-13, "U' X");
                    CHECK_CLOSE(T[i * r * (R + S) + k * S + c], sum, 1e-13, "U' X, tangent");
                }
            }
        }
        data_free(&sample.data);
    }
    printf("ok: products with thin matrices are those of plain loops\n");
}

/* ---- steps ---- */

static void svm_of(const struct sample *sample, double epsilon, double *W, struct binary_fit *fit) {
    struct binary_rows rows = {.n = sample->matrices.n,
                               .d = sample->matrices.height * sample->matrices.width,
                               .data = &sample->data};
    struct smm_newton *newton;
    MUST(smm_newton_create(&newton, &rows, 0, 0, &err));
    *fit =
        (struct binary_fit){.w = W, .alpha = check_numbers(sample->matrices.n), .primal = INFINITY};
    MUST(smm_newton_solve(newton, &sample->loss, 0, epsilon, NULL, fit, &err));
    CHECK(fit->converged, "SVM");
    smm_newton_free(newton);
}

struct watched {
    double last;
    int n;
};

static enum stop_reason watch(void *context, uint64_t iteration, double primal, double dual) {
    struct watched *watched = context;
    (void)iteration;
    CHECK(primal <= watched->last, "the objective rises from %.12g to %.12g", watched->last,
          primal);
    CHECK(dual <= primal * (1 + 1e-9), "the lower bound %g is above %g", dual, primal);
    watched->last = primal;
    watched->n++;
    return 0;
}

/* A point of this rank with random orthonormal rows Vt. */
static void random_point(struct smm_point *point, const struct smm_matrices *matrices, size_t rank,
                         uint64_t seed) {
    size_t size = rank * matrices->width;
    double *normal = check_numbers(size), *U = check_numbers(rank * rank), *s = check_numbers(rank);
    struct random random = sample_random(seed, 1);
    fill(normal, size, &random);
    MUST(smm_point_create(point, matrices, rank, &err));
    MUST(svd_thin(normal, rank, matrices->width, U, s, point->Vt, &err));
}

/* 1/2 |W|^2 + the loss with the best bias. */
static double objective_of(const struct sample *sample, const double *W) {
    const struct smm_matrices *matrices = &sample->matrices;
    double sum, norm = 0, *scores = check_numbers(matrices->n);
    smm_scores(matrices, W, scores);
    binary_bias(&sample->loss, scores, matrices->n, check_numbers(2 * matrices->n), &sum);
    for (size_t j = 0; j < matrices->height * matrices->width; j++) {
        norm += W[j] * W[j];
    }
    return 0.5 * norm + sum;
}

static void check_descent(void) {
    for (int alternate = 0; alternate < 2; alternate++) {
        for (uint64_t seed = 0; seed < 4; seed++) {
            struct sample sample;
            draw(&sample, 120, 7, 6, 3, 5, seed % 2 == 1, 20 + seed);
            double *W = check_numbers(42);
            struct binary_fit fit;
            svm_of(&sample, 1e-6, W, &fit);
            struct watched watched = {INFINITY, 0};
            struct monitor monitor = {.context = &watched, .check = watch};
            struct smm_lowrank problem = {.matrices = &sample.matrices,
                                          .loss = &sample.loss,
                                          .rank = 2,
                                          .epsilon = 1e-3,
                                          .alternate = alternate,
                                          .bound = fit.dual,
                                          .monitor = &monitor};
            struct smm_point point;
            struct smm_trace trace;
            random_point(&point, &sample.matrices, 2, seed);
            MUST(smm_lowrank_descend(&problem, &point, &trace, &err));
            CHECK(trace.stalled && watched.n >= 2, "no descent");
            CHECK(alternate || trace.stationarity <= 1e-3, "stationarity %g", trace.stationarity);
            MUST(smm_point_matrix(&point, &sample.matrices, 2, W, &err));
            double objective = objective_of(&sample, W);
            CHECK_NEAR(point.objective, objective, 1e-9, "objective");
            smm_point_free(&point);
            data_free(&sample.data);
        }
    }
    printf("ok: the objective never rises, and is that of the matrix\n");
}

/* Alternation stalls where a joint step still decreases the objective. */
static void check_joint(void) {
    struct sample sample;
    draw(&sample, 200, 8, 6, 3, 10, false, 5);
    struct smm_lowrank problem = {.matrices = &sample.matrices,
                                  .loss = &sample.loss,
                                  .rank = 3,
                                  .epsilon = 1e-3,
                                  .alternate = true};
    struct smm_point point;
    struct smm_trace trace;
    bool moved;
    double stationarity;
    random_point(&point, &sample.matrices, 3, 7);
    MUST(smm_lowrank_descend(&problem, &point, &trace, &err));
    double objective = point.objective;
    CHECK(trace.stationarity > 1e-3, "alternation ended at a stationary point: %g",
          trace.stationarity);
    MUST(smm_lowrank_joint(&problem, &point, &stationarity, &moved, &err));
    CHECK(moved && point.objective < objective * (1 - 1e-3), "a joint step from %g to %g",
          objective, point.objective);
    smm_point_free(&point);
    data_free(&sample.data);
    printf("ok: a joint step continues where alternation stalls\n");
}

/* ---- limiting cases ---- */

static void check_recovery(void) {
    struct sample sample;
    draw(&sample, 400, 8, 7, 1, 10, false, 11);
    struct smm_lowrank problem = {
        .matrices = &sample.matrices, .loss = &sample.loss, .rank = 1, .epsilon = 1e-3};
    struct smm_point point;
    struct smm_trace trace;
    double *W = check_numbers(56);
    MUST(smm_point_create(&point, &sample.matrices, 1, &err));
    for (size_t c = 0; c < 7; c++) {
        point.Vt[c] = 1 / sqrt(7);
    }
    MUST(smm_lowrank_descend(&problem, &point, &trace, &err));
    MUST(smm_point_matrix(&point, &sample.matrices, 1, W, &err));
    CHECK(cosine(W, sample.truth, 56) > 0.99, "cosine %g", cosine(W, sample.truth, 56));
    smm_point_free(&point);
    data_free(&sample.data);
    printf("ok: a matrix of rank 1 is recovered\n");
}

/* ---- deadlines ---- */

/* A clock that advances a second per call, and a tenth at the end, when all tasks of a step call
 * it. */
static double tick(void *context) {
    double *left = context;
    return *left -= *left > 10 ? 1 : 0.1;
}

/* A fit under a clock with so many seconds, after which it would be discarded; *left: seconds
 * remaining at its end. */
static struct solution fit_within(struct sample *sample, enum smm_formulation formulation,
                                  double seconds, double *left, size_t *rank) {
    const struct problem problem = {.data = &sample->data, .n = sample->data.n_rows};
    const struct smm_parameters parameters = {
        .formulation = formulation, .cost = 10, .epsilon = 1e-6, .tau = 1};
    const struct monitor clock = {.context = left, .seconds_left = tick};
    struct solution solution;
    struct smm *smm;
    size_t n;
    *left = seconds;
    MUST(smm_create(&smm, &problem, 12, 10, NULL, NULL, &err));
    MUST(smm_solve(smm, &parameters, &clock, &solution, &err));
    *rank = smm_subproblems(smm, &n)->rank;
    smm_free(smm);
    return solution;
}

/* A solver reserves the time of three certificates, which take one second each here. */
static void check_early(void) {
    struct sample sample;
    double left;
    size_t rank;
    draw(&sample, 400, 12, 10, 2, 1, false, 5);
    sample.data.labels = DATA_NAME;
    sample.data.label = sample_array(400, sizeof *sample.data.label);
    sample_names(&sample.data.names, 2);
    for (size_t i = 0; i < 400; i++) {
        sample.data.label[i] = sample.y[i] > 0;
    }
    for (enum smm_formulation formulation = SMM_NUCLEAR; formulation <= SMM_SVM; formulation++) {
        struct solution all = fit_within(&sample, formulation, 1e6, &left, &rank);
        CHECK(all.converged && all.gap <= 1e-6, "gap %g with time for all", all.gap);
        solution_free(&all);
        struct solution cut = fit_within(&sample, formulation, 60, &left, &rank);
        CHECK(cut.reason == STOP_TIME && !cut.zero_only && left > 0, "%g s left, reason %d", left,
              (int)cut.reason);
        CHECK(rank > 0 && cut.gap < 1 && cut.gap > 1e-6, "rank %zu, gap %g", rank, cut.gap);
        solution_free(&cut);
        struct solution none = fit_within(&sample, formulation, 0.3, &left, &rank);
        CHECK(none.zero_only && rank == 0 && none.dual == 0, "a fit without time for it");
        solution_free(&none);
    }
    data_free(&sample.data);
    printf("ok: time is reserved for the certificate\n");
}

int main(void) {
    check_svd();
    check_maps();
    check_descent();
    check_joint();
    check_recovery();
    check_early();
    return 0;
}
