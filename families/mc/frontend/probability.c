/* Fit of the scale by Newton's method on its logarithm, safeguarded by bisection. */
#include "families/mc/frontend/probability.h"

#include "common/base/arrays.h"

#include <math.h>
#include <stdlib.h>

/* Bisection alone takes 45 from these bounds to 1e-12. */
enum { MAX_STEPS = 100 };

/* Bounds of the scale times the spread of the scores, for data where no positive scale is best,
 * such as scores no better than chance. */
static const double MIN_SCALE = 1e-6, MAX_SCALE = 1e6;

void mc_probability(double scale, const double *scores, size_t k, double *p) {
    double max = scores[0], sum = 0;
    for (size_t c = 1; c < k; c++) {
        max = fmax(max, scores[c]);
    }
    for (size_t c = 0; c < k; c++) {
        p[c] = exp(scale * (scores[c] - max));
        sum += p[c];
    }
    for (size_t c = 0; c < k; c++) {
        p[c] /= sum;
    }
}

int mc_probability_read(const struct model *model, bool *calibrated, double *scale,
                        struct error *err) {
    *calibrated = model_value(model, MC_PROBABILITY_KEY) != NULL;
    if (model_number(model, MC_PROBABILITY_KEY, 1, scale, err) < 0) {
        return -1;
    }
    return *scale > 0
               ? 0
               : error_set(err, ERROR_RUNTIME, "the model's %s is not above 0", MC_PROBABILITY_KEY);
}

/* ---- the fit ---- */

/* The held-out rows whose class is among their fold's scores. */
struct rows {
    size_t n, k;
    const double **scores;    /* (n) */
    uint32_t *n_scores, *own; /* (n) number of scores; index of the row's class among them */
    uint32_t *class;          /* (n) the row's class among all */
    uint64_t *count;          /* (k) number of rows of each class */
    double *p;                /* (k) work */
};

/* First and second derivative of F at the scale. */
static void slopes(const struct rows *rows, double scale, double *slope, double *curvature) {
    *slope = *curvature = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const double *s = rows->scores[i];
        double mean = 0, square = 0, sum = 0;
        mc_probability(scale, s, rows->n_scores[i], rows->p);
        for (size_t c = 0; c < rows->n_scores[i]; c++) {
            double off = s[c] - s[rows->own[i]];
            mean += rows->p[c] * off;
            square += rows->p[c] * off * off;
            sum += off;
        }
        double others = rows->n_scores[i] > 1 ? rows->n_scores[i] - 1 : 1;
        *slope += mean - sum / others / ((double)rows->count[rows->class[i]] + 2);
        *curvature += square - mean * mean;
    }
}

/* The root of F', which increases with the scale. */
static double minimise(const struct rows *rows) {
    double spread = 0;
    for (size_t i = 0; i < rows->n; i++) {
        for (size_t c = 0; c < rows->n_scores[i]; c++) {
            spread = fmax(spread, fabs(rows->scores[i][c] - rows->scores[i][rows->own[i]]));
        }
    }
    if (!(spread > 0)) {
        return 1;
    }
    double low = log(MIN_SCALE / spread), high = log(MAX_SCALE / spread), t = -log(spread);
    for (int step = 0; step < MAX_STEPS && high - low > 1e-12; step++) {
        double slope, curvature, scale = exp(t);
        slopes(rows, scale, &slope, &curvature);
        if (slope > 0) {
            high = t;
        } else {
            low = t;
        }
        double next = t - slope / (scale * curvature + fabs(slope));
        t = next > low && next < high ? next : (low + high) / 2;
    }
    return exp(t);
}

/* Adds the rows of one fold whose label is a class of the fold's model. column (names) is work. */
static void add_fold(struct rows *rows, const struct held_out *fold, const struct labels *labels,
                     const uint32_t *map, bool *held, bool *present, uint32_t *column) {
    const struct data *data = fold->data;
    size_t k = labels->names.n;
    for (size_t i = 0; i < data->n_rows; i++) {
        held[i] = false;
    }
    for (size_t i = 0; i < fold->n; i++) {
        held[fold->rows[i]] = true;
    }
    for (size_t c = 0; c < k; c++) {
        present[c] = false;
    }
    for (size_t i = 0; i < data->n_rows; i++) {
        if (!held[i]) {
            present[map[data->label[i]]] = true;
        }
    }
    uint32_t n = 0;
    for (size_t c = 0; c < k; c++) {
        column[c] = present[c] ? n++ : LABELS_UNKNOWN;
    }
    for (size_t i = 0; i < fold->n && n == fold->n_scores; i++) {
        uint32_t own = column[map[data->label[fold->rows[i]]]];
        if (own != LABELS_UNKNOWN) {
            rows->scores[rows->n] = fold->scores + i * fold->n_scores;
            rows->n_scores[rows->n] = n;
            rows->class[rows->n] = map[data->label[fold->rows[i]]];
            rows->count[rows->class[rows->n]]++;
            rows->own[rows->n++] = own;
        }
    }
}

int mc_probability_fit(double *scale, const struct held_out *folds, size_t n_folds,
                       const struct labels *labels, struct error *err) {
    const struct data *data = folds[0].data;
    size_t n = data->n_rows, k = labels->names.n;
    struct rows rows = {.k = k};
    uint32_t *map, *column;
    bool *held, *present;
    void *block = ARRAYS_CREATE("scores", err, ARRAYS(n, const double *, &rows.scores),
                                ARRAYS(n, uint32_t, &rows.n_scores, &rows.own, &rows.class),
                                ARRAYS(k, uint64_t, &rows.count), ARRAYS(k, uint32_t, &column),
                                ARRAYS(k, double, &rows.p), ARRAYS(data->names.n, uint32_t, &map),
                                ARRAYS(n, bool, &held), ARRAYS(k, bool, &present));
    int status = -1;
    if (block) {
        labels_map(labels, &data->names, map);
        for (size_t fold = 0; fold < n_folds; fold++) {
            add_fold(&rows, &folds[fold], labels, map, held, present, column);
        }
        status = rows.n > 0 ? 0
                            : error_set(err, ERROR_RUNTIME,
                                        "no class has two rows: nothing to "
                                        "fit probabilities to");
        *scale = status == 0 ? minimise(&rows) : 1;
    }
    free(block);
    return status;
}
