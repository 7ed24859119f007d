#include "tests/optima/wide/generate.h"

#include "tests/optima/draw.h"

#include <float.h>
#include <math.h>

/* A number from 10^low to 10^high; half of them are powers of ten. */
static double decades(uint64_t *state, int low, int high) {
    int whole = low + (int)below(state, (unsigned)(high - low + 1));
    double part = one_in(state, 2) ? 0 : (double)(next(state) >> 11) * 0x1p-53;
    return pow(10, whole) * pow(10, part);
}

/* ---- features ---- */

enum spread {
    AS_IT_IS,
    COLUMNS,
    ROWS,
    VALUES,
    MIXED,
    OUTLIER,
    OUTLIER_ROW,
    ALL,
    DENORMALS,
    SPREADS
};

static float within_float(double value) {
    return (float)fmax(-FLT_MAX, fmin(FLT_MAX, value));
}

static void scale_features(uint64_t *state, struct trial *trial) {
    enum spread spread = (enum spread)below(state, SPREADS);
    double row[MAX_ROWS], column[MAX_FEATURES], all = decades(state, -20, 20);
    size_t i_out = below(state, (unsigned)trial->n);
    size_t j_out = below(state, (unsigned)trial->n_features);
    int span = one_in(state, 2) ? 20 : 6;
    double outlier = decades(state, 2, 20);
    for (size_t i = 0; i < trial->n; i++) {
        row[i] = decades(state, -span, span);
    }
    for (size_t j = 0; j < trial->n_features; j++) {
        column[j] = decades(state, -span, span);
    }
    for (size_t i = 0; i < trial->n; i++) {
        for (size_t j = 0; j < trial->n_features; j++) {
            bool out = i == i_out && (spread == OUTLIER_ROW || j == j_out);
            double factor = spread == COLUMNS     ? column[j]
                            : spread == ROWS      ? row[i]
                            : spread == VALUES    ? decades(state, -span, span)
                            : spread == ALL       ? all
                            : spread == MIXED     ? (one_in(state, 2) ? outlier : 1)
                            : spread == DENORMALS ? (one_in(state, 2) ? 1e-40 : 1)
                            : out && (spread == OUTLIER || spread == OUTLIER_ROW) ? outlier
                                                                                  : 1;
            trial->x[i][j] = (double)within_float(trial->x[i][j] * factor);
        }
    }
}

/* A kernel matrix D K D. */
static void scale_matrix(uint64_t *state, struct trial *trial) {
    double factor[MAX_ROWS];
    int span = one_in(state, 2) ? 10 : 3;
    bool single = one_in(state, 2);
    for (size_t i = 0; i < trial->n; i++) {
        factor[i] = single && i > 0 ? 1 : decades(state, -span, span);
    }
    for (size_t i = 0; i < trial->n; i++) {
        for (size_t j = 0; j <= i; j++) {
            trial->x[i][j] = (double)within_float(trial->x[i][j] * factor[i] * factor[j]);
            trial->x[j][i] = trial->x[i][j];
        }
    }
}

/* ---- options ---- */

/* The largest |x|^2. */
static double largest_square(const struct trial *trial) {
    double most = 0;
    for (size_t i = 0; i < trial->n; i++) {
        double sum = 0;
        for (size_t j = 0; j < trial->n_features; j++) {
            sum += trial->x[i][j] * trial->x[i][j];
        }
        most = fmax(most, sum);
    }
    return fmax(most, 1e-80);
}

/* Chooses gamma by the norms of the rows, so that not all kernel values overflow or vanish. */
static void choose_kernel(uint64_t *state, struct trial *trial) {
    double square = largest_square(trial), size = sqrt(square);
    bool distance = trial_is(trial, KERNEL, LAPLACIAN) || trial_is(trial, KERNEL, RATIONAL);
    if (trial->given[GAMMA] && one_in(state, 3)) {
        trial->given[GAMMA] = false;
    } else if (trial->given[GAMMA] && one_in(state, 2)) {
        trial->option[GAMMA] = decades(state, -8, 4) / (distance ? size : square);
    }
    if (trial->given[COEF0] && one_in(state, 2)) {
        double sign = one_in(state, 6) ? -1 : 1;
        trial->option[COEF0] = sign * decades(state, -10, 10);
    }
}

/* A cost from the whole range, at the limit of double, or of the scale of the rows. */
static double cost_of(uint64_t *state, const struct trial *trial) {
    static const double ends[] = {5e-324, 1e-310, 1e-300, 1e-280, 1e280, 1e300, DBL_MIN, 1e-45};
    if (one_in(state, 12)) {
        return ends[below(state, sizeof ends / sizeof ends[0])];
    }
    return one_in(state, 5)   ? decades(state, -150, 149)
           : one_in(state, 4) ? decades(state, -8, 8) / largest_square(trial)
                              : decades(state, -4, 6);
}

/* Whether a row has the label, or query, of a weight. */
static bool occurs(const struct trial *trial, unsigned label) {
    bool any = false;
    for (size_t i = 0; i < trial->n; i++) {
        any |= (trial->family == RANK ? trial->query[i] : trial->label[i]) == label;
    }
    return any;
}

static void widen_options(uint64_t *state, struct trial *trial) {
    choose_kernel(state, trial);
    enum option cost = trial->given[LAMBDA] ? LAMBDA : COST;
    trial->option[cost] = cost_of(state, trial);
    if (trial->given[BIAS]) {
        trial->option[BIAS] = decades(state, -6, 5);
    }
    if (trial->given[THETA] && one_in(state, 2)) {
        trial->option[THETA] = decades(state, -8, 8);
    }
    if (trial->family == SMM && trial->given[TAU] && one_in(state, 2)) {
        trial->option[TAU] = decades(state, -8, 4) * sqrt(largest_square(trial));
    }
    for (unsigned label = 0; label < MAX_LABELS; label++) {
        trial->weighted[label] &= occurs(trial, label);
        trial->label_weight[label] = trial->weighted[label] ? decades(state, -6, 6) : 0;
    }
    for (size_t i = 0; i < trial->n; i++) {
        trial->weight[i] = trial->weight[i] > 0 ? decades(state, -6, 6) : 0;
    }
    if (one_in(state, 2)) {
        trial->given[EPSILON] = false;
    }
}

void wide_generate(struct trial *trial, uint64_t seed) {
    uint64_t state = ~seed;
    next(&state);
    trial_generate(trial, seed);
    size_t rows = 2 + below(&state, one_in(&state, 4) ? 11 : 5);
    while (trial->n > rows) {
        trial_drop_row(trial, trial->n / 2);
    }
    if (trial_is(trial, KERNEL, PRECOMPUTED)) {
        scale_matrix(&state, trial);
    } else {
        scale_features(&state, trial);
    }
    widen_options(&state, trial);
}
