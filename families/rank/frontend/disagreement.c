/* The agreement of each query with the model, tested by Kendall's S. */
#include "families/rank/frontend/disagreement.h"

#include "common/base/memory.h"
#include "families/rank/frontend/metrics.h"

#include <math.h>
#include <stdlib.h>

/* A query with fewer rows is not judged; further queries that disagree are only counted. */
enum { MIN_ROWS = 10, MAX_LINES = 5 };

static const double LEVEL = 0.05;

struct row {
    uint64_t query;
    double target, score;
};

struct agreement {
    uint64_t query;
    double accuracy, n_pairs; /* of rows with different targets; 0: not judged */
    double probability;       /* of as low an accuracy if scores were independent of targets */
};

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->query != y->query) {
        return x->query < y->query ? -1 : 1;
    }
    return (x->target > y->target) - (x->target < y->target);
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

/* Judges all queries. row (n): sorted by query. Sets *n_queries to their number. */
static int judge_all(const struct row *row, size_t n, double *workspace,
                     struct agreement *agreement, size_t *n_queries, struct error *err) {
    *n_queries = 0;
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && row[end].query == row[first].query;) {
            end++;
        }
        if (judge(row + first, end - first, workspace, &agreement[(*n_queries)++], err) < 0) {
            return -1;
        }
    }
    return 0;
}

static void warn(const struct agreement *agreement, size_t n, const struct names *queries,
                 struct progress *progress) {
    size_t judged = 0, found = 0;
    for (size_t q = 0; q < n; q++) {
        judged += agreement[q].n_pairs > 0;
    }
    for (size_t q = 0; q < n && judged > 1; q++) {
        char text[DATA_QUERY_TEXT];
        bool disagrees =
            agreement[q].n_pairs > 0 && agreement[q].probability < LEVEL / (double)judged;
        if (disagrees && ++found <= MAX_LINES) {
            progress_warn(
                progress,
                "query %.100s: only %.2f of its %.0f pairs are in the model's order (chance: "
                "0.50), so it contradicts the other queries: train it apart",
                data_query_text(queries, agreement[q].query, text), agreement[q].accuracy,
                agreement[q].n_pairs);
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
    struct row *row = memory_array(n, sizeof *row, "queries", &unused);
    double *workspace = memory_array(n, 2 * sizeof *workspace, "queries", &unused);
    struct agreement *agreement = memory_array(n, sizeof *agreement, "queries", &unused);
    if (row && workspace && agreement) {
        for (size_t i = 0; i < n; i++) {
            row[i] = (struct row){rows->query[i], rows->target[i], scores[i]};
        }
        qsort(row, n, sizeof *row, compare_rows);
        if (judge_all(row, n, workspace, agreement, &n_queries, &unused) == 0) {
            warn(agreement, n_queries, &rows->queries, progress);
        }
    }
    free(row);
    free(workspace);
    free(agreement);
}
