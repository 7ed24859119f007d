#include "common/kernel/rounding.h"

#include "common/kernel/table.h"

#include <float.h>
#include <math.h>

static const double UNIT = DBL_EPSILON / 2;

/* The most values that a sum over the features of a row has. */
static double longest_row(const struct data *data) {
    if (!data->row_start) {
        return (double)data->n_features;
    }
    uint64_t most = 0;
    for (size_t i = 0; i < data->n_rows; i++) {
        uint64_t n = data->row_start[i + 1] - data->row_start[i];
        most = n > most ? n : most;
    }
    return (double)most;
}

static double largest_value(const struct data *data) {
    double largest = 0;
    size_t n = data_values(data);
    for (size_t v = 0; v < n; v++) {
        largest = fmax(largest, fabs((double)data->value[v]));
    }
    return largest;
}

static double largest_norm(const struct kernel_rows *rows) {
    double largest = 0;
    for (size_t i = 0; i < rows->data->n_rows; i++) {
        largest = fmax(largest, rows->norm[i]);
    }
    return largest;
}

/* ---- one for each kernel: `terms` is the longest row ---- */

static double linear_rounding(const struct kernel_rows *rows, double terms) {
    (void)rows;
    return (terms + 2) * UNIT;
}

static double polynomial_rounding(const struct kernel_rows *rows, double terms) {
    return rows->kernel->degree * (terms + 6) * UNIT;
}

/* exp(-gamma d) where d, a sum of norms less what two rows share, is off by `off` units of the
 * norms' sum; unless more than 33 bits cancel: then it is summed up as it stands. */
static double decay_rounding(const struct kernel_rows *rows, double off) {
    double cancelled = fmin(2 * fabs(rows->kernel->gamma) * largest_norm(rows), 0x1p33 / 2.718);
    return (8 + off * fmax(cancelled, 1)) * UNIT;
}

/* Norms of n terms are n - 1 units off, twice what two rows share n - 1 of no more than the norms'
 * sum, and the three are put together with three roundings. */
static double rbf_rounding(const struct kernel_rows *rows, double terms) {
    return decay_rounding(rows, 2 * terms + 4);
}

static double sigmoid_rounding(const struct kernel_rows *rows, double terms) {
    (void)rows;
    return (terms + 8) * UNIT;
}

static double precomputed_rounding(const struct kernel_rows *rows, double terms) {
    (void)rows;
    (void)terms;
    return 0;
}

static double tanimoto_rounding(const struct kernel_rows *rows, double terms) {
    (void)rows;
    return (6 * terms + 20) * UNIT;
}

static double minmax_rounding(const struct kernel_rows *rows, double terms) {
    return tanimoto_rounding(rows, terms);
}

/* The same of sums of sizes, with twice a sum of minima. */
static double laplacian_rounding(const struct kernel_rows *rows, double terms) {
    return rbf_rounding(rows, terms);
}

/* Its slope in gamma d, 1 / (1 + gamma d)^2, is at most the laplacian's where that is largest, and
 * at most 1 / (4 gamma d): what is said of exp(-gamma d) holds, and three roundings come behind
 * it. */
static double rational_rounding(const struct kernel_rows *rows, double terms) {
    return laplacian_rounding(rows, terms);
}

double kernel_rounding(const struct kernel_rows *rows) {
    static double (*const rounding[])(const struct kernel_rows *rows, double terms) = {
#define KERNEL(number, name, ...) [KERNEL_##number] = name##_rounding,
#include "common/kernel/table.inc"
    };
    return rounding[rows->kernel->type](rows, longest_row(rows->data));
}

/* ---- reach, of a row with that norm; precomputed: of the largest value, in its place ---- */

static double plain_reach(const struct kernel *kernel, double norm) {
    (void)kernel;
    return sqrt(norm);
}

static double power_reach(const struct kernel *kernel, double norm) {
    return pow(fabs(kernel->gamma) * norm + fabs(kernel->coef0), 0.5 * kernel->degree);
}

static double tanh_reach(const struct kernel *kernel, double norm) {
    return sqrt(1 + fabs(kernel->gamma) * norm + fabs(kernel->coef0));
}

static double decay_reach(const struct kernel *kernel, double norm) {
    (void)kernel;
    (void)norm;
    return 1;
}

void kernel_reach(const struct kernel_rows *rows, double *reach) {
    static double (*const reach_of[])(const struct kernel *kernel, double norm) = {
#define inverse_reach decay_reach
#define ratio_reach decay_reach
#define KERNEL(number, name, d, g, r, sums, norms, positive, function, ...)                        \
    [KERNEL_##number] = function##_reach,
#include "common/kernel/table.inc"
#undef inverse_reach
#undef ratio_reach
    };
    double largest = rows->norm ? 0 : largest_value(rows->data);
    for (size_t i = 0; i < rows->data->n_rows; i++) {
        reach[i] = reach_of[rows->kernel->type](rows->kernel, rows->norm ? rows->norm[i] : largest);
    }
}

/* ---- entries ---- */

void kernel_rounding_open(struct kernel_rounding *rounding, const struct kernel_rows *rows,
                          double units) {
    size_t n = data_values(rows->data);
    *rounding = (struct kernel_rounding){
        .rows = rows, .terms = longest_row(rows->data), .units = units, .positive = true};
    for (size_t v = 0; v < n; v++) {
        rounding->positive = rounding->positive && rows->data->value[v] >= 0;
    }
}

/* Bounds of what a value k of two rows with these norms is off by: one for each way to make values
 * of sums. */
struct pair_norms {
    double x, z;
};

/* |x| |z|, at least. */
static double largest_product(struct pair_norms norms) {
    return sqrt(norms.x) * sqrt(norms.z) * (1 + 1e-12);
}

/* Of x'z, or a number as it is stored. */
static double plain_entry(const struct kernel_rounding *rounding, struct pair_norms norms,
                          double k) {
    bool stored = rounding->rows->kernel->type == KERNEL_PRECOMPUTED;
    (void)k;
    return stored ? 0 : rounding->terms * UNIT * largest_product(norms);
}

/* What gamma x'z + coef0 is off by. */
static double base_error(const struct kernel_rounding *rounding, struct pair_norms norms) {
    const struct kernel *kernel = rounding->rows->kernel;
    double product = fabs(kernel->gamma) * largest_product(norms);
    return ((rounding->terms + 4) * product + 3 * fabs(kernel->coef0)) * UNIT;
}

/* b^d, b = k^(1/d), with b off by `off`: (|b| + off)^d - |b|^d <= d off (|b| + off)^(d - 1). */
static double power_entry(const struct kernel_rounding *rounding, struct pair_norms norms,
                          double k) {
    double degree = rounding->rows->kernel->degree, off = base_error(rounding, norms);
    double base = degree > 0 ? pow(fabs(k), 1 / degree) * (1 + 1e-12) + off : 1;
    return degree * off * pow(base + off, fmax(degree - 1, 0)) + 2 * degree * UNIT * fabs(k);
}

/* The slope of tanh is at most 1. */
static double tanh_entry(const struct kernel_rounding *rounding, struct pair_norms norms,
                         double k) {
    return base_error(rounding, norms) + 8 * UNIT * fabs(k);
}

/* a / (s - a), |a| <= s / 2: a sum of n terms of one sign is n - 1 units off, and so is s; s - a is
 * at least s / 2, and so 3 n units off. */
static double ratio_entry(const struct kernel_rounding *rounding, struct pair_norms norms,
                          double k) {
    double terms = rounding->rows->whole ? 1 : rounding->terms, units = 3 * terms + 8;
    double shared = rounding->positive || norms.x + norms.z == 0
                        ? fabs(k)
                        : largest_product(norms) / ((norms.x + norms.z) / 2) * (1 + 1e-12);
    return (units * fabs(k) + terms * shared) * UNIT;
}

/* gamma d of an entry is t, off by `shared` units of that of the norms; where it is less than
 * KERNEL_NEAR of them and summed up as it stands by `direct` units of itself. Which of the two it
 * was is not known within 2 of that border, where the first is the more. exp(-t) is then off by
 * exp(part) - 1 of itself, and 1 / (1 + t) by less. What came out as 0 is below exp(-708), but for
 * the error of that exponent. */
static double decay_entry(const struct kernel_rounding *rounding, struct pair_norms norms,
                          double k) {
    const struct kernel *kernel = rounding->rows->kernel;
    const double near = KERNEL_NEAR, zero = 708;
    /* two norms, what is shared twice, and their sums; the differences of up to twice as many
     * features, and of their squares; three of the exponent */
    double shared = 2 * rounding->terms + 10, direct = 2 * rounding->terms + 8;
    double sum = kernel->gamma * (norms.x + norms.z), part = shared * UNIT * sum;
    if (!(k > 0)) {
        part = zero < near / 2 * sum ? direct * UNIT * zero
                                     : fmin(part, shared * UNIT * 2 / near * zero);
        return fmin(exp(part - zero), 1);
    }
    if (k > 1 - near * sum) { /* it may be */
        bool decays = kernel_table[kernel->type].function_double == kernel_decay_double;
        double t = k >= 1 ? 0 : decays ? -log(k) : 1 / k - 1;
        part = t < near / 2 * sum ? direct * UNIT * t : part;
    }
    return k * (expm1(part) + 8 * UNIT);
}

void kernel_rounding_entries(const struct kernel_rounding *rounding, size_t row,
                             const uint32_t *column, size_t n, double *value) {
    static double (*const entry[])(const struct kernel_rounding *rounding, struct pair_norms norms,
                                   double k) = {
#define inverse_entry decay_entry
#define KERNEL(number, name, d, g, r, sums, norms, positive, function, ...)                        \
    [KERNEL_##number] = function##_entry,
#include "common/kernel/table.inc"
#undef inverse_entry
    };
    const struct kernel_rows *rows = rounding->rows;
    double (*const bound)(const struct kernel_rounding *rounding, struct pair_norms norms,
                          double k) = entry[rows->kernel->type];
    const double up = 1 + 0x1p-20; /* sums of bounds are rounded, too */
    for (size_t c = 0; c < n; c++) {
        double k = value[c];
        struct pair_norms norms = {rows->norm ? rows->norm[row] : 0,
                                   rows->norm ? rows->norm[column[c]] : 0};
        double off = bound(rounding, norms, k);
        value[c] = up * (off + rounding->units * UNIT * fabs(k));
    }
}

/* ---- values in float ---- */

/* What the bounds need of a row's values that are not 0. */
struct values {
    double terms;
    float least, smallest; /* of all rows so far: value, and size of one */
};

static void look_at_row(const struct data *data, size_t i, struct values *values) {
    size_t first = data->row_start ? (size_t)data->row_start[i] : i * data->n_features;
    size_t end = data->row_start ? (size_t)data->row_start[i + 1] : first + data->n_features;
    values->terms = 0;
    for (size_t v = first; v < end; v++) {
        float value = data->value[v], size = fabsf(value);
        values->terms += value != 0;
        values->least = value < values->least ? value : values->least;
        values->smallest = value != 0 && size < values->smallest ? size : values->smallest;
    }
}

/* exp(-gamma d): d is off by a unit for each term of what two rows share, and by 6 for their norms,
 * times the norms' sum; gamma d by 3 units of its own, with gamma d < 88 where the value is not 0;
 * exp by 8, see decay_rounding. 1 / (1 + gamma d) is off by less. Products and gamma may underflow.
 * Cancelled distances are computed in double. */
static double decay_float(const struct kernel_rows *rows, double terms, double norms) {
    double gamma = rows->kernel->gamma, exponent = gamma * norms;
    double units = 8 + (terms + 6) * exponent + 3 * fmin(2 * exponent, 88);
    return units * FLT_EPSILON / 2 + (gamma * (terms + 2) + norms) * 0x1p-147;
}

bool kernel_rounding_float(const struct kernel_rows *rows, double *relative) {
    const struct kernel_entry *entry = &kernel_table[rows->kernel->type];
    const double most = 0.01;
    const float smallest = 0x1p-60F; /* whose products are normal numbers */
    bool decays = entry->function_float == kernel_decay_float ||
                  entry->function_float == kernel_inverse_float;
    if (!decays && entry->function_float != kernel_ratio_float) {
        return false;
    }
    double largest = largest_norm(rows);
    struct values values = {.smallest = INFINITY};
    for (size_t i = 0; i < rows->data->n_rows; i++) {
        look_at_row(rows->data, i, &values);
        double part = decays ? decay_float(rows, values.terms, rows->norm[i] + largest)
                             : (6 * values.terms + 20) * FLT_EPSILON / 2;
        part *= 1 + 2 * most; /* exp(t) - 1 is more than t, and errors have errors */
        relative[i] = part < most ? part : (double)INFINITY;
    }
    return decays || (values.least >= 0 && values.smallest >= smallest); /* else sums cancel */
}
