/* RankSVM (doc/mathematics, "rank"): with r the dense ranks of the targets in their query and P the pairs
 * (i, j) of one query with low <= r_i - r_j <= high,
 *   min 1/2 |f|^2 + C sum over P of v l(1 - (s_i - s_j)),
 *   D = sum alpha [- alpha^2 / 4 C v] - 1/2 |A'alpha|^2,  0 <= alpha [<= C v].
 * The proof has alpha by points: scores t of the rows, a weight and a smoothing mu each, alpha = C v sum
 * of weight a, with a = clip(u / mu, 0, 1), at mu = 0 the step at u = 0, or 2 max(0, u) with the square, u
 * = 1 - (t_i - t_j). Whatever a comes out is feasible: it is taken for exact. Without points the proof
 * has alpha pair by pair. */
#include "check/loss.h"
#include "check/task.h"
#include "common/base/memory.h"
#include "common/base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row {
    uint64_t query;
    double target;
    uint32_t number, level; /* of the row, and of its target in the query */
};

struct point {
    struct ball weight;
    double smoothing;
    const double *t; /* (n) */
};

struct rank {
    struct task *task;
    size_t n;
    struct row *row; /* (n) by query and target */
    double low, high;
    struct point *point;
    size_t n_points;
    double *t;            /* (points, n) */
    struct ball_sum *sum; /* (n) work, by place in row */
    struct ball *cost;    /* (n) C v of each row's query */
    uint32_t *place;      /* (n) of each row in `row` */
    struct ball linear;
};

/* ---- the problem ---- */

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    return x->query != y->query     ? (x->query < y->query ? -1 : 1)
           : x->target != y->target ? (x->target < y->target ? -1 : 1)
                                    : (x->number > y->number) - (x->number < y->number);
}

static void sort_rows(struct rank *rank) {
    const struct data *data = &rank->task->data;
    for (size_t i = 0; i < rank->n; i++) {
        rank->row[i] =
            (struct row){data->query ? data->query[i] : 0, data->target[i], (uint32_t)i, 0};
    }
    qsort(rank->row, rank->n, sizeof *rank->row, compare_rows);
    for (size_t i = 1; i < rank->n; i++) {
        const struct row *before = &rank->row[i - 1];
        if (rank->row[i].query == before->query) {
            rank->row[i].level = before->level + (rank->row[i].target != before->target ? 1 : 0);
        }
    }
}

/* The end of the query that begins at place `first`. */
static size_t end_of(const struct rank *rank, size_t first) {
    size_t end = first;
    while (end < rank->n && rank->row[end].query == rank->row[first].query) {
        end++;
    }
    return end;
}

/* Whether the row at place a is preferred to that at place b. */
static inline bool preferred(const struct rank *rank, size_t a, size_t b) {
    double gap = (double)rank->row[a].level - (double)rank->row[b].level;
    return gap >= rank->low && gap <= rank->high;
}

static double count_pairs(const struct rank *rank, size_t first, size_t end) {
    double n = 0;
    for (size_t a = first; a < end; a++) {
        for (size_t b = first; b < a; b++) {
            n += preferred(rank, a, b) ? 1 : 0;
        }
    }
    return n;
}

/* LOW:HIGH; HIGH may be inf. */
static int read_window(struct rank *rank, struct error *err) {
    const char *text = task_text(rank->task, "rank-gap"), *end = text ? text + strlen(text) : NULL;
    rank->low = 1;
    rank->high = INFINITY;
    if (!text) {
        return 0;
    }
    const char *at = number_parse(text, end, &rank->low);
    at = at && *at == ':' ? at + 1 : NULL;
    bool open = at && strcmp(at, "inf") == 0;
    at = open || !at ? at : number_parse(at, end, &rank->high);
    if (!at || (!open && at != end) || !(rank->low >= 1)) {
        return error_set(err, ERROR_RUNTIME, "not a window of ranks: '%.100s'", text);
    }
    return 0;
}

/* C v of a query. */
static int query_cost(const struct rank *rank, size_t first, double pairs, struct ball *cost,
                      struct error *err) {
    const struct task *task = rank->task;
    double weight = 1;
    for (size_t e = 0; e < task->proof.n_entries; e++) {
        const struct model_entry *entry = &task->proof.entry[e];
        size_t length = 0;
        uint64_t query;
        double own;
        if (strcmp(entry->key, "weight") != 0) {
            continue;
        }
        if (task_split(entry->value, &length, &own, err) < 0) {
            return -1;
        }
        const char *end = entry->value + length;
        if (number_parse_unsigned(entry->value, end, &query) != end) {
            return error_set(err, ERROR_RUNTIME, "not a query: '%.100s'", entry->value);
        }
        weight = query == rank->row[first].query ? own : weight;
    }
    *cost = ball_multiply(ball_of(task->model.cost), ball_of(weight));
    if (task_text(task, "cost-per") && pairs > 0) {
        *cost = ball_divide(*cost, ball_of(pairs));
    }
    return 0;
}

/* ---- points ---- */

static int read_points(struct rank *rank, struct error *err) {
    const struct proof *proof = &rank->task->proof;
    struct ball total = ball_of(0), factor = ball_of(1);
    for (size_t e = 0; e < proof->n_entries; e++) {
        rank->n_points += strcmp(proof->entry[e].key, "point") == 0;
    }
    rank->point = memory_array(rank->n_points, sizeof *rank->point, "points", err);
    rank->t = memory_zeros(rank->n_points, rank->n * sizeof *rank->t, "points", err);
    if (!rank->point || !rank->t) {
        return -1;
    }
    for (size_t e = 0, t = 0; e < proof->n_entries; e++) {
        size_t length;
        double weight = 0, smoothing;
        const char *text = proof->entry[e].value;
        if (strcmp(proof->entry[e].key, "point") != 0) {
            continue;
        }
        if (task_split(text, &length, &smoothing, err) < 0) {
            return -1;
        }
        bool number = number_parse(text, text + length, &weight) == text + length;
        if (!number || !(weight >= 0) || (rank->task->squared && smoothing != 0)) {
            return error_set(err, ERROR_RUNTIME, "not a point: '%.100s'", text);
        }
        total = ball_add(total, ball_of(weight));
        rank->point[t] = (struct point){ball_of(weight), smoothing, rank->t + t * rank->n};
        t++;
    }
    if (!ball_at_most(total, ball_of(1))) {
        struct ball most = total;
        if (!loss_clip(ball_of(1), &most)) {
            task_wrong(rank->task, "the dual point is not feasible: weights sum to %.17g",
                       total.m.hi);
        }
        factor = ball_divide(most, total);
    }
    for (size_t t = 0; t < rank->n_points; t++) {
        rank->point[t].weight = ball_multiply(rank->point[t].weight, factor);
    }
    for (size_t e = 0; e < proof->n_values && rank->n_points > 0; e++) {
        struct proof_value value = proof->value[e];
        if (value.a > rank->n_points || value.b > 0) {
            return error_set(err, ERROR_RUNTIME, "there is no point %zu", (size_t)value.a);
        }
        rank->t[(value.a - 1) * rank->n + value.row] = value.value;
    }
    return 0;
}

/* a of a pair, taken for exact. */
static inline struct dd slope(bool squared, double mu, double better, double worse) {
    const struct dd one = {1, 0}, zero = {0, 0};
    struct dd u = dd_add(one, dd_two_sum(worse, -better));
    if (!(u.hi > 0)) {
        return zero;
    }
    if (squared) {
        return (struct dd){2 * u.hi, 2 * u.lo};
    }
    struct dd a = mu > 0 ? dd_divide(u, (struct dd){mu, 0}) : one;
    return a.hi >= 1 ? one : a;
}

/* Adds a point's part of alpha in a query to g and the linear part. */
static void add_point(struct rank *rank, const struct point *point, size_t first, size_t end,
                      struct ball cost, struct function *g) {
    const struct row *row = rank->row;
    bool squared = rank->task->squared;
    struct ball_sum linear = {{0, 0}, 0, 0, 0};
    struct ball scale = ball_multiply(cost, point->weight);
    memset(rank->sum + first, 0, (end - first) * sizeof *rank->sum);
    for (size_t a = first; a < end; a++) {
        for (size_t b = first; b < a && row[b].level < row[a].level; b++) {
            if (!preferred(rank, a, b)) {
                continue;
            }
            struct dd own =
                slope(squared, point->smoothing, point->t[row[a].number], point->t[row[b].number]);
            if (own.hi > 0) {
                ball_sum_add(&rank->sum[a], own);
                ball_sum_add(&rank->sum[b], dd_negative(own));
                ball_sum_add(&linear, own);
                if (squared) {
                    struct dd square = dd_multiply(own, own);
                    ball_sum_add(&linear, (struct dd){-square.hi / 4, -square.lo / 4});
                }
            }
        }
    }
    for (size_t a = first; a < end; a++) {
        struct ball *to = &g->coefficients[row[a].number];
        *to = ball_add(*to, ball_multiply(scale, ball_sum_end(&rank->sum[a])));
    }
    rank->linear = ball_add(rank->linear, ball_multiply(scale, ball_sum_end(&linear)));
}

/* alpha of pairs, where there are no points: each within a query's bounds. */
static int add_pairs(struct rank *rank, struct function *g, struct error *err) {
    const struct proof *proof = &rank->task->proof;
    bool squared = rank->task->squared;
    for (size_t e = 0; e < proof->n_values && rank->n_points == 0; e++) {
        struct proof_value value = proof->value[e];
        size_t other = value.a - (size_t)1, a, b;
        if (other >= rank->n || value.b > 0) {
            return error_set(err, ERROR_RUNTIME, "there is no row %zu", (size_t)value.a);
        }
        a = rank->place[value.row];
        b = rank->place[other];
        struct ball alpha = ball_of(value.value), most = rank->cost[value.row];
        if (rank->row[a].query != rank->row[b].query || !preferred(rank, a, b) || value.value < 0 ||
            (!squared && !loss_clip(most, &alpha))) {
            task_wrong(rank->task, "the dual point is not feasible: row %zu",
                       (size_t)value.row + 1);
            return 0;
        }
        struct ball *better = &g->coefficients[value.row], *worse = &g->coefficients[other];
        *better = ball_add(*better, alpha);
        *worse = ball_subtract(*worse, alpha);
        rank->linear = ball_add(rank->linear, loss_linear(squared, most, alpha));
    }
    return 0;
}

/* ---- all ---- */

static struct ball query_loss(const struct rank *rank, size_t first, size_t end,
                              const struct ball *s) {
    const struct row *row = rank->row;
    const struct ball one = ball_of(1);
    struct ball sum = ball_of(0);
    for (size_t a = first; a < end; a++) {
        for (size_t b = first; b < a && row[b].level < row[a].level; b++) {
            if (preferred(rank, a, b)) {
                struct ball margin = ball_subtract(s[row[a].number], s[row[b].number]);
                sum = ball_add(sum, loss_of(rank->task->squared, ball_subtract(one, margin)));
            }
        }
    }
    return sum;
}

static int find_bounds(struct rank *rank, struct function *f, struct function *g,
                       struct error *err) {
    struct findings *findings = rank->task->findings;
    for (int pass = 0; pass < 2; pass++) { /* the dual point, and the loss when scores are known */
        for (size_t first = 0, end; first < rank->n; first = end) {
            struct ball cost;
            end = end_of(rank, first);
            double pairs = count_pairs(rank, first, end);
            if (query_cost(rank, first, pairs, &cost, err) < 0) {
                return -1;
            }
            for (size_t t = 0; pass == 0 && t < rank->n_points; t++) {
                add_point(rank, &rank->point[t], first, end, cost, g);
            }
            if (pass == 0) {
                struct ball all = ball_multiply(cost, ball_of(pairs));
                findings->nothing = ball_add(findings->nothing, all);
                for (size_t a = first; a < end; a++) {
                    rank->cost[rank->row[a].number] = cost;
                    rank->place[rank->row[a].number] = (uint32_t)a;
                }
            } else {
                task_add_loss(rank->task,
                              ball_multiply(cost, query_loss(rank, first, end, f->scores)));
            }
        }
        if (pass == 0 && add_pairs(rank, g, err) < 0) {
            return -1;
        }
        if (findings->wrong[0]) {
            return 0;
        }
        if (pass == 0 && task_evaluate(rank->task, f, g, rank->linear, false, err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int check(struct task *task, struct error *err) {
    struct rank rank = {.task = task, .n = task->data.n_rows, .linear = ball_of(0)};
    struct function f = {0}, g = {0};
    const char *unit = task_text(task, "cost-per");
    if (strcmp(task->model.formulation, "rank") != 0 || task->model.pairs ||
        task->model.n_outputs != 1) {
        return error_set(err, ERROR_RUNTIME, "not a model of rank with a proof");
    }
    if (unit && strcmp(unit, "query") != 0) {
        return error_set(err, ERROR_RUNTIME, "not a unit of the cost: '%.100s'", unit);
    }
    rank.row = memory_array(rank.n, sizeof *rank.row, "rows", err);
    rank.sum = memory_array(rank.n, sizeof *rank.sum, "rows", err);
    rank.cost = memory_array(rank.n, sizeof *rank.cost, "rows", err);
    rank.place = memory_array(rank.n, sizeof *rank.place, "rows", err);
    int status = rank.row && rank.sum && rank.cost && rank.place ? read_window(&rank, err) : -1;
    if (status == 0) {
        sort_rows(&rank);
        status = read_points(&rank, err);
    }
    if (status == 0 && !task->findings->wrong[0]) {
        status = function_of_model(&f, &task->model, &task->points, 0, err) < 0 ||
                         function_create(&g, &task->points, 1, err) < 0
                     ? -1
                     : find_bounds(&rank, &f, &g, err);
    }
    function_free(&f);
    function_free(&g);
    free(rank.row);
    free(rank.sum);
    free(rank.cost);
    free(rank.place);
    free(rank.point);
    free(rank.t);
    return status;
}

static const char *const model_keys[] = {"groups", "pairs", "pair-features", "probability-slope",
                                         NULL};
static const char *const proof_keys[] = {"rank-gap", "cost-per", NULL};

const struct check_family check_rank = {.name = "rank",
                                        .labels = DATA_NUMBER,
                                        .model_keys = model_keys,
                                        .proof_keys = proof_keys,
                                        .check = check};
