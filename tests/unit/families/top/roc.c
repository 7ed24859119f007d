/* Measures of two classes against their definitions: over all pairs, all orders of equal scores,
 * and cases worked by hand. */
#include "families/top/roc.h"
#include "common/base/random.h"
#include "tests/unit/compute.h"

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* By hand: scores 5+ 4- 3+ 3- 2+ 1-. */
static void check_by_hand(void) {
    const double score[] = {1, 3, 5, 2, 4, 3};
    const bool positive[] = {false, true, true, true, false, false};
    struct roc roc;
    struct error err;
    CHECK(roc_create(&roc, score, positive, 6, &err) == 0, "%s", err.text);
    CHECK(roc.n_positive == 3 && roc.n_negative == 3 && roc.n_steps == 5, "%zu %zu %zu",
          roc.n_positive, roc.n_negative, roc.n_steps);
    /* of 9 pairs: 5 beats 3, 3 beats 1 and ties 3, 2 beats 1: 3 + 1.5 + 1 */
    CHECK(fabs(roc_auc(&roc) - 5.5 / 9) < 1e-15, "auc %g", roc_auc(&roc));
    CHECK(roc_tpr_at_count(&roc, 1) == 1 / 3., "tpr@1 %g", roc_tpr_at_count(&roc, 1));
    CHECK(roc_tpr_at_count(&roc, 2) == 1 / 3., "tpr@2: 3.5"); /* (4 + 3) / 2 */
    CHECK(roc_tpr_at_count(&roc, 3) == 2 / 3., "tpr@3: 8/3");
    CHECK(isnan(roc_tpr_at_count(&roc, 4)), "there are three negatives");
    CHECK(roc_tpr_at_rate(&roc, 0.2) == 1 / 3., "over 4");
    CHECK(roc_tpr_at_rate(&roc, 0.34) == 1 / 3., "over the second negative, 3");
    CHECK(roc_tpr_at_rate(&roc, 0.67) == 1, "over the third negative, 1");
    CHECK(roc_tpr_at_rate(&roc, 1 / 3.) == 1 / 3., "a third of three is one");
    CHECK(roc_positives_at_top(&roc) == 1 / 3., "pos@top");
    CHECK(roc_precision(&roc, 1) == 1 && roc_precision(&roc, 2) == 0.5, "precision@1, 2");
    CHECK(roc_precision(&roc, 3) == 0.5 && roc_precision(&roc, 4) == 0.5, "precision@3, 4");
    /* up to fpr 1/3: 1/3 high; then the tie's slope */
    CHECK(fabs(roc_partial_auc(&roc, 1 / 3.) - 1 / 3.) < 1e-15, "pauc");
    CHECK(fabs(roc_partial_auc(&roc, 0.5) - (1 / 9. + (1 / 3. + 1 / 2.) / 2 / 6) / 0.5) < 1e-15,
          "pauc@0.5 %g", roc_partial_auc(&roc, 0.5));
    CHECK(fabs(roc_mcclish(&roc, 1) - roc_auc(&roc)) < 1e-15, "mcclish@1");
    roc_free(&roc);

    const double perfect[] = {2, 1};
    const bool classes[] = {true, false};
    CHECK(roc_create(&roc, perfect, classes, 2, &err) == 0, "%s", err.text);
    CHECK(roc_mcclish(&roc, 0.1) == 1 && roc_partial_auc(&roc, 0.1) == 1 && roc_auc(&roc) == 1,
          "a perfect curve");
    roc_free(&roc);
    const double equal[] = {1, 1};
    CHECK(roc_create(&roc, equal, classes, 2, &err) == 0, "%s", err.text);
    CHECK(fabs(roc_mcclish(&roc, 0.1) - 0.5) < 1e-15 && roc_auc(&roc) == 0.5, "the diagonal");
    roc_free(&roc);
    const double broken[] = {1, (double)NAN};
    CHECK(roc_create(&roc, broken, classes, 2, &err) < 0, "a score is no number");
    const bool none[] = {false, false};
    CHECK(roc_create(&roc, perfect, none, 2, &err) == 0, "%s", err.text);
    CHECK(isnan(roc_auc(&roc)) && isnan(roc_average_precision(&roc)) &&
              isnan(roc_positives_at_top(&roc)),
          "nothing to measure");
    roc_free(&roc);
    printf("ok: cases by hand\n");
}

/* Average precision and precision@k of one order. */
static void in_order(const bool *positive, size_t n, size_t k, double *ap, double *precision) {
    double found = 0, sum = 0, all = 0;
    *precision = 0;
    for (size_t i = 0; i < n; i++) {
        found += positive[i];
        all += positive[i];
        sum += positive[i] ? found / (double)(i + 1) : 0;
        *precision += i < k && positive[i] ? 1 / (double)k : 0;
    }
    *ap = sum / all;
}

static void check_random(void) {
    struct random random;
    random_start(&random, 3, 0);
    for (int round = 0; round < 300; round++) {
        enum { MOST = 14, ORDERS = 4000 };
        size_t n = 2 + (size_t)random_below(&random, MOST - 1);
        double score[MOST], negative[MOST], pairs = 0;
        bool positive[MOST];
        size_t n_negative = 0;
        for (size_t i = 0; i < n; i++) {
            score[i] = (double)random_below(&random, 6);
            positive[i] = i == 0 || (i > 1 && random_below(&random, 2));
            if (!positive[i]) {
                negative[n_negative++] = score[i];
            }
        }
        qsort(negative, n_negative, sizeof negative[0], descending);
        struct roc roc;
        struct error err;
        CHECK(roc_create(&roc, score, positive, n, &err) == 0, "%s", err.text);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                if (positive[i] && !positive[j]) {
                    pairs += score[i] > score[j] ? 1 : score[i] == score[j] ? 0.5 : 0;
                }
            }
        }
        double auc = pairs / (double)(roc.n_positive * roc.n_negative);
        CHECK(fabs(auc - roc_auc(&roc)) < 1e-14, "auc %g, not %g", roc_auc(&roc), auc);
        /* the partial area grows to the whole */
        double fpr = random_unit(&random), area = 0;
        enum { CELLS = 2000 };
        for (int c = 0; c < CELLS; c++) { /* height over the middle of each cell */
            double x = fpr * (c + 0.5) / CELLS * (double)n_negative, height = 0;
            for (size_t s = 0; s < roc.n_steps; s++) {
                const struct roc_step *step = &roc.step[s];
                double share = step->negatives
                                   ? fmin(1, fmax(0, (x - (double)step->negatives_above) /
                                                         (double)step->negatives))
                                   : x >= (double)step->negatives_above;
                height += share * (double)step->positives;
            }
            area += height / (double)roc.n_positive / CELLS;
        }
        CHECK(fabs(area - roc_partial_auc(&roc, fpr)) < 2e-3, "pauc@%g %g, not %g", fpr,
              roc_partial_auc(&roc, fpr), area);
        for (size_t k = 1; k <= n_negative; k++) {
            double mean = 0, above = 0, over = 0;
            for (size_t i = 0; i < k; i++) {
                mean += negative[i] / (double)k;
            }
            for (size_t i = 0; i < n; i++) {
                above += positive[i] && score[i] > mean + 1e-12;
                over += positive[i] && score[i] > negative[k - 1];
            }
            CHECK(fabs(roc_tpr_at_count(&roc, k) - above / (double)roc.n_positive) < 1e-15,
                  "tpr@k");
            double tau = ((double)k - 0.5) / (double)n_negative;
            CHECK(fabs(roc_tpr_at_rate(&roc, tau) - over / (double)roc.n_positive) < 1e-15,
                  "tpr@tau");
        }
        /* averages over random orders of equal scores */
        size_t k = 1 + (size_t)random_below(&random, n);
        double ap = 0, precision = 0;
        for (int o = 0; o < ORDERS; o++) {
            uint32_t order[MOST];
            bool sorted[MOST];
            size_t at = 0;
            for (uint32_t i = 0; i < n; i++) {
                order[i] = i;
            }
            random_shuffle(&random, order, n);
            for (int s = 5; s >= 0; s--) {
                for (size_t i = 0; i < n; i++) {
                    if (score[order[i]] == s) {
                        sorted[at++] = positive[order[i]];
                    }
                }
            }
            double one_ap, one_precision;
            in_order(sorted, n, k, &one_ap, &one_precision);
            ap += one_ap / ORDERS;
            precision += one_precision / ORDERS;
        }
        CHECK(fabs(ap - roc_average_precision(&roc)) < 0.03, "ap %g, not %g",
              roc_average_precision(&roc), ap);
        CHECK(fabs(precision - roc_precision(&roc, k)) < 0.03, "precision@%zu %g, not %g", k,
              roc_precision(&roc, k), precision);
        roc_free(&roc);
    }
    printf("ok: random rows with ties\n");
}

int main(void) {
    check_by_hand();
    check_random();
    return 0;
}
