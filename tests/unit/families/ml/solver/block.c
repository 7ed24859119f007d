/* Losses, vertices and steps of single rows against plain loops and against the optimality
 * condition: a block is optimal if and only if the Fenchel-Young inequality holds with equality. */
#include "families/ml/solver/block.h"
#include "families/ml/solver/sort.h"
#include "tests/unit/compute.h"

enum { MAX_LABELS = 300 };

/* A row with its arrays. */
struct row {
    struct ml_block block;
    uint32_t relevant[MAX_LABELS];
    bool is_relevant[MAX_LABELS];
    double k, s[MAX_LABELS], beta[MAX_LABELS], alpha[MAX_LABELS * MAX_LABELS];
};

static double uniform(struct random *random, double low, double high) {
    return low + (high - low) * random_unit(random);
}

/* Scores of size `size`; with `ties`, multiples of 1/2 of it; up to max_relevant relevant labels.
 * beta belongs to a random alpha. */
static void make_row(struct row *row, struct random *random, enum ml_loss loss, uint32_t q,
                     uint32_t max_relevant, double size, bool ties) {
    uint32_t n = 0, n_relevant = 1 + (uint32_t)random_below(random, max_relevant);
    uint32_t order[MAX_LABELS];
    for (uint32_t k = 0; k < q; k++) {
        order[k] = k;
        row->is_relevant[k] = false;
        row->s[k] = size * uniform(random, -2, 2);
        row->s[k] = ties ? size * floor(row->s[k] / size * 2) / 2 : row->s[k];
        row->beta[k] = 0;
    }
    random_shuffle(random, order, q);
    for (uint32_t p = 0; p < n_relevant; p++) {
        row->is_relevant[order[p]] = true;
    }
    for (uint32_t k = 0; k < q; k++) {
        if (row->is_relevant[k]) {
            row->relevant[n++] = k;
        }
    }
    double lambda = pow(10, uniform(random, -3, 3));
    row->block = (struct ml_block){loss, q, n_relevant, row->relevant, lambda};
    row->k = pow(10, uniform(random, -3, 3));
    size_t at = 0;
    for (uint32_t p = 0; p < q; p++) {
        for (uint32_t r = 0; row->is_relevant[p] && r < q; r++) {
            if (!row->is_relevant[r]) {
                double u = uniform(random, -1, 2);
                row->alpha[at] = lambda * (u < 0 ? 0 : u > 1 && loss == ML_HINGE ? 1 : u);
                row->beta[p] += row->alpha[at];
                row->beta[r] -= row->alpha[at++];
            }
        }
    }
}

/* ---- plain loops ---- */

static double plain_loss(const struct row *row, const double *s, double *vertex,
                         double *conjugate) {
    double loss = 0;
    bool hinge = row->block.loss == ML_HINGE;
    memset(vertex, 0, row->block.q * sizeof *vertex);
    *conjugate = 0;
    for (uint32_t p = 0; p < row->block.q; p++) {
        for (uint32_t r = 0; row->is_relevant[p] && r < row->block.q; r++) {
            double x = 1 - s[p] + s[r];
            if (!row->is_relevant[r] && x > 0) {
                double slope = row->block.lambda * (hinge ? 1 : 2 * x);
                loss += row->block.lambda * (hinge ? x : x * x);
                vertex[p] += slope;
                vertex[r] -= slope;
                *conjugate += hinge ? 0 : slope * slope / (4 * row->block.lambda);
            }
        }
    }
    return loss;
}

/* loss(s) + conjugate - <beta, y - s>, which is >= 0, and 0 at the optimum; and the scale of its
 * rounding error. */
static double fenchel(const struct row *row, const double *s, const double *beta, double conjugate,
                      double *size) {
    double vertex[MAX_LABELS], other;
    double loss = plain_loss(row, s, vertex, &other), sum = 0;
    *size = loss + conjugate + 1e-3 * row->block.lambda;
    for (uint32_t k = 0; k < row->block.q; k++) {
        double part = beta[k] * ((row->is_relevant[k] ? 1 : 0) - s[k]);
        sum += part;
        *size += fabs(part);
    }
    return loss + conjugate - sum;
}

/* ---- checks ---- */

static void check_loss(const struct row *row, struct ml_scratch *scratch) {
    double plain[MAX_LABELS], vertex[MAX_LABELS], plain_conjugate, conjugate;
    double loss = plain_loss(row, row->s, plain, &plain_conjugate), size = loss + 1e-12;
    double given = ml_block_loss(&row->block, row->s, scratch);
    CHECK_CLOSE(given, loss, 1e-9 * size, "loss");
    given = ml_block_vertex(&row->block, row->s, vertex, &conjugate, scratch);
    CHECK_CLOSE(given, loss, 1e-9 * size, "loss at the vertex");
    CHECK_CLOSE(conjugate, plain_conjugate, 1e-9 * size, "conjugate");
    for (uint32_t k = 0; k < row->block.q; k++) {
        CHECK_CLOSE(vertex[k], plain[k], 1e-9 * (fabs(plain[k]) + row->block.lambda),
                    "label %u of %u", k, row->block.q);
    }
}

/* The derivative of the loss is minus the vertex (of the squared hinge, which is smooth). */
static void check_derivative(const struct row *row, struct ml_scratch *scratch) {
    double vertex[MAX_LABELS], s[MAX_LABELS], conjugate;
    ml_block_vertex(&row->block, row->s, vertex, &conjugate, scratch);
    for (uint32_t k = 0; k < row->block.q; k += 1 + row->block.q / 7) {
        const double h = 1e-5;
        memcpy(s, row->s, sizeof s);
        s[k] = row->s[k] + h;
        double up = ml_block_loss(&row->block, s, scratch);
        s[k] = row->s[k] - h;
        double slope = (up - ml_block_loss(&row->block, s, scratch)) / (2 * h);
        CHECK_CLOSE(-vertex[k], slope, 1e-4 * (fabs(slope) + row->block.lambda), "label %u", k);
    }
}

static void scores_after(const struct row *row, const double *beta, double *s) {
    for (uint32_t k = 0; k < row->block.q; k++) {
        s[k] = row->s[k] + row->k * (beta[k] - row->beta[k]);
    }
}

static void check_exact(const struct row *row, struct ml_scratch *scratch, double tolerance) {
    double beta[MAX_LABELS], s[MAX_LABELS] = {0}, conjugate, size, total = 0;
    memcpy(beta, row->beta, sizeof beta);
    double change = ml_block_exact(&row->block, row->k, row->s, beta, &conjugate, scratch);
    scores_after(row, beta, s);
    double gap = fenchel(row, s, beta, conjugate, &size), largest = 0;
    /* margins of 1 are met up to rounding of scores of size k lambda q */
    double q = row->block.q, lambda = row->block.lambda;
    double rounding = 1e-15 * lambda * q * q * (row->k * lambda * q + 60);
    CHECK(fabs(gap) <= tolerance * size + rounding, "gap %g of %g, q %u, lambda %g, k %g", gap,
          size, row->block.q, lambda, row->k);
    for (uint32_t k = 0; k < row->block.q; k++) {
        largest = fmax(largest, fabs(beta[k] - row->beta[k]));
        total += beta[k];
        double signed_beta = row->is_relevant[k] ? beta[k] : -beta[k]; /* >= 0 up to rounding */
        CHECK(signed_beta >=
                  -1e-12 * (row->block.lambda + fabs(row->s[k]) / (row->k + 1e-9)) * MAX_LABELS,
              "label %u: %g", k, beta[k]);
    }
    CHECK(largest == change, "change %g, returned %g", largest, change);
    CHECK(fabs(total) <= 1e-10 * row->block.lambda * MAX_LABELS * MAX_LABELS, "sum %g", total);
}

/* The alpha of a beta lie in the box and sum to it. */
static void check_alpha(const struct row *row, const double *beta, struct ml_scratch *scratch) {
    static double alpha[MAX_LABELS * MAX_LABELS];
    uint32_t n_others = row->block.q - row->block.n_relevant, r = 0;
    double slack = 1e-9 * row->block.lambda * row->block.q;
    ml_block_hinge_alpha(&row->block, beta, alpha, scratch);
    for (uint32_t p = 0; p < row->block.n_relevant; p++) {
        double sum = 0;
        for (r = 0; r < n_others; r++) {
            double a = alpha[p * n_others + r];
            CHECK(a >= 0 && a <= row->block.lambda, "alpha %g of %g", a, row->block.lambda);
            sum += a;
        }
        CHECK_CLOSE(sum, beta[row->relevant[p]], slack, "sum of label %u's alpha",
                    row->relevant[p]);
    }
    r = 0;
    for (uint32_t k = 0; k < row->block.q; k++) {
        if (!row->is_relevant[k]) {
            double sum = 0;
            for (uint32_t p = 0; p < row->block.n_relevant; p++) {
                sum -= alpha[p * n_others + r];
            }
            CHECK_CLOSE(sum, beta[k], slack, "sum of label %u's alpha", k);
            r++;
        }
    }
}

/* Pair steps never decrease the dual, and many sweeps reach the exact block. */
static void check_pairs(const struct row *row, struct ml_scratch *scratch) {
    static double alpha[MAX_LABELS * MAX_LABELS];
    double beta[MAX_LABELS], exact[MAX_LABELS], s[MAX_LABELS] = {0}, conjugate, exact_conjugate,
                                                size;
    memcpy(alpha, row->alpha, sizeof alpha);
    memcpy(beta, row->beta, sizeof beta);
    memcpy(exact, row->beta, sizeof exact);
    ml_block_exact(&row->block, row->k, row->s, exact, &exact_conjugate, scratch);
    ml_block_pairs(&row->block, row->k, row->s, alpha, 20000, beta, &conjugate, scratch);
    scores_after(row, beta, s);
    double gap = fenchel(row, s, beta, conjugate, &size);
    CHECK(fabs(gap) <= 1e-6 * size, "gap %g of %g", gap, size);
    for (uint32_t k = 0; k < row->block.q; k++) {
        CHECK_CLOSE(beta[k], exact[k], 1e-3 * (row->block.lambda + fabs(exact[k]) + 1 / row->k),
                    "label %u of %u", k, row->block.q);
    }
}

static void check_sort(struct random *random) {
    struct ml_sort list[1000], merge[1000];
    for (uint32_t n = 0; n <= 1000; n += 1 + n / 5) {
        for (uint32_t i = 0; i < n; i++) {
            list[i] = (struct ml_sort){(double)random_below(random, 1 + n / 2), i};
        }
        ml_sort(list, n, merge);
        for (uint32_t i = 1; i < n; i++) {
            CHECK(list[i - 1].key > list[i].key ||
                      (list[i - 1].key == list[i].key && list[i - 1].index < list[i].index),
                  "item %u of %u", i, n);
        }
    }
    printf("ok: sorting is stable and descending\n");
}

int main(void) {
    struct ml_scratch *scratch = NULL;
    static struct row row;
    struct random random = sample_random(5, 1);
    check_sort(&random);
    MUST(ml_scratch_create(&scratch, MAX_LABELS, &err));
    const char *names[] = {"hinge", "squared hinge"};
    for (int loss = 0; loss < 2; loss++) {
        bool hinge = loss == ML_HINGE;
        for (int round = 0; round < 4000; round++) {
            uint32_t q = 2 + (uint32_t)random_below(&random, round % 50 ? 10 : MAX_LABELS - 1);
            make_row(&row, &random, (enum ml_loss)loss, q, q - 1, round % 3 ? 1 : 30,
                     round % 4 == 0);
            check_loss(&row, scratch);
            check_exact(&row, scratch, 1e-9);
            /* pair steps converge slowly if the loss outweighs the norm */
            if (q <= 12 && row.k * row.block.lambda < 20) {
                check_pairs(&row, scratch);
            }
            if (hinge) {
                check_alpha(&row, row.beta, scratch);
            } else {
                check_derivative(&row, scratch);
            }
            row.k = 0; /* a row of zeros */
            check_exact(&row, scratch, 1e-9);
        }
        printf("ok: %s: losses, vertices and blocks of 4000 rows\n", names[loss]);
    }
    /* many others, most of which binning fixes if a row moves them little */
    for (int round = 0; round < 2000; round++) {
        uint32_t q = 65 + (uint32_t)random_below(&random, MAX_LABELS - 65);
        make_row(&row, &random, ML_HINGE, q, round % 2 ? 3 : 12, 1, round % 4 == 0);
        row.k = pow(10, uniform(&random, -6, 0)) / row.block.lambda;
        check_exact(&row, scratch, 1e-9);
    }
    printf("ok: hinge: blocks of many others\n");
    ml_scratch_free(scratch);
    return 0;
}
