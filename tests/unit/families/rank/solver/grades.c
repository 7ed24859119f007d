/* Weights of pairs by NDCG: sums of small and of large groups, of samples and of windows, the
 * Laplacian, and the sums of the certificate, compared with pairs that are listed and weighted one
 * by one. */
#define _GNU_SOURCE
#include "families/rank/solver/extended_sums.h"
#include "families/rank/solver/laplacian.h"
#include "families/rank/solver/risk.h"
#include "tests/unit/families/rank/solver/fixture.h"

#include <float.h>

enum { FEATURES = 3 };

/* Grades of -1 to 4 in each query; negative ones count as 0. */
static struct reference_data graded_rows(size_t n, size_t groups) {
    uint64_t seed = n;
    struct reference_data rows = random_rows(n, FEATURES, groups, 1, n);
    for (size_t i = 0; i < n; i++) {
        rows.t[i] = floor(6 * uniform(&seed) * uniform(&seed)) - 1;
    }
    return rows;
}

static double grade(const struct reference_data *rows, size_t i) {
    return fmax(0, rows->t[i]);
}

/* For a group: gain and mean discount of each grade, and the DCG of the best order. */
struct worth {
    double gain[5], discount[5], ideal;
};

static struct worth weigh_group(const struct reference_data *rows, unsigned long query,
                                bool linear) {
    struct worth worth = {{0}, {0}, 0};
    size_t place = 0;
    for (int g = 4; g >= 0; g--) {
        double sum = 0, n = 0;
        worth.gain[g] = linear ? g : pow(2, g) - 1;
        for (size_t i = 0; i < rows->n; i++) {
            if (rows->query[i] == query && grade(rows, i) == g) {
                sum += 1 / log2(1 + (double)++place);
                n++;
            }
        }
        worth.discount[g] = n > 0 ? sum / n : 0;
        worth.ideal += sum * worth.gain[g];
    }
    return worth;
}

/* All pairs of the problem, from its sample or from the grades. Every grade occurs in every group.
 */
static void list(struct reference_pairs *pairs, const struct reference_data *rows,
                 const struct rank_pairs *sums, const struct rank_preferences *preferences) {
    size_t most = rows->n * rows->n / 2;
    *pairs = (struct reference_pairs){0, reference_alloc(most, sizeof(size_t)),
                                      reference_alloc(most, sizeof(size_t)),
                                      reference_alloc(most, sizeof(double))};
    struct worth worth[2];
    for (unsigned long q = 0; q < 2; q++) {
        worth[q] = weigh_group(rows, 3 + q, preferences->linear_gain);
    }
    for (size_t g = 0; sums->partner_start && g < sums->n_groups; g++) {
        for (size_t k = sums->start[g]; k < sums->start[g + 1]; k++) {
            for (size_t p = sums->partner_start[k]; p < sums->partner_start[k + 1]; p++) {
                pairs->i[pairs->m] = sums->row[k];
                pairs->j[pairs->m++] = sums->row[sums->start[g] + sums->partner[p]];
            }
        }
    }
    for (size_t i = 0; !sums->partner_start && i < rows->n; i++) {
        for (size_t j = 0; j < rows->n; j++) {
            double apart = grade(rows, i) - grade(rows, j);
            if (rows->query[i] == rows->query[j] && apart >= preferences->gap_low &&
                apart <= preferences->gap_high) {
                pairs->i[pairs->m] = i;
                pairs->j[pairs->m++] = j;
            }
        }
    }
    for (size_t p = 0; p < pairs->m; p++) {
        int a = (int)grade(rows, pairs->i[p]), b = (int)grade(rows, pairs->j[p]);
        const struct worth *own = &worth[rows->query[pairs->i[p]] - 3];
        pairs->cost[p] = own->gain[a] - own->gain[b];
        if (preferences->unit == RANK_NDCG) {
            pairs->cost[p] *= (own->discount[a] - own->discount[b]) / own->ideal;
        }
    }
}

static void agree(const char *what, int kind, double found, double due, double size) {
    CHECK_CLOSE(found, due, 1e-11 * (1 + size), "kind %d: %s", kind, what);
}

struct due {
    double *count, *moment, *weight, active, first, second, most;
};

/* The pairs with low <= margin < high. */
static struct due sum_up(const struct reference_pairs *pairs, const double *s, size_t n, double low,
                         double high) {
    struct due due = {check_numbers(n), check_numbers(n), check_numbers(n), 0, 0, 0, 0};
    for (size_t p = 0; p < pairs->m; p++) {
        size_t i = pairs->i[p], j = pairs->j[p];
        double margin = s[i] - s[j], c = pairs->cost[p], u = high - margin;
        if (margin < high && margin >= low) {
            due.active += c;
            due.first += c * u;
            due.second += c * u * u;
            due.count[i] += c, due.count[j] -= c;
            due.moment[i] += c * u, due.moment[j] -= c * u;
            due.weight[i] += c, due.weight[j] += c;
        }
    }
    for (size_t i = 0; i < n; i++) {
        due.most = fmax(due.most, due.weight[i]);
    }
    return due;
}

static void check_engine(int kind, struct rank_pairs *sums, const struct reference_pairs *pairs,
                         const double *s, double *out) {
    size_t n = sums->n;
    double *moment = out + n;
    struct due due = sum_up(pairs, s, n, -INFINITY, 1),
               all = sum_up(pairs, s, n, -INFINITY, INFINITY);
    double active = rank_pairs_sums(sums, s, 1, out, moment);
    agree("the weight of active pairs", kind, active, due.active, due.active);
    for (size_t i = 0; i < n; i++) {
        agree("a count", kind, out[i], due.count[i], due.most);
        agree("a moment", kind, moment[i], due.moment[i], due.most);
    }
    struct rank_risk risk;
    MUST(rank_risk_create(&risk, sums, RANK_RISK_HINGE, &err));
    agree("the weight of all pairs", kind, risk.total, all.active, all.active);
    double offset, value = rank_risk_evaluate(&risk, s, out, &offset);
    agree("the hinge", kind, value, due.first, due.first);
    struct risk risk_functions = rank_risk_functions(&risk, false);
    struct risk_rounding paid = risk_functions.rounding(risk_functions.context);
    for (size_t i = 0; i < n; i++) { /* weights have rounding errors too */
        CHECK(fabs(out[i] + due.count[i]) <= 2 * paid.gradient * all.weight[i],
              "kind %d: a slope is off by %g, %g paid", kind, out[i] + due.count[i],
              paid.gradient * all.weight[i]);
    }
    CHECK(paid.gradient > DBL_EPSILON && paid.gradient < 1e-11, "kind %d: rounding-error bound %g",
          kind, paid.gradient);
    rank_risk_free(&risk);
}

static void check_curvature(int kind, struct rank_pairs *sums, const struct reference_pairs *pairs,
                            const struct reference_data *rows, const struct data *data,
                            const double *s, double *out) {
    struct rank_laplacian laplacian;
    size_t n = sums->n, d = data->n_features;
    double *due = check_numbers(n), *H = check_numbers(d * d);
    double *wanted = check_numbers(d * d), v = 0;
    MUST(rank_laplacian_create(&laplacian, sums, &err));
    rank_laplacian_set(&laplacian, s, .4, 1);
    rank_laplacian_apply(&laplacian, s, out);
    for (size_t p = 0; p < pairs->m; p++) {
        size_t i = pairs->i[p], j = pairs->j[p];
        double margin = s[i] - s[j];
        if (margin < .4 || margin >= 1) {
            continue;
        }
        due[i] += pairs->cost[p] * margin;
        due[j] -= pairs->cost[p] * margin;
        v += pairs->cost[p];
        for (size_t a = 0; a < d; a++) {
            for (size_t b = 0; b < d; b++) {
                const double *x = rows->x + i * rows->width + 1, *y = rows->x + j * rows->width + 1;
                wanted[a * d + b] += pairs->cost[p] * (x[a] - y[a]) * (x[b] - y[b]);
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        agree("a product with the curvature", kind, out[i], due[i], v);
    }
    MUST(rank_laplacian_gram(&laplacian, data, NULL, d, H, &err));
    for (size_t k = 0; k < d * d; k++) {
        agree("the Hessian", kind, H[k], wanted[k], v);
    }
    rank_laplacian_free(&laplacian);
}

static void check_exact(int kind, struct rank_pairs *sums, const struct reference_pairs *pairs,
                        const double *s, double *out) {
    const double mu = .3;
    double value, rounding, unit, linear, *slack = out + sums->n;
    struct due due = sum_up(pairs, s, sums->n, -INFINITY, 1);
    struct due above = sum_up(pairs, s, sums->n, -INFINITY, 1 - mu);
    for (int squared = 0; squared < 2; squared++) {
        double loss = squared ? due.second : due.first;
        MUST(rank_extended_loss(sums, s, squared, &value, &rounding, &err));
        agree("the exact loss", kind, value, loss, loss);
        CHECK(rounding >= 3 * DBL_EPSILON * loss && rounding < 1e-10 * loss, "kind %d: %g is paid",
              kind, rounding);
    }
    MUST(rank_extended_dual(sums, s, mu, 0, out, slack, &unit, &linear, &rounding, &err));
    agree("the hinge's dual", kind, linear, (due.first - above.first) / mu, due.first / mu);
    for (size_t i = 0; i < sums->n; i++) {
        agree("a coefficient", kind, out[i], (due.moment[i] - above.moment[i]) / mu, due.most / mu);
    }
    CHECK(unit >= 4 * DBL_EPSILON && rounding >= 3 * DBL_EPSILON * linear, "kind %d: %g paid", kind,
          unit);
    MUST(rank_extended_dual(sums, s, 0, 0, out, slack, &unit, &linear, &rounding, &err));
    agree("the square's dual", kind, linear, 2 * due.first - due.second, due.second);
    for (size_t i = 0; i < sums->n; i++) {
        agree("a coefficient", kind, out[i], 2 * due.moment[i], due.most);
        CHECK(slack[i] >= 7 * DBL_EPSILON * fabs(due.moment[i]), "kind %d: bound %g of %g", kind,
              slack[i], out[i]);
    }
}

/* Kinds: gains, windows, samples, and groups that are too large for sums pair by pair. */
static void check_kinds(void) {
    for (int kind = 0; kind < 32; kind += quick_step(5)) {
        struct reference_pairs pairs;
        struct rank_preferences preferences = all_pairs();
        preferences.unit = kind & 16 ? RANK_GAIN : RANK_NDCG;
        preferences.linear_gain = kind & 1;
        preferences.gap_low = kind & 2 ? 2 : 1;
        preferences.gap_high = kind & 2 ? 3 : UINT32_MAX;
        preferences.fraction = kind & 4 ? .3 : 1;
        struct reference_data rows = graded_rows(kind & 8 ? 2100 : 60, 2);
        struct data data = rows_to_data(&rows, DENSE);
        struct rank_pairs sums = solver_pairs(&data, &preferences);
        list(&pairs, &rows, &sums, &preferences);
        double *s = check_numbers(rows.n), *out = check_numbers(2 * rows.n);
        uint64_t seed = (uint64_t)kind;
        for (size_t i = 0; i < rows.n; i++) {
            s[i] = 3 * uniform(&seed);
        }
        CHECK(sums.n_pairs == (double)pairs.m, "%g pairs, not %zu", sums.n_pairs, pairs.m);
        check_engine(kind, &sums, &pairs, s, out);
        check_curvature(kind, &sums, &pairs, &rows, &data, s, out);
        check_exact(kind, &sums, &pairs, s, out);
        rank_pairs_free(&sums);
        reference_pairs_free(&pairs);
        data_free(&data);
    }
    puts("ok: pairs by what they are worth have the sums of those that are listed");
}

int main(void) {
    check_kinds();
    return 0;
}
