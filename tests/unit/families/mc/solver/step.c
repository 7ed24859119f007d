/* The exact step of mc, for every formulation, in float and double: it is optimal among moves in a
 * row's feasible set, and its gain and the change of the coefficients are those of the new
 * alpha. */
#include "families/mc/solver/formulation.h"
#include "tests/unit/compute.h"

enum { FORMS = 8 };

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

/* No feasible move, of one term or between two, increases the dual by more than
 * `tolerance`; the sum of alpha is at most `slack` above its limit. */
static void check_block(const struct mc_shape *shape, size_t y, double cost, double q,
                        const double *s, const double *from, const double *alpha, double tolerance,
                        double slack) {
    size_t k = shape->k;
    double value = block_value(shape, y, q, s, from, alpha), total = 0;
    double *other = sample_array(k, sizeof *other);
    for (size_t c = 0; c < k; c++) {
        bool term = c == y ? shape->form->own : shape->form->others;
        CHECK(alpha[c] >= 0 && alpha[c] <= cost && (term || alpha[c] == 0),
              "%s k %zu: alpha %g of cost %g", shape->form->name, k, alpha[c], cost);
        total += alpha[c];
    }
    double limit = shape->form->simplex ? cost : cost * (double)k;
    CHECK(total <= limit + slack, "%s: sum %g over %g", shape->form->name, total, limit);
    limit = fmax(limit, total);
    for (size_t a = 0; a < k; a += k < 40 ? 1 : 97) {
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
                    CHECK(better <= value + tolerance, "%s k %zu: %.12g > %.12g", shape->form->name,
                          k, better, value);
                }
            }
        }
    }
    free(other);
}

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

#define CHECK_STEP(REAL_TYPE, PREFIX, TOLERANCE)                                                   \
    static void PREFIX##check_step(const struct mc_shape *shape, size_t y, double cost, double q,  \
                                   const double *s, const double *from) {                          \
        struct PREFIX##blocks blocks = PREFIX##blocks_of(shape);                                   \
        size_t k = shape->k, width = blocks.width;                                                 \
        REAL_TYPE *work = memory_zeros(4 * width, sizeof *work, "", &err);                         \
        double *alpha = sample_array(k, 3 * sizeof *alpha), *u = alpha + k, *before = u + k;       \
        CHECK(work, "%s", err.text);                                                               \
        for (size_t c = 0; c < k; c++) {                                                           \
            work[c] = (REAL_TYPE)s[c];                                                             \
            work[width + c] = (REAL_TYPE)from[c];                                                  \
        }                                                                                          \
        blocks.v = work + 3 * width;                                                               \
        double gain = (double)PREFIX##step(&blocks, y, (REAL_TYPE)cost,                            \
                                           (REAL_TYPE)(shape->margin * shape->margin * q), work,   \
                                           work + width, work + 2 * width);                        \
        double size = (TOLERANCE) * (1 + cost * (double)k) * (1 + q * cost * (double)k);           \
        size *= 1 + 1 / (q * shape->margin * shape->margin); /* v is about as large as that */     \
        for (size_t c = 0; c < k; c++) {                                                           \
            alpha[c] = (double)work[width + c];                                                    \
        }                                                                                          \
        for (size_t c = k; c < width; c++) {                                                       \
            CHECK(work[width + c] == 0 && work[2 * width + c] == 0, "padding is touched");         \
        }                                                                                          \
        mc_coefficients(shape, y, alpha, u);                                                       \
        mc_coefficients(shape, y, from, before);                                                   \
        for (size_t c = 0; c < k; c++) {                                                           \
            double change = (double)work[2 * width + c];                                           \
            CHECK_CLOSE(change, u[c] - before[c], 100 * (TOLERANCE) * (1 + cost * (double)k),      \
                        "%s k %zu class %zu", shape->form->name, k, c);                            \
        }                                                                                          \
        double value = block_value(shape, y, q, s, from, alpha);                                   \
        CHECK_CLOSE(gain, value, size, "%s k %zu: gain", shape->form->name, k);                    \
        double slack = (TOLERANCE) * (double)k * (cost + 1 / (q * shape->margin * shape->margin)); \
        check_block(shape, y, cost, q, s, from, alpha, size, 0.1 * slack);                         \
        free(work);                                                                                \
        free(alpha);                                                                               \
    }
CHECK_STEP(float, float_, 1e-5)
CHECK_STEP(double, double_, 1e-13)

static void test_step(void) {
    static const size_t sizes[] = {2, 3, 16, 17, 26, 1000};
    struct random random = sample_random(4, 0);
    for (int form = 0; form < FORMS; form++) {
        for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
            size_t k = sizes[z];
            double *s = check_numbers(k), *from = check_numbers(k);
            for (int trial = 0; trial < (k > 100 ? 4 : 200); trial += quick_step(7)) {
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
                float_check_step(&shape, y, cost, q, s, from);
                double_check_step(&shape, y, cost, q, s, from);
            }
        }
    }
    printf("ok: steps in float and double are optimal for the row, and gain what they say\n");
}

/* Rows so short that 1 / q overflows, at costs of any size: the new alpha is feasible, 0 for
 * classes without a term, and maximal if every term has a loss. */
#define SHORT_STEP(REAL_TYPE, PREFIX, UNIT)                                                        \
    static void PREFIX##short_step(const struct mc_shape *shape, size_t y, double cost, double q,  \
                                   bool scores) {                                                  \
        struct PREFIX##blocks blocks = PREFIX##blocks_of(shape);                                   \
        size_t k = shape->k, width = blocks.width;                                                 \
        REAL_TYPE *work = memory_zeros(4 * width, sizeof *work, "", &err), cap = (REAL_TYPE)cost;  \
        CHECK(work, "%s", err.text);                                                               \
        for (size_t c = 0; scores && c < k; c++) {                                                 \
            work[c] = (REAL_TYPE)(c == y ? -1e6 : 1e5 * (double)c);                                \
        }                                                                                          \
        blocks.v = work + 3 * width;                                                               \
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
    test_step();
    test_short_rows();
    return 0;
}
