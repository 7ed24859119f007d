/* Measures from the sorted scores of positives and negatives (roc.h). */
#define _DEFAULT_SOURCE /* lgamma_r, which is not in C or POSIX: glibc, musl and the BSDs have it */
#include "families/top/frontend/roc.h"

#include "common/base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct scored {
    double score;
    bool positive;
};

static int compare(const void *a, const void *b) {
    double x = ((const struct scored *)a)->score, y = ((const struct scored *)b)->score;
    return (x < y) - (x > y);
}

/* Makes the steps of the curve from rows in descending order of their scores. */
static void make_steps(struct roc *roc, const struct scored *row, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct roc_step *step = &roc->step[roc->n_steps - (roc->n_steps > 0)];
        if (i == 0 || row[i].score != row[i - 1].score) {
            step = &roc->step[roc->n_steps++];
            *step = (struct roc_step){.score = row[i].score,
                                      .positives_above = roc->n_positive,
                                      .negatives_above = roc->n_negative};
        }
        step->positives += row[i].positive;
        step->negatives += !row[i].positive;
        roc->n_positive += row[i].positive;
        roc->n_negative += !row[i].positive;
    }
}

int roc_create(struct roc *roc, const double *score, const bool *positive, size_t n,
               struct error *err) {
    *roc = (struct roc){0};
    struct scored *row = memory_array(n, sizeof *row, "measures", err);
    roc->step = memory_array(n, sizeof *roc->step, "measures", err);
    if (!row || !roc->step) {
        free(row);
        roc_free(roc);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(score[i])) {
            free(row);
            roc_free(roc);
            return error_set(err, ERROR_RUNTIME, "a score is not a finite number");
        }
        row[i] = (struct scored){score[i], positive[i]};
    }
    qsort(row, n, sizeof *row, compare);
    make_steps(roc, row, n);
    free(row);
    return 0;
}

void roc_free(struct roc *roc) {
    free(roc->step);
    *roc = (struct roc){0};
}

/* The k-th largest score of a negative, k >= 1; NaN if there are fewer. */
static double largest_negative(const struct roc *roc, size_t k) {
    for (size_t i = 0; k > 0 && i < roc->n_steps; i++) {
        const struct roc_step *step = &roc->step[i];
        if (step->negatives_above + step->negatives >= k) {
            return step->score;
        }
    }
    return (double)NAN;
}

void roc_above(const struct roc *roc, double t, size_t *positives, size_t *negatives) {
    *positives = *negatives = 0;
    for (size_t i = 0; i < roc->n_steps && roc->step[i].score > t; i++) {
        *positives += roc->step[i].positives;
        *negatives += roc->step[i].negatives;
    }
}

/* Share of the positives strictly above t. */
static double fraction_above(const struct roc *roc, double t) {
    size_t above, others;
    roc_above(roc, t, &above, &others);
    return isnan(t) || roc->n_positive == 0 ? (double)NAN : (double)above / (double)roc->n_positive;
}

double roc_tpr_at_count(const struct roc *roc, size_t k) {
    if (k == 0 || k > roc->n_negative) {
        return (double)NAN;
    }
    double sum = 0;
    size_t left = k;
    for (size_t i = 0; left > 0; i++) {
        const struct roc_step *step = &roc->step[i];
        size_t taken = step->negatives < left ? step->negatives : left;
        sum += (double)taken * step->score;
        left -= taken;
    }
    return fraction_above(roc, sum / (double)k);
}

double roc_threshold(const struct roc *roc, double tau) {
    /* tau n- may be less than a whole number by rounding */
    double k = floor(tau * (double)roc->n_negative * (1 + 1e-12));
    return largest_negative(roc, (size_t)k + 1);
}

double roc_tpr_at_rate(const struct roc *roc, double tau) {
    return fraction_above(roc, roc_threshold(roc, tau));
}

double roc_partial_auc(const struct roc *roc, double fpr) {
    if (roc->n_positive == 0 || roc->n_negative == 0 || !(fpr > 0)) {
        return (double)NAN;
    }
    double end = fpr * (double)roc->n_negative, area = 0;
    for (size_t i = 0; i < roc->n_steps; i++) {
        const struct roc_step *step = &roc->step[i];
        double width = fmin((double)step->negatives, end - (double)step->negatives_above);
        if (width <= 0) {
            continue; /* a vertical step, or beyond the end */
        }
        double slope = (double)step->positives / (double)step->negatives;
        area += width * ((double)step->positives_above + 0.5 * slope * width);
    }
    return area / ((double)roc->n_positive * end);
}

double roc_mcclish(const struct roc *roc, double fpr) {
    double area = roc_partial_auc(roc, fpr) * fpr, chance = 0.5 * fpr * fpr;
    return 0.5 * (1 + (area - chance) / (fpr - chance));
}

double roc_precision(const struct roc *roc, size_t k) {
    if (k == 0 || k > roc->n_positive + roc->n_negative) {
        return (double)NAN;
    }
    double positives = 0;
    size_t left = k;
    for (size_t i = 0; left > 0; i++) {
        const struct roc_step *step = &roc->step[i];
        size_t rows = step->positives + step->negatives, taken = rows < left ? rows : left;
        positives += (double)step->positives * (double)taken / (double)rows;
        left -= taken;
    }
    return positives / (double)k;
}

double roc_positives_at_top(const struct roc *roc) {
    return fraction_above(roc, largest_negative(roc, 1));
}

double roc_average_precision(const struct roc *roc) {
    if (roc->n_positive == 0) {
        return (double)NAN;
    }
    double sum = 0;
    for (size_t i = 0; i < roc->n_steps; i++) {
        const struct roc_step *step = &roc->step[i];
        double r = (double)step->positives, m = r + (double)step->negatives;
        double before = (double)step->positives_above;
        double rows_before = before + (double)step->negatives_above;
        /* at position k of the m, a positive with probability r/m, and before it among them
         * (k-1)(r-1)/(m-1) others on average (McSherry and Najork 2008) */
        double others = m > 1 ? (r - 1) / (m - 1) : 0;
        for (double k = 1; r > 0 && k <= m; k++) {
            sum += r / m * (before + 1 + (k - 1) * others) / (rows_before + k);
        }
    }
    return sum / (double)roc->n_positive;
}

/* ---- intervals ---- */

static const double TAIL = 0.025;

/* The continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22). */
static double fraction(double a, double b, double x) {
    enum { MAX_TERMS = 100000 };
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
    double value = d;
    for (double m = 1; m < MAX_TERMS; m++) {
        const double terms[] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        double change = 1;
        for (int k = 0; k < 2; k++) {
            d = 1 + terms[k] * d;
            c = 1 + terms[k] / c;
            d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
            c = fabs(c) < DBL_MIN ? DBL_MIN : c;
            change = c * d;
            value *= change;
        }
        if (fabs(change - 1) < 4 * DBL_EPSILON) {
            break;
        }
    }
    return value;
}

/* Of x > 0. lgamma writes the global signgam, which other threads may write too. */
static double log_gamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* I_x(a, b), the probability that a beta-distributed variable is below x; a, b > 0. It is also the
 * probability of at least a successes in a + b - 1 trials of probability x. */
static double beta(double a, double b, double x) {
    if (x <= 0 || x >= 1) {
        return x >= 1;
    }
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * fraction(a, b, x) / a
                                     : 1 - front * fraction(b, a, 1 - x) / b;
}

/* The x with I_x(a, b) = level. */
static double quantile(double a, double b, double level) {
    double low = 0, high = 1;
    for (int i = 0; i < 100 && low < high; i++) {
        double middle = low + (high - low) / 2;
        *(beta(a, b, middle) < level ? &low : &high) = middle;
    }
    return low + (high - low) / 2;
}

struct share share_exact(double right, double n) {
    if (n == 0) {
        return (struct share){NAN, NAN, NAN};
    }
    return (struct share){.value = right / n,
                          .low = right > 0 ? quantile(right, n - right + 1, TAIL) : 0,
                          .high = right < n ? quantile(right + 1, n - right, 1 - TAIL) : 1};
}
