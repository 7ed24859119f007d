/* Generates trials from seeds, mostly degenerate ones. */
#include "tests/optima/draw.h"
#include "tests/optima/trial.h"

#include <math.h>
#include <string.h>

static double uniform(uint64_t *state, double low, double high) {
    return low + (high - low) * (double)(next(state) >> 11) * 0x1p-53;
}

/* A number from 10^low to 10^high; half of them are powers of ten. */
static double decades(uint64_t *state, int low, int high) {
    if (one_in(state, 2)) {
        return pow(10, low + (int)below(state, (unsigned)(high - low + 1)));
    }
    return pow(10, uniform(state, low, high));
}

static void give(struct trial *trial, enum option option, double value) {
    trial->given[option] = true;
    trial->option[option] = value;
}

/* ---- rows ---- */

enum style { NORMAL, SMALL, BITS, UNITS, HUGE, TINY, COUNTS, CONSTANT, STYLES };

static double value_of(uint64_t *state, enum style style, size_t feature) {
    double normal = uniform(state, -1, 1) + uniform(state, -1, 1) + uniform(state, -1, 1);
    switch (style) {
    case SMALL:
        return (double)below(state, 5) - 2;
    case BITS:
        return below(state, 2);
    case UNITS:
        return normal * pow(10, (int)(feature * 7 % 6) - 2);
    case HUGE:
        return 1000 * normal;
    case TINY:
        return 1e-3 * normal;
    case COUNTS:
        return one_in(state, 2) ? 0 : below(state, 200);
    case CONSTANT:
        return 1 + 1e-3 * (double)(feature % 2) * normal;
    default:
        return normal;
    }
}

/* Makes some rows zero, copies, near copies or multiples of others, and some features constant. */
static void degenerate(uint64_t *state, struct trial *trial) {
    for (size_t i = 0; i < trial->n; i++) {
        size_t from = below(state, (unsigned)trial->n);
        double times = one_in(state, 3) ? -1 : one_in(state, 2) ? 2 : 1 + 0x1p-20;
        bool copy = one_in(state, 6), zero = one_in(state, 12), multiple = one_in(state, 12);
        for (size_t j = 0; j < trial->n_features; j++) {
            trial->x[i][j] = zero       ? 0
                             : copy     ? trial->x[from][j]
                             : multiple ? (double)(float)(times * trial->x[from][j])
                                        : trial->x[i][j];
        }
    }
    for (size_t j = 0; j < trial->n_features; j++) {
        bool constant = one_in(state, 10);
        for (size_t i = 0; i < trial->n; i++) {
            trial->x[i][j] = constant ? trial->x[0][j] : trial->x[i][j];
        }
    }
}

static void make_rows(uint64_t *state, struct trial *trial) {
    enum style style = (enum style)below(state, STYLES);
    for (size_t i = 0; i < trial->n; i++) {
        for (size_t j = 0; j < trial->n_features; j++) {
            trial->x[i][j] = (double)(float)value_of(state, style, j);
        }
    }
    if (!one_in(state, 4)) {
        degenerate(state, trial);
    }
    for (size_t i = 0; i < trial->n; i++) {
        for (size_t j = 0; trial_is(trial, KERNEL, MINMAX) && j < trial->n_features; j++) {
            trial->x[i][j] = fabs(trial->x[i][j]);
        }
    }
}

/* Fills the matrix of a precomputed kernel: of inner products, of an rbf, or any symmetric one. */
static void make_matrix(uint64_t *state, struct trial *trial) {
    double k[MAX_ROWS][MAX_ROWS];
    unsigned kind = below(state, 4);
    for (size_t i = 0; i < trial->n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double product = 0, distance = 0;
            for (size_t f = 0; f < trial->n_features; f++) {
                double a = trial->x[i][f], b = trial->x[j][f];
                product += a * b;
                distance += (a - b) * (a - b);
            }
            double value = kind == 0   ? product
                           : kind == 1 ? exp(-distance)
                           : kind == 2 ? uniform(state, -1, 1)
                                       : (double)(i == j);
            k[i][j] = k[j][i] = (double)(float)value;
        }
    }
    memcpy(trial->x, k, sizeof k);
    trial->n_features = trial->n;
}

/* ---- options ---- */

static void choose_kernel(uint64_t *state, struct trial *trial) {
    if (one_in(state, 3)) {
        return;
    }
    enum kernel kernel = (enum kernel)(1 + below(state, RATIONAL));
    give(trial, KERNEL, kernel);
    if (kernel == POLYNOMIAL) {
        give(trial, DEGREE, 1 + below(state, 4));
    }
    if (kernel == POLYNOMIAL || kernel == RBF || kernel == SIGMOID || kernel >= LAPLACIAN) {
        give(trial, GAMMA, one_in(state, 20) ? 0 : decades(state, -5, 1));
    }
    if ((kernel == POLYNOMIAL || kernel == SIGMOID) && one_in(state, 2)) {
        give(trial, COEF0, one_in(state, 3) ? -1 : 1);
    }
}

/* Chooses weights of labels, or queries, that occur. */
static void choose_weights(uint64_t *state, struct trial *trial, unsigned labels) {
    for (unsigned label = 0; label < labels; label++) {
        bool occurs = false;
        for (size_t i = 0; i < trial->n; i++) {
            occurs |= (trial->family == RANK ? trial->query[i] : trial->label[i]) == label;
        }
        if (occurs && one_in(state, 2)) {
            trial->weighted[label] = true;
            trial->label_weight[label] = decades(state, -2, 3);
        }
    }
}

static void choose_common(uint64_t *state, struct trial *trial) {
    give(trial, COST, decades(state, -4, 6));
    give(trial, EPSILON, decades(state, -10, 0));
    give(trial, THREADS, one_in(state, 8) ? 2 : 1);
    if (trial->family != MC && one_in(state, 2)) {
        give(trial, LOSS, 1);
    }
    if (trial->family != SMM) {
        choose_kernel(state, trial);
        if (one_in(state, 8)) {
            give(trial, CACHE, 1e-6);
        }
    }
    if (one_in(state, 12)) {
        give(trial, MAX_ITER, 1 + below(state, 20));
    }
    if (one_in(state, 4)) {
        give(trial, SEED, below(state, 100));
    }
}

static void make_rank(uint64_t *state, struct trial *trial) {
    static const unsigned targets[] = {2, 3, 5, 100};
    unsigned queries = 1 + below(state, 4) % 3, different = targets[below(state, 4)];
    trial->n = 2 + below(state, 11);
    for (size_t i = 0; i < trial->n; i++) {
        trial->query[i] = below(state, queries);
        trial->target[i] = (double)below(state, different) - 1;
    }
    trial->target[0] = -2;
    trial->query[0] = trial->query[1];
    if (one_in(state, 5)) {
        give(trial, GAP_LOW, 1 + below(state, 2));
        give(trial, GAP_HIGH, one_in(state, 2) ? (double)INFINITY : 2 + below(state, 3));
    }
    if (one_in(state, 5)) {
        give(trial, COST_PER, 1 + below(state, 2));
        for (size_t i = 0; i < trial->n && trial_is(trial, COST_PER, 2); i++) {
            trial->target[i] = fmin(trial->target[i], 40);
        }
    }
    if (one_in(state, 5)) {
        choose_weights(state, trial, queries);
    }
    bool pairs = one_in(state, 6);
    if (pairs) {
        give(trial, PAIR_FEATURES, 1);
    }
    if (one_in(state, 3)) {
        give(trial, SOLVER, pairs ? 1 : 1 + below(state, 2));
    } else if (one_in(state, 8) && trial_is(trial, LOSS, 0)) {
        give(trial, SOLVER, 3);
        give(trial, MAX_ITER, 1 + below(state, 300));
        if (one_in(state, 2)) {
            give(trial, STEP, 1);
        }
    }
}

/* Chooses weights above 0 for the rows. */
static void choose_row_weights(uint64_t *state, struct trial *trial) {
    trial->row_weights = one_in(state, 6);
    for (size_t i = 0; i < trial->n; i++) {
        trial->weight[i] = trial->row_weights ? decades(state, -2, 1) : 1;
    }
}

static void make_top(uint64_t *state, struct trial *trial) {
    static const unsigned formulations[] = {0, 1, 2, 3, 4, 5, 8};
    unsigned formulation = formulations[below(state, 7)];
    trial->n = 2 + below(state, 13);
    unsigned positives = one_in(state, 3) ? 1 : 1 + below(state, (unsigned)trial->n - 1);
    for (size_t i = 0; i < trial->n; i++) {
        trial->label[i] = i < positives;
        trial->weight[i] = one_in(state, 3) ? below(state, 4) : decades(state, -2, 1);
    }
    give(trial, FORMULATION, formulation);
    if (formulation == 1) {
        double most = (double)(trial->n - positives);
        give(trial, TOP_K,
             one_in(state, 2) ? 1 + below(state, (unsigned)most) : uniform(state, 1, most));
    } else if (formulation >= 2 && formulation <= 5) {
        give(trial, TAU, one_in(state, 8) ? 1 : decades(state, -3, 0));
    }
    if (formulation == 4 || formulation == 5) {
        give(trial, THETA, decades(state, -3, 2));
    }
    if (one_in(state, 8)) {
        trial->given[COST] = false;
        give(trial, LAMBDA, decades(state, -6, 3));
    }
    trial->row_weights = formulation != 1 && one_in(state, 6);
    if (one_in(state, 6) && formulation != 1) {
        choose_weights(state, trial, 2);
    }
    if (one_in(state, 3)) {
        static const unsigned solvers[] = {1, 2, 4, 3};
        unsigned solver =
            solvers[below(state, formulation == 8 && !trial_is(trial, KERNEL, LINEAR) ? 3 : 4)];
        give(trial, SOLVER, solver);
        if (solver == 3) {
            give(trial, MAX_ITER, 1 + below(state, 300));
        }
    }
    if (one_in(state, 8)) {
        give(trial, SHRINKING, 0);
    }
}

static void make_mc(uint64_t *state, struct trial *trial) {
    unsigned labels = 2 + below(state, 4);
    trial->n = labels + below(state, 13 - labels);
    for (size_t i = 0; i < trial->n; i++) {
        trial->label[i] = i < 2 ? (unsigned)i : below(state, labels);
    }
    give(trial, FORMULATION, below(state, 8));
    if (trial_is(trial, FORMULATION, 0) && one_in(state, 4)) {
        give(trial, MARGIN_SCALE, 0.5);
    }
    if (one_in(state, 4)) {
        give(trial, BIAS, decades(state, -2, 2));
    }
    if (one_in(state, 4)) {
        choose_weights(state, trial, labels);
    }
    if (one_in(state, 3)) {
        give(trial, SOLVER, trial_is(trial, KERNEL, LINEAR) && one_in(state, 2) ? 2 : 1);
    }
    choose_row_weights(state, trial);
}

static void make_ml(uint64_t *state, struct trial *trial) {
    unsigned labels = 2 + below(state, 4);
    trial->n = 1 + below(state, 11);
    for (size_t i = 0; i < trial->n; i++) {
        trial->label[i] = below(state, 1u << labels);
    }
    trial->label[0] = 1;
    if (trial->n == 1 || one_in(state, 2)) {
        trial->label[trial->n - 1] = trial->n == 1 ? 1 : 2;
    }
    if (one_in(state, 3)) {
        give(trial, FREE_BIAS, 1);
    } else if (one_in(state, 3)) {
        give(trial, BIAS, decades(state, -2, 2));
    }
    if (one_in(state, 3)) {
        give(trial, SOLVER, one_in(state, 2) ? 1 : 3);
    }
    if (one_in(state, 8)) {
        give(trial, SHRINKING, 0);
    }
    choose_row_weights(state, trial);
}

static void make_smm(uint64_t *state, struct trial *trial) {
    unsigned labels = 2 + one_in(state, 5);
    trial->matrix_rows = 1 + below(state, 3);
    trial->n_features = trial->matrix_rows * (1 + below(state, 3));
    trial->n = 2 + below(state, 13);
    for (size_t i = 0; i < trial->n; i++) {
        trial->label[i] = i < 2 ? (unsigned)i : below(state, labels);
    }
    give(trial, FORMULATION, 1 + below(state, 2));
    if (trial_is(trial, FORMULATION, 1)) {
        give(trial, TAU, one_in(state, 8) ? 0 : decades(state, -3, 2));
    }
    if (one_in(state, 4)) {
        choose_weights(state, trial, labels);
    }
    choose_row_weights(state, trial);
}

void trial_generate(struct trial *trial, uint64_t seed) {
    static void (*const make[FAMILIES])(uint64_t *, struct trial *) = {make_rank, make_top, make_mc,
                                                                       make_ml, make_smm};
    uint64_t state = seed;
    next(&state);
    *trial = (struct trial){.family = (enum family)(seed % FAMILIES)};
    trial->n_features = 1 + below(&state, 6);
    choose_common(&state, trial);
    make[trial->family](&state, trial);
    make_rows(&state, trial);
    if (trial_is(trial, KERNEL, PRECOMPUTED)) {
        make_matrix(&state, trial);
    }
}
