/* One-sided Jacobi in double-double, verified in ball arithmetic. */
#include "check/singular.h"

#include "common/base/arrays.h"

#include <stdbool.h>
#include <stdlib.h>

enum { MAX_SWEEPS = 60 };

/* The iteration: vectors of the shorter side, (m, d), and the product of the rotations (m, m). */
struct work {
    size_t m, d;
    struct dd *vector, *rotation;
};

static struct dd dot(const struct dd *a, const struct dd *b, size_t d) {
    struct dd sum = {0, 0};
    for (size_t j = 0; j < d; j++) {
        sum = dd_add(sum, dd_multiply(a[j], b[j]));
    }
    return sum;
}

static void rotate(struct dd *a, struct dd *b, size_t d, struct dd c, struct dd s) {
    for (size_t j = 0; j < d; j++) {
        struct dd x = a[j], y = b[j];
        a[j] = dd_add(dd_multiply(c, x), dd_negative(dd_multiply(s, y)));
        b[j] = dd_add(dd_multiply(s, x), dd_multiply(c, y));
    }
}

/* Makes two vectors orthogonal; false if they were, or if one is negligible compared to the other.
 */
static bool rotate_pair(struct work *work, size_t i, size_t j) {
    const struct dd one = {1, 0};
    const double enough = 0x1p-98, far = 0x1p200; /* the angle is below 1 / (2 far) */
    struct dd *a = work->vector + i * work->d, *b = work->vector + j * work->d;
    struct dd aa = dot(a, a, work->d), bb = dot(b, b, work->d), ab = dot(a, b, work->d);
    if (!(fabs(ab.hi) > enough * sqrt(aa.hi) * sqrt(bb.hi))) {
        return false;
    }
    struct dd zeta = dd_divide(dd_add(bb, dd_negative(aa)), dd_add(ab, ab));
    if (!(fabs(zeta.hi) < far)) {
        return false;
    }
    struct dd size = zeta.hi < 0 ? dd_negative(zeta) : zeta;
    struct dd t = dd_divide(one, dd_add(size, dd_root(dd_add(one, dd_multiply(size, size)))));
    t = zeta.hi < 0 ? dd_negative(t) : t;
    struct dd c = dd_divide(one, dd_root(dd_add(one, dd_multiply(t, t))));
    struct dd s = dd_multiply(c, t);
    rotate(a, b, work->d, c, s);
    rotate(work->rotation + i * work->m, work->rotation + j * work->m, work->m, c, s);
    return true;
}

static void sweep_all(struct work *work) {
    bool moved = true;
    for (int sweep = 0; moved && sweep < MAX_SWEEPS; sweep++) {
        moved = false;
        for (size_t i = 0; i < work->m; i++) {
            for (size_t j = i + 1; j < work->m; j++) {
                moved = rotate_pair(work, i, j) || moved;
            }
        }
    }
}

/* Entry j of vector i of the matrix, by its shorter side. */
static struct ball entry(const struct ball *matrix, size_t height, size_t width, size_t i,
                         size_t j) {
    return height <= width ? matrix[i * width + j] : matrix[j * width + i];
}

/* A bound of |X X' - D^2| in the Frobenius norm over the kept rows, scaled by their lengths. */
static double departure(const struct ball *X, size_t m, size_t d, const struct ball *length,
                        const bool *kept) {
    double squares = 0;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < m; j++) {
            if (kept[i] && kept[j]) {
                struct ball product = ball_dot(X + i * d, X + j * d, d);
                struct ball scale = ball_multiply(length[i], length[j]);
                double part = ball_magnitude(
                    ball_subtract(ball_divide(product, scale), ball_of(i == j ? 1 : 0)));
                squares += part * part * BALL_UP;
            }
        }
    }
    return sqrt(squares) * BALL_UP;
}

/* B (m, d) = R A. */
static void rotate_matrix(const struct work *work, const struct ball *matrix, size_t height,
                          size_t width, struct ball *R, struct ball *B) {
    size_t m = work->m, d = work->d;
    for (size_t i = 0; i < m * m; i++) {
        R[i] = (struct ball){work->rotation[i], 0};
    }
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < d; j++) {
            struct ball sum = ball_of(0);
            for (size_t l = 0; l < m; l++) {
                struct ball own = entry(matrix, height, width, l, j);
                sum = ball_add(sum, ball_multiply(R[i * m + l], own));
            }
            B[i * d + j] = sum;
        }
    }
}

/* Leaves out rows that are shorter than `tiny` times the longest; returns the relative error of the
 * values, and in *left the absolute error. */
static double bound_rows(const struct work *work, const struct ball *B, const struct ball *length,
                         double of_R, double tiny, double longest, bool *kept, double *left) {
    *left = 0;
    for (size_t i = 0; i < work->m; i++) {
        kept[i] = ball_low(length[i]) > tiny * longest;
        *left += kept[i] ? 0 : 2 * ball_magnitude(length[i]) * BALL_UP;
    }
    double of_B = departure(B, work->m, work->d, length, kept);
    /* for e, d < 1/4 both factors are within 1 +- 2 (e + d) */
    return of_R < 0.25 && of_B < 0.25 ? 2 * (of_R + of_B) * BALL_UP : INFINITY;
}

/* Sets value to the lengths of the rows of B, with error bounds; rows that consist of rounding
 * errors are left out, from the threshold on that gives the smallest bound. */
static void bound_values(const struct work *work, const struct ball *R, const struct ball *B,
                         bool *kept, struct ball *ones, struct ball *length, struct ball *value) {
    const double tiny[] = {1e-27, 1e-22, 1e-18, 1e-15, 1e-12};
    size_t m = work->m;
    double longest = 0, best = INFINITY, best_off = INFINITY, best_left = INFINITY;
    for (size_t i = 0; i < m; i++) {
        const struct ball *row = B + i * work->d;
        length[i] = ball_root(ball_dot(row, row, work->d));
        longest = fmax(longest, ball_magnitude(length[i]));
        ones[i] = ball_of(1);
        kept[i] = true;
    }
    double of_R = departure(R, m, m, ones, kept);
    for (size_t k = 0; k < sizeof tiny / sizeof tiny[0]; k++) {
        double left, off = bound_rows(work, B, length, of_R, tiny[k], longest, kept, &left);
        if (off * longest + left < best) {
            best = off * longest + left;
            best_off = off;
            best_left = left;
        }
    }
    for (size_t i = 0; i < m; i++) {
        double r = length[i].r + best_off * ball_magnitude(length[i]) + best_left;
        bool omitted = ball_magnitude(length[i]) <= best_left; /* the row may have been left out */
        struct dd middle = omitted ? (struct dd){0, 0} : length[i].m;
        value[i] =
            isfinite(r) ? ball_make(middle, omitted ? 2 * r : r) : (struct ball){{0, 0}, INFINITY};
    }
}

int singular_values(const struct ball *matrix, size_t height, size_t width, struct ball *value,
                    struct error *err) {
    struct work work = {.m = height < width ? height : width, .d = height < width ? width : height};
    size_t m = work.m, d = work.d;
    struct ball *R, *B, *ones, *length;
    bool *kept;
    void *block = ARRAYS_CREATE(
        "a matrix", err, ARRAYS(m * m, struct ball, &R), ARRAYS(m * d, struct ball, &B),
        ARRAYS(m, struct ball, &ones, &length), ARRAYS(m, bool, &kept),
        ARRAYS(m * d, struct dd, &work.vector), ARRAYS(m * m, struct dd, &work.rotation));
    if (!block) {
        return -1;
    }
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < d; j++) {
            work.vector[i * d + j] = entry(matrix, height, width, i, j).m;
        }
        work.rotation[i * m + i].hi = 1;
    }
    sweep_all(&work);
    rotate_matrix(&work, matrix, height, width, R, B);
    bound_values(&work, R, B, kept, ones, length, value);
    free(block);
    return 0;
}
