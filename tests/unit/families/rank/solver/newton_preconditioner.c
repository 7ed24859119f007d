/* The preconditioner of Newton's system compared with the system itself: with duplicate rows, in a
 * fold, with sampled pairs, and near the largest costs at which double has correct digits. */
#define _GNU_SOURCE
#include "families/rank/solver/newton_preconditioner.h"
#include "tests/unit/families/rank/solver/fixture.h"

#include <float.h>
#include <math.h>

/* out (n) = (I + c L K) x; s (n) gets K x. */
static void apply_system(const struct score_map *map, const struct rank_laplacian *laplacian,
                         double c, const double *x, double *s, double *out) {
    struct error err = {0};
    MUST(map->scores(map, x, s, &err));
    rank_laplacian_apply(laplacian, s, out);
    for (size_t i = 0; i < map->n; i++) {
        out[i] = x[i] + c * out[i];
    }
}

static double norm_of(const struct score_map *map, const double *x, double *s) {
    struct error err = {0};
    double square = 0;
    MUST(map->scores(map, x, s, &err));
    for (size_t i = 0; i < map->n; i++) {
        square += x[i] * s[i];
    }
    return sqrt(fmax(0, square));
}

/* The residual of random x, (B (I + c L K) - I) x in the norm of K, is due to the shift of 10^-10
 * of K's diagonal in c L K, at most c |L| times that, where |L| is at most twice the largest degree
 * of a distinct row, which may stand for two; and to rounding in the inversion, n units over the
 * shift. B is self-adjoint there. */
static void check_inverse(struct problem *problem, double fraction, double low, double c,
                          uint64_t seed) {
    struct error err = {0};
    struct rank_pairs pairs;
    struct rank_laplacian laplacian;
    struct rank_preconditioner *preconditioner;
    struct rank_preferences preferences = all_pairs();
    preferences.fraction = fraction;
    size_t n = problem->n;
    double *x = reference_alloc(n, sizeof(double)), *y = reference_alloc(n, sizeof(double));
    double *r = reference_alloc(n, sizeof(double)), *z = reference_alloc(n, sizeof(double));
    double *s = reference_alloc(n, sizeof(double)), *at = reference_alloc(n, sizeof(double));
    CHECK(rank_pairs_create(&pairs, problem, &preferences, &err) == 0 &&
              rank_laplacian_create(&laplacian, &pairs, &err) == 0 &&
              rank_preconditioner_rows(problem, &pairs) > 0 &&
              rank_preconditioner_create(&preconditioner, problem, &pairs, &err) == 0 &&
              preconditioner,
          "no preconditioner: %s", err.text);
    const struct score_map *map = rank_preconditioner_map(preconditioner);
    for (size_t i = 0; i < n; i++) {
        at[i] = uniform(&seed);
        x[i] = uniform(&seed) - .5;
        y[i] = uniform(&seed) - .5;
    }
    rank_laplacian_set(&laplacian, at, low, 1);
    CHECK(rank_preconditioner_update(preconditioner, &laplacian, at, c), "no factor");
    apply_system(map, &laplacian, c, x, s, r);
    rank_preconditioner_apply(preconditioner, &laplacian, r, z);
    double size = norm_of(map, x, s), degree = 0, diagonal = 0;
    MUST(map->diagonal(map, s, &err));
    for (size_t i = 0; i < n; i++) {
        degree = fmax(degree, laplacian.degree[i]);
        diagonal = fmax(diagonal, s[i]);
    }
    double part = c * 2 * 2 * degree * 1e-10 * diagonal + (double)n * DBL_EPSILON / 1e-10;
    for (size_t i = 0; i < n; i++) {
        z[i] -= x[i];
    }
    double left = norm_of(map, z, s);
    CHECK(left <= part * size, "c %g: the preconditioner leaves %g of %g", c, left, size);
    double one = 0, other = 0;
    rank_preconditioner_apply(preconditioner, &laplacian, x, z);
    MUST(map->scores(map, y, s, &err));
    for (size_t i = 0; i < n; i++) {
        one += z[i] * s[i];
    }
    rank_preconditioner_apply(preconditioner, &laplacian, y, z);
    MUST(map->scores(map, x, s, &err));
    for (size_t i = 0; i < n; i++) {
        other += z[i] * s[i];
    }
    CHECK(fabs(one - other) <= part * size * norm_of(map, y, r), "<By, x> %g, <Bx, y> %g", one,
          other);
    rank_preconditioner_free(preconditioner);
    rank_laplacian_free(&laplacian);
    rank_pairs_free(&pairs);
    free(x);
    free(y);
    free(r);
    free(z);
    free(s);
    free(at);
}

/* Kernels that are not known to be positive semidefinite, and linear problems, have no
 * preconditioner. */
static void check_refused(const struct data *data) {
    struct error err = {0};
    const struct kernel sigmoid = {.type = KERNEL_SIGMOID, .gamma = 1};
    struct rank_pairs pairs;
    struct rank_preferences preferences = all_pairs();
    struct problem problem = {.data = data, .n = data->n_rows, .cache_bytes = SIZE_MAX};
    struct gram *gram;
    MUST(rank_pairs_create(&pairs, &problem, &preferences, &err));
    MUST(gram_create(&gram, &sigmoid, data, 0, false, NULL, &err));
    CHECK(rank_preconditioner_rows(&problem, &pairs) == 0, "a preconditioner of a linear problem");
    problem.gram = gram;
    CHECK(rank_preconditioner_rows(&problem, &pairs) == 0, "a preconditioner of sigmoid");
    gram_free(gram);
    rank_pairs_free(&pairs);
}

int main(void) {
    enum { N = 150, REPEATS = 50 };
    struct error err = {0};
    struct reference_data rows;
    struct data data;
    uint32_t fold[N];
    random_rows(&rows, N, 6, 4, 5, 3);
    for (size_t i = 0; i < REPEATS; i++) {
        memcpy(rows.x + (N - 1 - i) * rows.width, rows.x + i * rows.width,
               rows.width * sizeof *rows.x);
    }
    rows_to_data(&data, &rows, DENSE);
    const struct kernel kernels[] = {
        {.type = KERNEL_RBF, .gamma = .3},
        {.type = KERNEL_POLYNOMIAL, .gamma = 1, .coef0 = 1, .degree = 2}};
    for (size_t k = 0; k < 2; k++) {
        struct gram *gram;
        MUST(gram_create(&gram, &kernels[k], &data, SIZE_MAX, false, NULL, &err));
        struct problem problem = {
            .data = &data, .gram = gram, .n = N, .cache_bytes = SIZE_MAX, .threads = NULL};
        check_inverse(&problem, 1, -INFINITY, 1, 1);
        check_inverse(&problem, 1, -INFINITY, 1e4, 2);
        check_inverse(&problem, 1, .5, 1e2, 3);
        check_inverse(&problem, .3, -INFINITY, 1e2, 4);
        for (size_t i = 0; i < N / 2; i++) {
            fold[i] = (uint32_t)(2 * i);
        }
        problem.rows = fold;
        problem.n = N / 2;
        check_inverse(&problem, 1, -INFINITY, 1e2, 5);
        gram_free(gram);
    }
    check_refused(&data);
    data_free(&data);
    reference_data_free(&rows);
    printf("ok: what the preconditioner of Newton's system leaves of it\n");
    return 0;
}
