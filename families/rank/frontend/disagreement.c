/* The agreement of each query with the model and with the other queries, tested by Kendall's S. */
#include "families/rank/frontend/disagreement.h"

#include "common/base/arrays.h"
#include "common/base/order.h"
#include "common/data/duplicates.h"
#include "families/rank/frontend/metrics.h"

#include <math.h>
#include <stdlib.h>

/* A query with fewer rows is not judged; further queries that disagree are only counted. */
enum { MIN_ROWS = 10, MAX_LINES = 5 };

static const double LEVEL = 0.05;

struct row {
    uint64_t query;
    double target, score;
    uint32_t number; /* in the data, then in order of occurrence of equal rows: duplicates_find */
};

struct agreement {
    uint64_t query;
    size_t first, n;          /* its rows */
    double accuracy, n_pairs; /* of rows with different targets; 0: not judged */
    double probability;       /* of as low an accuracy if scores were independent of targets */
    bool disagrees, shared;   /* shared: found by rows that other queries have too */
};

/* The places of equal rows in the queries that have them. By the number of a row. */
struct places {
    double *sum, *count;     /* over all queries that do not disagree */
    double *own, *own_count; /* of these in one query, else 0 */
};

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    int order = order_integers(x->query, y->query);
    return order ? order : order_doubles(x->target, y->target);
}

/* The pairs of n rows, sorted by target, that have different targets. */
static double count_pairs(const struct row *row, size_t n) {
    double pairs = 0;
    for (size_t i = 0, first = 0; i < n; i++) {
        first = row[i].target != row[first].target ? i : first;
        pairs += (double)first;
    }
    return pairs;
}

/* Judges a query of n rows, sorted by target. workspace (2 n). */
static int judge(const struct row *row, size_t n, double *workspace, struct agreement *agreement,
                 struct error *err) {
    static const struct metrics_settings settings = {.min_group = 1, .threshold = (double)NAN};
    double mean[METRICS_CUTS], count[METRICS_CUTS], n_relevant;
    for (size_t i = 0; i < n; i++) {
        workspace[i] = row[i].target;
        workspace[n + i] = row[i].score;
    }
    *agreement = (struct agreement){.query = row->query, .n_pairs = count_pairs(row, n)};
    if (n < MIN_ROWS || agreement->n_pairs == 0) {
        agreement->n_pairs = 0;
        return 0;
    }
    if (metrics_rank(n, workspace, workspace + n, NULL, &settings, mean, count, &n_relevant, err) <
        0) {
        return -1;
    }
    double m = (double)n, variance = m * (m - 1) * (2 * m + 5) / 18;
    agreement->accuracy = mean[METRICS_PAIRWISE];
    double s = (2 * agreement->accuracy - 1) * agreement->n_pairs;
    agreement->probability = erfc(-s / sqrt(2 * variance)) / 2;
    return 0;
}

/* Whether a query disagrees, of those that were judged. */
static bool is_below_chance(const struct agreement *agreement, size_t n_judged) {
    return n_judged > 1 && agreement->n_pairs > 0 &&
           agreement->probability < LEVEL / (double)n_judged;
}

/* Judges all queries by the scores of the model. row (n): sorted by query. Sets *n_queries to
 * their number. */
static int judge_all(const struct row *row, size_t n, double *workspace,
                     struct agreement *agreement, size_t *n_queries, struct error *err) {
    size_t n_judged = 0;
    *n_queries = 0;
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && row[end].query == row[first].query;) {
            end++;
        }
        struct agreement *own = &agreement[(*n_queries)++];
        if (judge(row + first, end - first, workspace, own, err) < 0) {
            return -1;
        }
        own->first = first;
        own->n = end - first;
        n_judged += own->n_pairs > 0;
    }
    for (size_t q = 0; q < *n_queries; q++) {
        agreement[q].disagrees = is_below_chance(&agreement[q], n_judged);
    }
    return 0;
}

/* ---- rows that several queries have ---- */

/* Adds `sign` times the places of a query's rows, from 0 to 1 and equal for equal targets. */
static void add_places(const struct row *row, size_t n, double sign, double *sum, double *count) {
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && row[end].target == row[first].target;) {
            end++;
        }
        for (size_t i = first; i < end; i++) {
            sum[row[i].number] += sign * (double)(first + end) / (2 * (double)n);
            count[row[i].number] += sign;
        }
    }
}

/* Judges a query by its rows that others have, each with its mean place there. shared: room for its
 * rows. */
static int judge_shared(const struct row *row, size_t n, const struct places *places,
                        struct row *shared, double *workspace, struct agreement *agreement,
                        struct error *err) {
    size_t n_shared = 0;
    add_places(row, n, 1, places->own, places->own_count);
    for (size_t i = 0; i < n; i++) {
        uint32_t k = row[i].number;
        double others = places->count[k] - places->own_count[k];
        if (others > 0) {
            shared[n_shared] = row[i];
            shared[n_shared++].score = (places->sum[k] - places->own[k]) / others;
        }
    }
    for (size_t i = 0; i < n; i++) {
        places->own[row[i].number] = places->own_count[row[i].number] = 0;
    }
    return n_shared > 0 ? judge(shared, n_shared, workspace, agreement, err) : 0;
}

/* Finds the query that disagrees most with the others at the rows that they share. *found gets its
 * number, or SIZE_MAX, and *worst what is known of it. */
static int find_worst(const struct row *row, const struct agreement *agreement, size_t n_queries,
                      const struct places *places, struct row *shared, double *workspace,
                      size_t *found, struct agreement *worst, struct error *err) {
    size_t n_judged = 0;
    *worst = (struct agreement){.probability = INFINITY};
    for (size_t q = 0; q < n_queries; q++) {
        const struct agreement *own = &agreement[q];
        struct agreement by_others = {.n_pairs = 0};
        if (!own->disagrees && judge_shared(row + own->first, own->n, places, shared, workspace,
                                            &by_others, err) < 0) {
            return -1;
        }
        n_judged += by_others.n_pairs > 0;
        if (by_others.n_pairs > 0 && by_others.probability < worst->probability) {
            *worst = by_others;
            *found = q;
        }
    }
    if (!is_below_chance(worst, n_judged)) {
        *found = SIZE_MAX;
    }
    return 0;
}

/* Judges the queries by each other. One that disagrees no longer judges those that remain. row (n)
 * gets the numbers of equal rows. */
static int judge_by_others(const struct data *rows, struct row *row, size_t n, double *workspace,
                           struct agreement *agreement, size_t n_queries, struct error *err) {
    uint32_t *equal;
    struct places places;
    struct row *shared;
    void *block =
        ARRAYS_CREATE("queries", err, ARRAYS(n, uint32_t, &equal),
                      ARRAYS(n, double, &places.sum, &places.count, &places.own, &places.own_count),
                      ARRAYS(n, struct row, &shared));
    int status = block ? duplicates_find(rows, NULL, n, equal, err) : -1;
    if (status == 0) {
        size_t found = SIZE_MAX;
        struct agreement worst;
        for (size_t i = 0; i < n; i++) {
            row[i].number = equal[row[i].number];
        }
        for (size_t q = 0; q < n_queries; q++) {
            if (!agreement[q].disagrees) {
                add_places(row + agreement[q].first, agreement[q].n, 1, places.sum, places.count);
            }
        }
        while ((status = find_worst(row, agreement, n_queries, &places, shared, workspace, &found,
                                    &worst, err)) == 0 &&
               found != SIZE_MAX) {
            worst.first = agreement[found].first;
            worst.n = agreement[found].n;
            worst.disagrees = worst.shared = true;
            agreement[found] = worst;
            add_places(row + worst.first, worst.n, -1, places.sum, places.count);
        }
    }
    free(block);
    return status;
}

static void warn(const struct agreement *agreement, size_t n, const struct names *queries,
                 struct progress *progress) {
    size_t found = 0;
    for (size_t q = 0; q < n; q++) {
        char text[DATA_QUERY_TEXT];
        if (agreement[q].disagrees && ++found <= MAX_LINES) {
            progress_warn(
                progress,
                "query %.100s: only %.2f of its %.0f pairs %s order (chance: 0.50), so it "
                "contradicts the other queries: train it apart",
                data_query_text(queries, agreement[q].query, text), agreement[q].accuracy,
                agreement[q].n_pairs,
                agreement[q].shared ? "of rows that other queries have too are in their"
                                    : "are in the model's");
        }
    }
    if (found > MAX_LINES) {
        progress_warn(progress, "%zu more queries likewise (svm-rank-predict --by-query lists all)",
                      found - MAX_LINES);
    }
}

void disagreement_warn(const struct data *rows, const double *scores, struct progress *progress) {
    struct error unused;
    size_t n = rows->query ? rows->n_rows : 0, n_queries;
    struct row *row;
    double *workspace;
    struct agreement *agreement;
    void *block =
        ARRAYS_CREATE("queries", &unused, ARRAYS(n, struct row, &row),
                      ARRAYS(2 * n, double, &workspace), ARRAYS(n, struct agreement, &agreement));
    if (block) {
        for (size_t i = 0; i < n; i++) {
            row[i] = (struct row){rows->query[i], rows->target[i], scores[i], (uint32_t)i};
        }
        qsort(row, n, sizeof *row, compare_rows);
        if (judge_all(row, n, workspace, agreement, &n_queries, &unused) == 0 &&
            judge_by_others(rows, row, n, workspace, agreement, n_queries, &unused) == 0) {
            warn(agreement, n_queries, &rows->queries, progress);
        }
    }
    free(block);
}
