/* The exact step of mc, for every formulation: it is optimal among moves in a row's feasible set,
 * and the vectorised steps agree with a plain one. */
#include "common/base/memory.h"
#include "families/mc/solver/formulation.h"
#include "tests/unit/compute.h"

enum { FORMS = 8 };

/* ---- the exact step, plain and in double ---- */

/* With v the maximum without constraints and without the rank-one part, the new alpha is
 * clip(v_c - theta) for the others and clip(v_y - eta) for the own class, where
 *   theta = kappa U + lambda, eta = -kappa U + lambda, U = sum of the others - own,
 * and lambda >= 0 belongs to sum alpha <= cost. */
struct block {
    const struct mc_shape *shape;
    size_t y;
    double cap;
    const double *v;
};

static double clip(double value, double cap) {
    return value < 0 ? 0 : value > cap ? cap : value;
}

static double sum_others(const struct block *block, double theta, double cap) {
    double sum = 0;
    for (size_t c = 0; block->shape->form->others && c < block->shape->k; c++) {
        sum += c == block->y ? 0 : clip(block->v[c] - theta, cap);
    }
    return sum;
}

static double own(const struct block *block, double eta) {
    return block->shape->form->own ? clip(block->v[block->y] - eta, block->cap) : 0;
}

/* A function that increases in t, whose root is wanted. `kind`: 0 lambda = 0, t = theta; 1 sum
 * alpha = cap without an own term, t = theta; 2 the same with one, t = its alpha. */
static double equation(const struct block *block, int kind, double t) {
    double kappa = block->shape->kappa, cap = block->cap;
    if (kind == 0) {
        return t - kappa * (sum_others(block, t, cap) - own(block, -t));
    }
    if (kind == 1) {
        return cap - sum_others(block, t, INFINITY);
    }
    double theta = block->v[block->y] - t + 2 * kappa * (cap - 2 * t);
    return sum_others(block, theta, INFINITY) - (cap - t);
}

/* Bisection to the last bit. */
static double root(const struct block *block, int kind, double low, double high) {
    for (;;) {
        double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high)) {
            return middle;
        }
        if (equation(block, kind, middle) > 0) {
            high = middle;
        } else {
            low = middle;
        }
    }
}

static void bracket(const struct block *block, double *low, double *high) {
    double kappa = block->shape->kappa, cap = block->cap;
    double terms = (double)block->shape->k;
    *low = kappa > 0 ? 0 : kappa * terms * cap;
    *high = kappa > 0 ? kappa * terms * cap : -kappa * cap;
}

static double largest(const struct block *block) {
    double max = -INFINITY;
    for (size_t c = 0; c < block->shape->k; c++) {
        max = c != block->y && block->v[c] > max ? block->v[c] : max;
    }
    return max;
}

/* Sets theta and eta for sum alpha = cap. */
static void solve_simplex(const struct block *block, double *theta, double *eta) {
    double kappa = block->shape->kappa, cap = block->cap, v_own = block->v[block->y];
    double max = largest(block);
    if (block->shape->form->own && equation(block, 2, 0) < 0) {
        double a = equation(block, 2, cap) <= 0 ? cap : root(block, 2, 0, cap);
        *theta = v_own - a + 2 * kappa * (cap - 2 * a);
        *eta = v_own - a;
        return;
    }
    *theta = root(block, 1, max - cap, max);
    *eta = *theta - 2 * kappa * cap;
}

/* The exact maximum over one row's alpha (k) in [0, cost]^terms or the simplex: q = |x|^2 > 0, s
 * (k) the scores at alpha. alpha is replaced. */
static void plain_step(const struct mc_shape *shape, size_t y, double cost, double q,
                       const double *s, double *alpha) {
    const struct mc_form *form = shape->form;
    double scale = shape->margin * shape->margin * q, sum = 0;
    double *slack = sample_array(shape->k, sizeof *slack);
    mc_slacks(shape, y, s, slack);
    for (size_t c = 0; c < shape->k; c++) {
        sum += c == y ? -alpha[c] : alpha[c];
    }
    /* v in place of alpha */
    for (size_t c = 0; c < shape->k; c++) {
        double sigma = c == y ? -1 : 1; /* of U */
        alpha[c] += slack[c] / scale + shape->kappa * sigma * sum;
    }
    struct block block = {shape, y, cost, alpha};
    double low, high;
    bracket(&block, &low, &high);
    double theta = shape->kappa != 0 ? root(&block, 0, low, high) : 0, eta = -theta;
    if (form->simplex && sum_others(&block, theta, cost) + own(&block, eta) > cost) {
        solve_simplex(&block, &theta, &eta);
    }
    for (size_t c = 0; c < shape->k; c++) {
        alpha[c] = mc_is_term(shape, y, c) ? clip(alpha[c] - (c == y ? eta : theta), cost) : 0;
    }
    free(slack);
}

/* The dual of one row as a function of its alpha, x being one feature. */
static double block_value(const struct mc_shape *shape, size_t y, double q, const double *s,
                          const double *from, const double *alpha) {
    size_t k = shape->k;
    double value = 0, mean = 0, square = 0;
    double *u = sample_array(k, sizeof *u), *before = sample_array(k, sizeof *before);
    mc_coefficients(shape, y, alpha, u);
    mc_coefficients(shape, y, from, before);
    for (size_t c = 0; c < k; c++) {
        u[c] -= before[c];
        value += alpha[c] - from[c];
        mean += u[c] / (double)k;
    }
    for (size_t c = 0; c < k; c++) {
        double change = u[c] - (shape->form->centred ? mean : 0);
        value -= change * s[c];
        square += change * change;
    }
    free(u);
    free(before);
    return value - q * square / 2;
}

/* No small feasible move, of one term or between two, increases the dual. */
static void check_block(const struct mc_shape *shape, size_t y, double cost, double q,
                        const double *s, const double *from, const double *alpha) {
    size_t k = shape->k;
    double value = block_value(shape, y, q, s, from, alpha), total = 0;
    double *other = sample_array(k, sizeof *other);
    for (size_t c = 0; c < k; c++) {
        bool term = c == y ? shape->form->own : shape->form->others;
        CHECK(alpha[c] >= 0 && alpha[c] <= cost && (term || alpha[c] == 0),
              "%s k %zu: alpha %g of cost %g", shape->form->name, k, alpha[c], cost);
        total += alpha[c];
    }
    double limit = (shape->form->simplex ? cost : cost * (double)k) * (1 + 1e-9);
    CHECK(total <= limit, "%s: sum %g over %g", shape->form->name, total, limit);
    for (size_t a = 0; a < k; a++) {
        for (size_t b = 0; b < k && (k < 40 || b < 5); b++) {
            for (int sign = -1; sign <= 1; sign++) {
                for (double step = 1e-4; step <= .1; step *= 30) {
                    memcpy(other, alpha, k * sizeof *other);
                    other[a] += step * cost;
                    other[b] += b == a ? 0 : sign * step * cost;
                    if (b == a && sign < 0) {
                        other[a] -= 2 * step * cost;
                    }
                    double sum = 0;
                    bool inside = true;
                    for (size_t c = 0; c < k; c++) {
                        bool term = c == y ? shape->form->own : shape->form->others;
                        inside =
                            inside && other[c] >= 0 && other[c] <= cost && (term || other[c] == 0);
                        sum += other[c];
                    }
                    if (!inside || sum > limit) {
                        continue;
                    }
                    double better = block_value(shape, y, q, s, from, other);
                    CHECK(better <= value + 1e-10 * (1 + fabs(value)), "%s k %zu: %.12g > %.12g",
                          shape->form->name, k, better, value);
                }
            }
        }
    }
    free(other);
}

static void test_block(void) {
    static const size_t sizes[] = {2, 3, 26, 1000};
    struct random random;
    random_start(&random, 3, 0);
    for (int form = 0; form < FORMS; form++) {
        for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
            size_t k = sizes[z];
            double *s = sample_array(k, sizeof *s), *from = sample_array(k, sizeof *from);
            double *alpha = sample_array(k, sizeof *alpha);
            for (int trial = 0; trial < (k > 100 ? 4 : 60); trial += quick_step(7)) {
                struct mc_shape shape = mc_shape((enum mc_formulation)form, k, trial % 2 ? 1 : .5);
                size_t y = random_below(&random, k);
                double cost = pow(10, 4 * random_unit(&random) - 2);
                double q = pow(10, 4 * random_unit(&random) - 2);
                for (size_t c = 0; c < k; c++) {
                    s[c] = trial % 3 == 0 ? 0 : 4 * random_unit(&random) - 2; /* ties */
                    bool term = c == y ? shape.form->own : shape.form->others;
                    double max = shape.form->simplex ? cost / (double)k : cost;
                    from[c] = term && trial % 5 ? max * floor(3 * random_unit(&random)) / 2 : 0;
                    from[c] = fmin(from[c], max);
                }
                memcpy(alpha, from, k * sizeof *alpha);
                plain_step(&shape, y, cost, q, s, alpha);
                check_block(&shape, y, cost, q, s, from, alpha);
            }
            free(s);
            free(from);
            free(alpha);
        }
    }
    printf("ok: the exact step is optimal for the row, k = 2, 3, 26, 1000\n");
}

/* The vectorised steps against the plain one: alpha may differ where the dual is constant, its
 * value may not, and the gain is the change of the value. */
enum { MC_MAX_ROOT_STEPS = 60 };
#define REAL float
#define SIGNED int32_t
#define NAME(x) float_##x
#include "families/mc/solver/row_step_real.h"
#undef REAL
#undef SIGNED
#undef NAME
#define REAL double
#define SIGNED int64_t
#define NAME(x) double_##x
#include "families/mc/solver/row_step_real.h"
#undef REAL
#undef SIGNED
#undef NAME

#define COMPARE_STEP(REAL_TYPE, PREFIX, TOLERANCE)                                                 \
    static void PREFIX##compare(const struct mc_shape *shape, size_t y, double cost, double q,     \
                                const double *s, const double *from, double *v) {                  \
        size_t k = shape->k, width = (k + 15) / 16 * 16;                                           \
        struct error err;                                                                          \
        REAL_TYPE *work = memory_zeros(4 * width, sizeof *work, "", &err);                         \
        double *plain = sample_array(k, sizeof *plain), *wide = sample_array(k, sizeof *wide);     \
        CHECK(work, "%s", err.text);                                                               \
        for (size_t c = 0; c < k; c++) {                                                           \
            work[c] = (REAL_TYPE)s[c];                                                             \
            work[width + c] = (REAL_TYPE)from[c];                                                  \
        }                                                                                          \
        struct PREFIX##blocks blocks = {.relative = shape->form->relative,                         \
                                        .centred = shape->form->centred,                           \
                                        .others = shape->form->others,                             \
                                        .own = shape->form->own,                                   \
                                        .simplex = shape->form->simplex,                           \
                                        .k = k,                                                    \
                                        .width = width,                                            \
                                        .margin = (REAL_TYPE)shape->margin,                        \
                                        .kappa = (REAL_TYPE)shape->kappa,                          \
                                        .v = work + 3 * width};                                    \
        double gain = (double)PREFIX##step(&blocks, y, (REAL_TYPE)cost,                            \
                                           (REAL_TYPE)(shape->margin * shape->margin * q), work,   \
                                           work + width, work + 2 * width);                        \
        memcpy(plain, from, k * sizeof *plain);                                                    \
        plain_step(shape, y, cost, q, s, plain);                                                   \
        for (size_t c = 0; c < k; c++) {                                                           \
            wide[c] = (double)work[width + c];                                                     \
            v[c] = (double)work[2 * width + c];                                                    \
        }                                                                                          \
        double best = block_value(shape, y, q, s, from, plain);                                    \
        double value = block_value(shape, y, q, s, from, wide);                                    \
        double size = (TOLERANCE) * (1 + cost * (double)k) * (1 + q * cost * (double)k);           \
        size *= 1 + 1 / (q * shape->margin * shape->margin); /* v is about as large as that */     \
        CHECK(fabs(best - value) <= size && fabs(gain - value) <= size,                            \
              "%s k %zu: %.10g, gain %.10g, not %.10g", shape->form->name, k, value, gain, best);  \
        for (size_t c = k; c < width; c++) {                                                       \
            CHECK(work[width + c] == 0 && work[2 * width + c] == 0, "padding is touched");         \
        }                                                                                          \
        free(work);                                                                                \
        free(plain);                                                                               \
        free(wide);                                                                                \
    }
COMPARE_STEP(float, float_, 1e-5)
COMPARE_STEP(double, double_, 1e-13)

/* The reported change is that of the coefficients. */
static void check_change(const struct mc_shape *shape, size_t y, double cost, double q,
                         const double *s, const double *from, const double *change) {
    size_t k = shape->k;
    double *after = sample_array(k, sizeof *after), *u = sample_array(k, sizeof *u);
    double *before = sample_array(k, sizeof *before);
    memcpy(after, from, k * sizeof *after);
    plain_step(shape, y, cost, q, s, after);
    mc_coefficients(shape, y, after, u);
    mc_coefficients(shape, y, from, before);
    for (size_t c = 0; c < k; c++) {
        CHECK(fabs(u[c] - before[c] - change[c]) < 1e-9 * (1 + cost * (double)k),
              "%s k %zu class %zu: %g, not %g", shape->form->name, k, c, change[c],
              u[c] - before[c]);
    }
    free(after);
    free(u);
    free(before);
}

static void test_vector_step(void) {
    static const size_t sizes[] = {2, 3, 16, 17, 26, 1000};
    struct random random;
    random_start(&random, 4, 0);
    for (int form = 0; form < FORMS; form++) {
        for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
            size_t k = sizes[z];
            double *s = sample_array(k, sizeof *s), *from = sample_array(k, sizeof *from);
            double *change = sample_array(k, sizeof *change);
            for (int trial = 0; trial < (k > 100 ? 5 : 300); trial++) {
                struct mc_shape shape = mc_shape((enum mc_formulation)form, k, trial % 2 ? 1 : .5);
                size_t y = random_below(&random, k);
                double cost = (double)(float)pow(10, 4 * random_unit(&random) - 2);
                double q = pow(10, 2 * random_unit(&random) - 1);
                for (size_t c = 0; c < k; c++) {
                    s[c] = trial % 3 == 0 ? 0 : 4 * random_unit(&random) - 2;
                    bool term = c == y ? shape.form->own : shape.form->others;
                    double max = shape.form->simplex ? cost / (double)k : cost;
                    from[c] = term && trial % 5 ? max * floor(3 * random_unit(&random)) / 2 : 0;
                    from[c] = (double)(float)fmin(from[c], max);
                }
                float_compare(&shape, y, cost, q, s, from, change);
                double_compare(&shape, y, cost, q, s, from, change);
                if (k > 2) { /* with two, own and other may lie flat */
                    check_change(&shape, y, cost, q, s, from, change);
                }
            }
            free(s);
            free(from);
            free(change);
        }
    }
    printf("ok: vectorised steps, float and double, gain as much as the plain one\n");
}

/* Rows so short that 1 / q overflows, at costs of any size: the new alpha is feasible, 0 for
 * classes without a term, and maximal if every term has a loss. */
#define SHORT_STEP(REAL_TYPE, PREFIX, UNIT)                                                        \
    static void PREFIX##short_step(const struct mc_shape *shape, size_t y, double cost, double q,  \
                                   bool scores) {                                                  \
        size_t k = shape->k, width = (k + 15) / 16 * 16;                                           \
        struct error err;                                                                          \
        REAL_TYPE *work = memory_zeros(4 * width, sizeof *work, "", &err), cap = (REAL_TYPE)cost;  \
        CHECK(work, "%s", err.text);                                                               \
        for (size_t c = 0; scores && c < k; c++) {                                                 \
            work[c] = (REAL_TYPE)(c == y ? -1e6 : 1e5 * (double)c);                                \
        }                                                                                          \
        struct PREFIX##blocks blocks = {.relative = shape->form->relative,                         \
                                        .centred = shape->form->centred,                           \
                                        .others = shape->form->others,                             \
                                        .own = shape->form->own,                                   \
                                        .simplex = shape->form->simplex,                           \
                                        .k = k,                                                    \
                                        .width = width,                                            \
                                        .margin = (REAL_TYPE)shape->margin,                        \
                                        .kappa = (REAL_TYPE)shape->kappa,                          \
                                        .v = work + 3 * width};                                    \
        double sum = 0,                                                                            \
               max = shape->form->simplex ? (double)cap : (double)cap * mc_max_alpha_sum(shape);   \
        (void)PREFIX##step(&blocks, y, cap, (REAL_TYPE)q, work, work + width, work + 2 * width);   \
        for (size_t c = 0; c < width; c++) {                                                       \
            double a = (double)work[width + c];                                                    \
            bool term = c < k && mc_is_term(shape, y, c);                                          \
            CHECK(a >= 0 && (term ? a <= (double)cap : a == 0),                                    \
                  "%s k %zu, C %g, q %g: alpha %g of class %zu", shape->form->name, k, cost, q, a, \
                  c);                                                                              \
            sum += a;                                                                              \
        }                                                                                          \
        CHECK(sum <= max * (1 + (UNIT)) &&                                                         \
                  (scores || q * cost > 1e-9 || sum >= max * (1 - (UNIT))),                        \
              "%s k %zu, C %g, q %g: alpha adds up to %g", shape->form->name, k, cost, q, sum);    \
        free(work);                                                                                \
    }
SHORT_STEP(float, float_, 16)
SHORT_STEP(double, double_, 1e-6)

static void test_short_rows(void) {
    static const double squares[] = {1e-25, 1e-38, 1e-42, 1e-50, 1e-300, 5e-324, 0};
    static const double costs[] = {1e-15, .5, 1e15, 1e-140, 1e140}; /* of double, the last two */
    for (int form = 0; form < FORMS; form++) {
        for (size_t t = 0; t < 2 * sizeof squares / sizeof *squares; t++) {
            double q = squares[t / 2];
            for (size_t c = 0; c < sizeof costs / sizeof *costs; c++) {
                for (size_t k = 2; k < 20; k += 5) {
                    struct mc_shape shape = mc_shape((enum mc_formulation)form, k, 1);
                    if (c < 3) {
                        float_short_step(&shape, k / 2, costs[c], q, t % 2);
                    }
                    double_short_step(&shape, k / 2, costs[c], q, t % 2);
                }
            }
        }
    }
    printf("ok: steps of tiny rows stay feasible\n");
}

int main(void) {
    test_block();
    test_vector_step();
    test_short_rows();
    return 0;
}
