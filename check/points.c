/* Points, and kernel values by their definitions. */
#include "check/points.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

/* Iterates over the non-zero values of a row. */
struct cursor {
    struct stored_row row;
    size_t at;
};

static struct cursor cursor_of(const struct data *data, size_t i) {
    return (struct cursor){data_stored(data, i), 0};
}

static bool cursor_next(struct cursor *cursor, uint32_t *column, float *value) {
    struct stored_row row = cursor->row;
    while (cursor->at < row.n && row.value[cursor->at] == 0) {
        cursor->at++;
    }
    if (cursor->at >= row.n) {
        return false;
    }
    *column = stored_column(row, cursor->at);
    *value = row.value[cursor->at++];
    return true;
}

void points_each(const struct points *points, size_t i,
                 void (*add)(void *context, size_t column, double value), void *context) {
    struct cursor cursor = cursor_of(points->rows, i);
    uint32_t column;
    float value;
    while (cursor_next(&cursor, &column, &value)) {
        add(context, column, ldexp((double)value, points->half_unit));
    }
}

static uint64_t hash_row(const struct data *data, size_t i) {
    struct cursor cursor = cursor_of(data, i);
    uint64_t hash = 0x9e3779b97f4a7c15;
    uint32_t column, bits;
    float value;
    while (cursor_next(&cursor, &column, &value)) {
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ (((uint64_t)column << 32) | bits)) * 0xff51afd7ed558ccd;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool rows_equal(const struct data *a, size_t i, const struct data *b, size_t j) {
    struct cursor one = cursor_of(a, i), two = cursor_of(b, j);
    uint32_t u = 0, v = 0;
    float x = 0, y = 0;
    for (;;) {
        bool first = cursor_next(&one, &u, &x), second = cursor_next(&two, &v, &y);
        if (!first || !second) {
            return first == second;
        }
        if (u != v || x != y) {
            return false;
        }
    }
}

/* The data and row of a point. */
static const struct data *locate(const struct points *points, size_t p, size_t *row) {
    *row = p < points->n ? p : points->vector[p - points->n];
    return p < points->n ? points->rows : points->vectors;
}

void points_load(const struct points *points, size_t p, double *x) {
    size_t row;
    const struct data *data = locate(points, p, &row);
    data_row_dense(data, row, points->width, x);
}

/* ---- precomputed matrices ---- */

/* Indexes the rows by their serial numbers. */
static int index_serials(struct points *points, struct error *err) {
    size_t n = points->n;
    const struct data *rows = points->rows;
    points->row_of = memory_array(n + 1, sizeof *points->row_of, "rows", err);
    if (!points->row_of) {
        return -1;
    }
    memset(points->row_of, 0xff, (n + 1) * sizeof *points->row_of);
    for (size_t i = n; i-- > 0;) {
        uint64_t serial = rows->serial ? rows->serial[i] : 0;
        if (serial < 1 || serial > n) {
            return error_set(err, ERROR_RUNTIME, "row %zu has no serial from 1 to %zu", i + 1, n);
        }
        points->row_of[serial] = (uint32_t)i;
    }
    return 0;
}

static struct ball stored_value(const struct points *points, size_t p, size_t q) {
    const struct data *rows = points->rows;
    return ball_of((double)data_value(rows, p, rows->serial[q] - 1)); /* from 0, like columns */
}

bool points_is_zero(const struct points *points, size_t p) {
    bool zero = points->kernel.type == KERNEL_PRECOMPUTED;
    for (size_t other = 0; zero && other < points->n_all; other++) {
        zero = ball_is_zero(stored_value(points, p, other)) &&
               ball_is_zero(stored_value(points, other, p));
    }
    return zero;
}

/* ---- equal points ---- */

/* True if training rows i and j are the same point. */
static bool points_equal(const struct points *points, size_t i, size_t j) {
    bool equal = rows_equal(points->rows, i, points->rows, j);
    for (size_t p = 0; equal && points->row_of && p < points->n; p++) {
        equal = stored_value(points, p, i).m.hi == stored_value(points, p, j).m.hi;
    }
    return equal;
}

/* Builds a hash table of the training rows: 1 + the first of equal rows. */
static uint32_t *index_rows(struct points *points, size_t room, struct error *err) {
    uint32_t *table = memory_zeros(room, sizeof *table, "rows", err);
    for (size_t i = 0; table && i < points->n; i++) {
        size_t at = (size_t)hash_row(points->rows, i) & (room - 1);
        while (table[at] && !points_equal(points, i, table[at] - 1)) {
            at = (at + 1) & (room - 1);
        }
        table[at] = table[at] ? table[at] : (uint32_t)(i + 1);
        points->first[i] = table[at] - 1;
    }
    return table;
}

static void match_vectors(struct points *points, const uint32_t *table, size_t room) {
    for (size_t v = 0; v < points->vectors->n_rows; v++) {
        size_t at = (size_t)hash_row(points->vectors, v) & (room - 1);
        while (table[at] && !rows_equal(points->vectors, v, points->rows, table[at] - 1)) {
            at = (at + 1) & (room - 1);
        }
        if (table[at]) {
            points->point[v] = table[at] - 1;
        } else {
            points->vector[points->n_all - points->n] = (uint32_t)v;
            points->first[points->n_all] = (uint32_t)points->n_all;
            points->point[v] = (uint32_t)points->n_all++;
        }
    }
}

/* Precomputed: rows are identified by serial numbers. */
static int match_serials(struct points *points, struct error *err) {
    size_t n = points->n;
    const struct data *vectors = points->vectors;
    for (size_t v = 0; v < vectors->n_rows; v++) {
        uint64_t serial = vectors->serial ? vectors->serial[v] : 0;
        if (serial < 1 || serial > n || points->row_of[serial] == UINT32_MAX) {
            return error_set(err, ERROR_RUNTIME, "support vector %zu is no training row", v + 1);
        }
        points->point[v] = points->row_of[serial];
    }
    return 0;
}

/* ---- sums ---- */

enum { LANES = 4 };

/* Compensated sums of doubles: hi + lo of each lane. */
struct lanes {
    double hi[LANES], lo[LANES];
};

static inline void lanes_add(struct lanes *lanes, size_t lane, double term) {
    struct dd s = dd_two_sum(lanes->hi[lane], term);
    lanes->hi[lane] = s.hi;
    lanes->lo[lane] += s.lo;
}

/* The sum of m terms, whose magnitudes sum to at most `size`. Of the p terms of a lane each but the
 * first has an error of u times that, and these are added with fewer than p roundings. */
static struct ball lanes_end(const struct lanes *lanes, double m, double size) {
    double p = ceil(m / LANES), relative_error = p * (p - 1) * 0x1p-106 + (LANES - 1) * BALL_OF_SUM;
    struct dd sum = dd_two_sum(lanes->hi[0], lanes->lo[0]);
    for (size_t lane = 1; lane < LANES; lane++) {
        sum = dd_add(sum, dd_two_sum(lanes->hi[lane], lanes->lo[lane]));
    }
    return ball_within(sum, 0, relative_error * size * BALL_UP);
}

/* min(|x_k|, |z_k|) if the signs agree, else 0. */
static inline double overlap(double x, double z) {
    double minimum = fmin(fabs(x), fabs(z));
    return x * z > 0 ? minimum : 0;
}

/* x'z, or the sum of overlaps, of a dense row and row j; products of two floats are exact. */
static struct ball sum_dense(const double *x, const float *z, size_t d, bool overlaps,
                             double size) {
    struct lanes lanes = {{0}, {0}};
    size_t k = 0;
    for (; !overlaps && k + LANES <= d; k += LANES) {
        for (size_t lane = 0; lane < LANES; lane++) {
            lanes_add(&lanes, lane, x[k + lane] * (double)z[k + lane]);
        }
    }
    for (; k < d; k++) {
        double y = (double)z[k];
        lanes_add(&lanes, k % LANES, overlaps ? overlap(x[k], y) : x[k] * y);
    }
    return lanes_end(&lanes, (double)d, size);
}

static struct ball sum_sparse(const double *x, const uint32_t *column, const float *z, size_t d,
                              bool overlaps, double size) {
    struct lanes lanes = {{0}, {0}};
    for (size_t k = 0; k < d; k++) {
        double u = x[column[k]], v = (double)z[k];
        lanes_add(&lanes, k % LANES, overlaps ? overlap(u, v) : u * v);
    }
    return lanes_end(&lanes, (double)d, size);
}

static struct ball sum_with(const struct points *points, const double *x, size_t q, bool overlaps,
                            double size) {
    size_t row;
    const struct data *data = locate(points, q, &row);
    if (data->row_start) {
        uint64_t first = data->row_start[row];
        size_t m = (size_t)(data->row_start[row + 1] - first);
        return sum_sparse(x, data->column + first, data->value + first, m, overlaps, size);
    }
    return sum_dense(x, data->value + row * data->n_features, data->n_features, overlaps, size);
}

/* The sum of (x_k - z_k)^2, or of |x_k - z_k|, from the differences, which are exact. */
static struct ball sum_differences(const struct points *points, size_t p, size_t q, bool absolute) {
    size_t row[2];
    const struct data *data[2] = {locate(points, p, &row[0]), locate(points, q, &row[1])};
    struct cursor a = cursor_of(data[0], row[0]), b = cursor_of(data[1], row[1]);
    struct ball_sum sum = {{0, 0}, 0, 0};
    uint32_t u = 0, v = 0;
    float x = 0, z = 0;
    bool in_a = cursor_next(&a, &u, &x), in_b = cursor_next(&b, &v, &z);
    while (in_a || in_b) {
        bool take_a = in_a && (!in_b || u <= v), take_b = in_b && (!in_a || v <= u);
        struct dd difference = dd_two_sum(take_a ? (double)x : 0, take_b ? -(double)z : 0);
        struct ball own = {difference, 0};
        if (absolute) {
            ball_sum_add(&sum, difference.hi < 0 ? dd_negative(difference) : difference);
        } else {
            ball_sum_product(&sum, own, own);
        }
        in_a = take_a ? cursor_next(&a, &u, &x) : in_a;
        in_b = take_b ? cursor_next(&b, &v, &z) : in_b;
    }
    return ball_sum_end(&sum);
}

/* ---- kernels ---- */

static bool has_overlaps(enum kernel_type type) {
    return type == KERNEL_MINMAX || type == KERNEL_LAPLACIAN || type == KERNEL_RATIONAL;
}

/* The polynomial and sigmoid kernels from x'z. */
static struct ball of_product(const struct kernel *kernel, struct ball product) {
    product = ball_add(ball_multiply(ball_of(kernel->gamma), product), ball_of(kernel->coef0));
    return kernel->type == KERNEL_SIGMOID ? ball_tangent(product)
                                          : ball_power(product, kernel->degree);
}

/* The distance, by norms and products, which is fast, if its rounding error changes the kernel by a
 * relative error of at most CLOSE; else, for large rows that are near to one another, by
 * differences. */
static struct ball distance_of(const struct points *points, size_t p, size_t q, struct ball both,
                               struct ball sum) {
    const double CLOSE = 0x1p-66;
    struct ball distance = ball_subtract(both, ball_add(sum, sum));
    bool close = points->kernel.gamma * distance.r <= CLOSE;
    return close ? distance : sum_differences(points, p, q, points->kernel.type != KERNEL_RBF);
}

static struct ball decay(const struct kernel *kernel, struct ball distance) {
    struct ball from = ball_multiply(ball_of(kernel->gamma), ball_positive(distance));
    return ball_exponential(ball_negative(from));
}

static struct ball rational(const struct kernel *kernel, struct ball distance) {
    struct ball from = ball_multiply(ball_of(kernel->gamma), ball_positive(distance));
    return ball_divide(ball_of(1), ball_add(ball_of(1), from));
}

struct ball points_kernel(const struct points *points, size_t p, const double *x, size_t q) {
    const struct kernel *kernel = &points->kernel;
    if (kernel->type == KERNEL_PRECOMPUTED) {
        return stored_value(points, p, q);
    }
    bool overlaps = has_overlaps(kernel->type);
    double size = overlaps ? fmin(points->magnitude[p], points->magnitude[q])
                           : points->magnitude[p] * points->magnitude[q] * BALL_UP;
    struct ball sum = sum_with(points, x, q, overlaps, size);
    struct ball both = ball_add(points->norm[p], points->norm[q]);
    switch (kernel->type) {
    case KERNEL_POLYNOMIAL:
    case KERNEL_SIGMOID:
        return of_product(kernel, sum);
    case KERNEL_RBF:
    case KERNEL_LAPLACIAN:
        return decay(kernel, distance_of(points, p, q, both, sum));
    case KERNEL_RATIONAL:
        return rational(kernel, distance_of(points, p, q, both, sum));
    case KERNEL_TANIMOTO:
    case KERNEL_MINMAX:
        return ball_is_zero(both) ? ball_of(1) : ball_divide(sum, ball_subtract(both, sum));
    default:
        return sum;
    }
}

struct ball points_own(const struct points *points, size_t p) {
    const struct kernel *kernel = &points->kernel;
    struct ball sum = points->norm[p]; /* x'x, if the kernel is a function of that */
    switch (kernel->type) {
    case KERNEL_PRECOMPUTED:
        return stored_value(points, p, p);
    case KERNEL_POLYNOMIAL:
    case KERNEL_SIGMOID:
        return of_product(kernel, sum);
    case KERNEL_LINEAR:
        return sum;
    default:
        return ball_of(1);
    }
}

double points_largest_own(const struct points *points) {
    double largest = 0;
    for (size_t i = 0; i < points->n; i++) {
        largest = fmax(largest, ball_magnitude(points_own(points, i)));
    }
    return largest;
}

/* ---- all points ---- */

static void find_norms(struct points *points, double *x) {
    bool overlaps = has_overlaps(points->kernel.type);
    for (size_t p = 0; p < points->n_all; p++) {
        double size = 0;
        points_load(points, p, x);
        for (size_t k = 0; k < points->width; k++) {
            size += overlaps ? fabs(x[k]) : x[k] * x[k];
        }
        size *= 1 + (double)points->width * 0x1p-52;
        points->norm[p] = sum_with(points, x, p, overlaps, size);
        points->magnitude[p] = overlaps ? ball_magnitude(points->norm[p])
                                        : sqrt(ball_magnitude(points->norm[p])) * BALL_UP;
    }
}

int points_create(struct points *points, const struct data *rows, const struct model *model,
                  int half_unit, struct error *err) {
    const struct data *vectors = &model->vectors;
    size_t n = rows->n_rows, n_vectors = vectors->n_rows, room = memory_room(0, 2 * n + 2);
    *points = (struct points){.rows = rows,
                              .vectors = vectors,
                              .kernel = model->kernel,
                              .n = n,
                              .n_all = n,
                              .half_unit = half_unit};
    points->width = larger(larger(rows->n_features, vectors->n_features), model->n_columns);
    double *x;
    points->block = ARRAYS_CREATE(
        "rows", err, ARRAYS(n_vectors, uint32_t, &points->vector, &points->point),
        ARRAYS(n + n_vectors, uint32_t, &points->first),
        ARRAYS(n + n_vectors, struct ball, &points->norm),
        ARRAYS(n + n_vectors, double, &points->magnitude), ARRAYS(points->width, double, &x));
    int status = points->block ? 0 : -1;
    bool stored = points->kernel.type == KERNEL_PRECOMPUTED;
    status = status == 0 && stored ? index_serials(points, err) : status;
    uint32_t *table = status == 0 ? index_rows(points, room, err) : NULL;
    status = !table ? -1 : stored ? match_serials(points, err) : 0;
    if (status == 0 && !stored) {
        match_vectors(points, table, room);
        find_norms(points, x);
    }
    free(table);
    if (status < 0) {
        points_free(points);
    }
    return status;
}

void points_free(struct points *points) {
    free(points->row_of);
    free(points->block);
    *points = (struct points){0};
}
