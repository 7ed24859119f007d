/* The reference solver of RankSVM as a program, for comparison: see reference.h.
 *
 *   oracle FILE [-t K] [-d N] [-g G] [-r R] [-c C] [-l hinge|squared-hinge] [-e GAP]
 *          [--rank-gap LO:HI] [--cost-per query|ndcg|linear|gain] [-w QID:W] [--exterior]
 *       prints "pairs", "primal", "dual" of the optimum over explicit pairs
 *   oracle
 *       checks the reference on cases solved by hand */
#define _GNU_SOURCE
#include "common/data/input.h"
#include "tests/unit/check.h"
#include "tests/unit/families/rank/solver/reference.h"

static void die(const char *what, const char *found) {
    fprintf(stderr, "oracle: %s: %s\n", what, found);
    exit(2);
}

/* The rows of svmlight text, with serial numbers if they begin with these. */
static struct reference_data read_rows(const char *path, bool precomputed) {
    const struct input_format format = {.labels = DATA_NUMBER, .precomputed = precomputed};
    struct data data;
    MUST(input_read(&data, path, &format, NULL, &err));
    struct reference_data rows = {.n = data.n_rows, .width = data_largest(&data) + (size_t)1};
    rows.x = check_numbers(rows.n * rows.width);
    rows.t = check_numbers(rows.n);
    rows.query = check_array(rows.n, sizeof(unsigned long));
    for (size_t i = 0; i < rows.n; i++) {
        double *row = rows.x + i * rows.width;
        row[0] = data.serial ? (double)data.serial[i] : 0;
        data_row_dense(&data, i, rows.width - 1, row + 1);
        rows.t[i] = data.target[i];
        rows.query[i] = data.query ? data.query[i] : 0;
    }
    data_free(&data);
    return rows;
}

static int print_optimum(int argc, char **argv) {
    enum { MAX_WEIGHTS = 100 };
    struct reference_kernel kernel = {0, 3, 0, 0};
    bool squared = false, exterior = false, precomputed = false;
    enum reference_unit unit = REFERENCE_PAIR;
    double cost = 1, gap = 1e-10, weight[MAX_WEIGHTS];
    unsigned long weight_query[MAX_WEIGHTS];
    size_t low = 1, high = SIZE_MAX, n_weights = 0;
    for (int a = 2; a + 1 < argc; a++) {
        precomputed = precomputed || (strcmp(argv[a], "-t") == 0 && strcmp(argv[a + 1], "4") == 0);
    }
    struct reference_data data = read_rows(argv[1], precomputed);
    kernel.gamma = 1 / (double)(data.width - 1);
    for (int a = 2; a < argc; a++) {
        const char *name = argv[a];
        char *end;
        if (strcmp(name, "--exterior") == 0) {
            exterior = true;
            continue;
        }
        const char *value = a + 1 < argc ? argv[++a] : "";
        if (strcmp(name, "-t") == 0) {
            kernel.type = (int)strtol(value, &end, 10);
        } else if (strcmp(name, "-d") == 0) {
            kernel.degree = (int)strtol(value, &end, 10);
        } else if (strcmp(name, "-g") == 0) {
            kernel.gamma = strtod(value, &end);
        } else if (strcmp(name, "-r") == 0) {
            kernel.coef0 = strtod(value, &end);
        } else if (strcmp(name, "-c") == 0) {
            cost = strtod(value, &end);
        } else if (strcmp(name, "-e") == 0) {
            gap = strtod(value, &end);
        } else if (strcmp(name, "-l") == 0) {
            squared = strcmp(value, "squared-hinge") == 0;
        } else if (strcmp(name, "--cost-per") == 0) {
            unit = strcmp(value, "query") == 0    ? REFERENCE_QUERY
                   : strcmp(value, "ndcg") == 0   ? REFERENCE_NDCG
                   : strcmp(value, "linear") == 0 ? REFERENCE_NDCG_LINEAR
                   : strcmp(value, "gain") == 0   ? REFERENCE_GAIN
                                                  : REFERENCE_PAIR;
        } else if (strcmp(name, "--rank-gap") == 0) {
            low = strtoul(value, &end, 10);
            high = strcmp(end, ":inf") == 0 ? SIZE_MAX : strtoul(end + 1, NULL, 10);
        } else if (strcmp(name, "-w") == 0 && n_weights < MAX_WEIGHTS) {
            weight_query[n_weights] = strtoul(value, &end, 10);
            weight[n_weights++] = strtod(end + 1, NULL);
        } else {
            die("unknown option", name);
        }
    }
    struct reference_pairs pairs = reference_pairs_list(&data, low, high, cost, unit);
    for (size_t p = 0; p < pairs.m; p++) {
        for (size_t w = 0; w < n_weights; w++) {
            pairs.cost[p] *= data.query[pairs.i[p]] == weight_query[w] ? weight[w] : 1;
        }
    }
    double primal, dual;
    bool reached =
        reference_optimum(&data, &kernel, &pairs, exterior, squared, gap, &primal, &dual);
    printf("pairs %zu\nprimal %.17g\ndual %.17g\n", pairs.m, primal, dual);
    if (!reached) {
        fprintf(stderr, "oracle: gap %g reached, not %g\n", (primal - dual) / primal, gap);
    }
    reference_pairs_free(&pairs);
    return reached ? 0 : 1;
}

static bool near(double found, double expected) {
    return fabs(found - expected) <= 1e-9 * (1 + fabs(expected));
}

/* One pair with x_i - x_j = 2 in one dimension: hinge alpha = min(C, 1/4), squared hinge
 * alpha = 1 / (4 + 1/(2C)); both optima are alpha / 2 while alpha is below C. */
static void check_itself(void) {
    double x[] = {0, 3, 0, 1}, t[] = {1, 0};
    unsigned long query[] = {7, 7};
    struct reference_data data = {.n = 2, .width = 2, .x = x, .t = t, .query = query};
    struct reference_kernel linear = {0, 3, 1, 0};
    for (int power = -3; power <= 3; power++) {
        double cost = pow(10, power), primal, dual;
        double hinge = cost < .25 ? cost - 2 * cost * cost : .125;
        struct reference_pairs pairs =
            reference_pairs_list(&data, 1, SIZE_MAX, cost, REFERENCE_PAIR);
        CHECK_TRUE(pairs.m == 1 && pairs.i[0] == 0);
        reference_optimum(&data, &linear, &pairs, false, false, 1e-12, &primal, &dual);
        CHECK(near(primal, hinge) && near(dual, hinge), "one pair at C = %g", cost);
        reference_optimum(&data, &linear, &pairs, false, true, 1e-12, &primal, &dual);
        CHECK(near(primal, .5 / (4 + 1 / (2 * cost))) && near(dual, primal),
              "one pair at C = %g, squared", cost);
        reference_pairs_free(&pairs);
    }
    printf("ok: the reference solves one pair as paper does\n");
}

int main(int argc, char **argv) {
    if (argc < 2) {
        check_itself();
        return 0;
    }
    return print_optimum(argc, argv);
}
