/* RankSVM (doc/mathematics, "rank"): with r the dense ranks of the targets in their query and P the
 * pairs (i, j) of one query with low <= r_i - r_j <= high,
 *
 *   min 1/2 |f|^2 + C sum over P of v l(1 - (s_i - s_j)),
 *   D = sum alpha [- alpha^2 / 4 C v] - 1/2 |A'alpha|^2,  0 <= alpha [<= C v],
 *
 * v the weight of the query or, with a cost per ndcg or gain, times the weight of the pair
 * (check/preferences.h). The proof has alpha as a combination of points: scores t of the rows, a
 * weight and a smoothing parameter mu each, with alpha = C v sum of weight a, a = clip(u / mu, 0,
 * 1), at mu = 0 the step at u = 0, or 2 max(0, u) for the squared hinge, u = 1 - (t_i - t_j). Every
 * such a is feasible, so it is taken as exact. Without points the proof has alpha pair by pair.
 * Cost: n^2 pairs for each point. */
#include "check/loss.h"
#include "check/pair_function.h"
#include "check/preferences.h"
#include "check/task.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct point {
    struct ball weight;
    double smoothing;
    const double *t; /* (n) */
};

struct rank {
    struct task *task;
    size_t n;
    struct preferences preferences;
    struct point *point;
    size_t n_points;
    double excess;        /* excess of the sum of the weights of the points over 1 */
    double *t;            /* (points, n) */
    struct ball_sum *sum; /* (n) work space, by position */
    struct ball *cost;    /* (n) C v of the query of each row, for pairs of weight 1 */
    struct ball linear;
    struct ball *loss; /* (n) loss of each row, if features are of pairs */
    /* likewise: (n_pairs) alpha of pairs, (model.n_pairs) the coefficients of the model */
    struct point_pair *pair, *own;
    size_t n_pairs;
};

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
        if (!task_within(rank->task, total, ball_of(1))) {
            task_wrong(rank->task, "the dual point is not feasible: weights sum to %.17g",
                       total.m.hi);
        }
        factor = ball_divide(ball_minimum(total, ball_of(1)), total);
        rank->excess = ball_magnitude(ball_subtract(total, ball_of(1)));
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

/* a of a pair, taken as exact. The step function uses the margin in double, as the trainer does:
 * both of its values are feasible. */
static inline struct dd slope(bool squared, double mu, double better, double worse) {
    const struct dd one = {1, 0}, zero = {0, 0};
    if (!squared && !(mu > 0)) {
        return better - worse < 1 ? one : zero;
    }
    struct dd u = dd_add(one, dd_two_sum(worse, -better));
    if (!(u.hi > 0)) {
        return zero;
    }
    if (squared) {
        return (struct dd){2 * u.hi, 2 * u.lo};
    }
    struct dd a = dd_divide(u, (struct dd){mu, 0});
    return a.hi >= 1 ? one : a;
}

/* Adds the contribution of a pair, times its weight. */
static void add_weighted(const struct rank *rank, size_t a, size_t b, struct dd slope,
                         struct ball weight, struct ball_sum *linear) {
    struct ball own = {slope, 0};
    ball_sum_product(&rank->sum[a], own, weight);
    ball_sum_product(&rank->sum[b], ball_negative(own), weight);
    ball_sum_product(linear, own, weight);
    if (rank->task->squared) {
        struct dd square = dd_multiply(slope, slope);
        ball_sum_product(linear, (struct ball){{-square.hi / 4, -square.lo / 4}, 0}, weight);
    }
}

/* Adds the contribution of a point in a query to g and to the linear part of the dual. */
static void add_point(struct rank *rank, const struct point *point, size_t first, size_t end,
                      struct ball cost) {
    const struct preference_row *row = rank->preferences.row;
    bool squared = rank->task->squared;
    struct ball_sum linear = {{0, 0}, 0, 0};
    double size = 0, largest = 0; /* sums and maximum of a, times the weights of pairs */
    struct ball scale = ball_multiply(cost, point->weight);
    memset(rank->sum + first, 0, (end - first) * sizeof *rank->sum);
    for (size_t a = first; a < end; a++) {
        for (size_t b = first; b < a && row[b].level < row[a].level; b++) {
            if (!preferences_has(&rank->preferences, a, b)) {
                continue;
            }
            struct dd own =
                slope(squared, point->smoothing, point->t[row[a].number], point->t[row[b].number]);
            struct ball weight = preferences_weight(&rank->preferences, a, b);
            size += own.hi * ball_magnitude(weight);
            largest = fmax(largest, own.hi);
            if (own.hi > 0 && rank->preferences.gain) {
                add_weighted(rank, a, b, own, weight, &linear);
            } else if (own.hi > 0) {
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
    struct findings *findings = rank->task->findings;
    findings->moved += rank->excess * ball_magnitude(scale) * size * BALL_UP;
    findings->ratio = squared ? fmax(findings->ratio, largest) : 0;
    for (size_t a = first; a < end; a++) {
        struct ball *to = &rank->task->g.coefficients[row[a].number];
        *to = ball_add(*to, ball_multiply(scale, ball_sum_end(&rank->sum[a])));
    }
    rank->linear = ball_add(rank->linear, ball_multiply(scale, ball_sum_end(&linear)));
}

/* True if row i is preferred to row k. */
static bool is_preferred(const struct rank *rank, size_t i, size_t k) {
    const struct preferences *preferences = &rank->preferences;
    size_t a = preferences->place[i], b = preferences->place[k];
    return b < a && preferences->row[a].query == preferences->row[b].query &&
           preferences_has(preferences, a, b);
}

/* The weight of the pair of rows i and k. */
static struct ball weight_of(const struct rank *rank, size_t i, size_t k) {
    const struct preferences *preferences = &rank->preferences;
    return preferences_weight(preferences, preferences->place[i], preferences->place[k]);
}

/* Adds alpha of pairs, if there are no points: each within the bounds of its query. */
static int add_pairs(struct rank *rank, struct error *err) {
    const struct proof *proof = &rank->task->proof;
    bool squared = rank->task->squared;
    for (size_t e = 0; e < proof->n_values && rank->n_points == 0; e++) {
        struct proof_value value = proof->value[e];
        size_t other = value.a - (size_t)1;
        if (other >= rank->n || value.b > 0) {
            return error_set(err, ERROR_RUNTIME, "there is no row %zu", (size_t)value.a);
        }
        struct ball alpha = task_scaled(rank->task, value.value), bound = ball_of(0);
        bool preferred = is_preferred(rank, value.row, other);
        if (preferred) {
            bound = ball_multiply(rank->cost[value.row], weight_of(rank, value.row, other));
        }
        if (!preferred || value.value < 0 || (!squared && !task_clip(rank->task, bound, &alpha))) {
            task_wrong(rank->task, "the dual point is not feasible: row %zu",
                       (size_t)value.row + 1);
            return 0;
        }
        rank->linear = ball_add(rank->linear, task_linear(rank->task, bound, alpha));
        if (rank->task->model.pairs) {
            rank->pair[rank->n_pairs++] = (struct point_pair){value.row, (uint32_t)other, alpha};
            continue;
        }
        struct ball *g = rank->task->g.coefficients, *better = &g[value.row], *worse = &g[other];
        *better = ball_add(*better, alpha);
        *worse = ball_subtract(*worse, alpha);
    }
    return 0;
}

/* Computes the costs, the primal of f = 0, and the dual point. */
static int read_dual(struct rank *rank, struct error *err) {
    const struct preferences *preferences = &rank->preferences;
    struct findings *findings = rank->task->findings;
    double all = 0;
    for (size_t first = 0, end; first < rank->n; first = end) {
        struct ball cost;
        end = preferences_end(preferences, first);
        double pairs = preferences_count(preferences, first, end);
        if (preferences_cost(preferences, first, pairs, &cost, err) < 0) {
            return -1;
        }
        for (size_t t = 0; t < rank->n_points; t++) {
            add_point(rank, &rank->point[t], first, end, cost);
        }
        for (size_t a = first; a < end; a++) {
            rank->cost[preferences->row[a].number] = cost;
        }
        struct ball total = preferences_total(preferences, first, end, pairs);
        findings->zero_primal = ball_add(findings->zero_primal, ball_multiply(cost, total));
        all += pairs;
    }
    double claimed;
    if (task_model_number(rank->task, "pairs", all, &claimed, err) < 0) {
        return -1;
    }
    if (claimed != all) {
        task_wrong(rank->task, "the model is of %.17g preferences, and there are %.17g", claimed,
                   all);
    }
    return add_pairs(rank, err);
}

/* ---- functions of rows ---- */

/* A loss times the weight of the pair at these positions. */
static struct ball weighted_loss(const struct rank *rank, size_t a, size_t b, struct ball loss) {
    return rank->preferences.gain
               ? ball_multiply(loss, preferences_weight(&rank->preferences, a, b))
               : loss;
}

static struct ball query_loss(const struct rank *rank, size_t first, size_t end,
                              const struct ball *s) {
    const struct preference_row *row = rank->preferences.row;
    const struct ball one = ball_of(1);
    struct ball sum = ball_of(0);
    for (size_t a = first; a < end; a++) {
        for (size_t b = first; b < a && row[b].level < row[a].level; b++) {
            if (preferences_has(&rank->preferences, a, b)) {
                struct ball margin = ball_subtract(s[row[a].number], s[row[b].number]);
                struct ball loss = loss_of(rank->task->squared, ball_subtract(one, margin));
                sum = ball_add(sum, weighted_loss(rank, a, b, loss));
            }
        }
    }
    return ball_multiply(rank->cost[row[first].number], sum);
}

static int check_rows(struct rank *rank, struct error *err) {
    struct task *task = rank->task;
    int status = task_functions(task, 0, err) < 0 ? -1 : read_dual(rank, err);
    if (status == 0 && !task->findings->wrong[0]) {
        status = task_evaluate(task, rank->linear, false, err);
        for (size_t first = 0, end; status == 0 && first < rank->n; first = end) {
            end = preferences_end(&rank->preferences, first);
            task_add_loss(task, query_loss(rank, first, end, task->f.scores));
        }
    }
    return status;
}

/* ---- functions of pairs ---- */

static bool wants_margin(void *context, size_t i, size_t p) {
    const struct rank *rank = context;
    return p < rank->n && is_preferred(rank, i, p);
}

static void add_margins(void *context, size_t i, const struct ball *F) {
    const struct rank *rank = context;
    struct ball sum = ball_of(0);
    for (size_t k = 0; k < rank->n; k++) {
        if (is_preferred(rank, i, k)) {
            struct ball u = ball_subtract(ball_of(1), F[k]);
            size_t a = rank->preferences.place[i], b = rank->preferences.place[k];
            sum = ball_add(sum, weighted_loss(rank, a, b, loss_of(rank->task->squared, u)));
        }
    }
    rank->loss[i] = ball_multiply(rank->cost[i], sum);
}

/* The function of the model and that of the dual point. */
struct pair_functions {
    struct pair_kernel kernel;
    struct point_pair *pair[2]; /* (n_pairs) */
    size_t n_pairs[2];
    struct ball norm[2];
    struct ball *slope[2]; /* (n_all) see pair_function_evaluate; NULL: no shift is needed */
    double *shift;         /* (n_all) the shift, 0 at first; NULL likewise */
};

/* The change of the bounds by a shift at each point: its derivative, and the second-order term for
 * the largest shift of the other point of a pair. */
static void count_costs(const struct pair_functions *functions, double *cost) {
    const struct points *points = functions->kernel.points;
    double max_shift = definite_largest_shift(points);
    for (size_t p = 0; p < points->n_all; p++) {
        cost[p] = ball_magnitude(functions->slope[0][p]) + ball_magnitude(functions->slope[1][p]);
    }
    max_shift = ldexp(max_shift, points->half_unit);
    for (size_t which = 0; which < 2; which++) {
        for (size_t i = 0; i < functions->n_pairs[which]; i++) {
            struct point_pair pair = functions->pair[which][i];
            double square = ball_magnitude(ball_multiply(pair.b, pair.b)) * max_shift;
            cost[pair.p] += square;
            cost[pair.q] += square;
        }
    }
}

/* The shifts of all points: 0 for a point that equals an earlier one, and for one that needs none.
 */
static int find_shifts(struct task *task, struct pair_functions *functions, struct error *err) {
    const struct points *points = &task->points;
    size_t n = points->n_all;
    struct definite definite = {0};
    double *all;
    void *block =
        ARRAYS_CREATE("points", err, ARRAYS(n, uint32_t, &definite.point),
                      ARRAYS(n, double, &definite.copies, &definite.cost, &definite.shift, &all));
    int status = -1;
    if (block) {
        count_costs(functions, all);
        for (size_t p = 0; p < n; p++) {
            if (points->first[p] == p && !points_is_zero(points, p)) {
                definite.copies[definite.m] = 1;
                definite.cost[definite.m] = all[p];
                definite.point[definite.m++] = (uint32_t)p;
            }
        }
        status = task_shift(task, &definite, err);
        for (size_t i = 0; i < definite.m; i++) {
            functions->shift[definite.point[i]] = definite.shift[i];
        }
    }
    free(block);
    return status;
}

/* Extends each squared norm to the interval between those with and without the shift. */
static int shift_norms(struct task *task, struct pair_functions *functions, struct error *err) {
    if (!functions->shift) {
        return 0;
    }
    if (find_shifts(task, functions, err) < 0) {
        return -1;
    }
    for (size_t which = 0; which < 2; which++) {
        struct ball *norm = &functions->norm[which];
        struct ball increase = pair_function_increase(&functions->kernel, functions->pair[which],
                                                      functions->n_pairs[which],
                                                      functions->slope[which], functions->shift);
        *norm = ball_join(*norm, ball_add(*norm, increase));
    }
    return 0;
}

static int evaluate_pairs(struct rank *rank, struct error *err) {
    struct task *task = rank->task;
    const struct margin_visitor visitor = {rank, wants_margin, add_margins};
    struct pair_functions functions = {.pair = {rank->own, rank->pair},
                                       .n_pairs = {task->model.n_pairs, rank->n_pairs}};
    size_t n = task->points.n_all;
    bool shifted = !definite_always(&task->points.kernel);
    void *block = NULL;
    if (shifted) {
        block = ARRAYS_CREATE("points", err,
                              ARRAYS(n, struct ball, &functions.slope[0], &functions.slope[1]),
                              ARRAYS(n, double, &functions.shift));
    }
    int status = shifted && !block
                     ? -1
                     : pair_kernel_create(&functions.kernel, &task->points, task->threads, err);
    for (size_t which = 0; status == 0 && which < 2; which++) {
        status = pair_function_evaluate(&functions.kernel, functions.pair[which],
                                        &functions.n_pairs[which], which == 0 ? &visitor : NULL,
                                        &functions.norm[which], functions.slope[which], err);
    }
    if (status == 0 && shift_norms(task, &functions, err) == 0) {
        task_bounds(task, functions.norm[0], rank->linear, functions.norm[1]);
        for (size_t i = 0; i < rank->n; i++) {
            task_add_loss(task, rank->loss[i]);
        }
    } else {
        status = -1;
    }
    pair_kernel_free(&functions.kernel);
    free(block);
    return status;
}

static int check_pairs(struct rank *rank, struct error *err) {
    const struct model *model = &rank->task->model;
    const uint32_t *point = rank->task->points.point;
    if (rank->n_points > 0) {
        return error_set(err, ERROR_RUNTIME, "the proof of a model of pairs has points");
    }
    int status = read_dual(rank, err);
    if (status == 0 && !rank->task->findings->wrong[0]) {
        for (size_t i = 0; i < model->n_pairs; i++) {
            struct pair_coefficient pair = model->pairs[i];
            struct ball own_value = task_scaled(rank->task, pair.value);
            rank->own[i] = (struct point_pair){point[pair.u], point[pair.v], own_value};
        }
        status = evaluate_pairs(rank, err);
    }
    return status;
}

/* ---- all ---- */

/* Checks the unit of the cost in the proof and the model. */
static int check_unit(struct task *task, const char *unit, struct error *err) {
    static const char *const keys[] = {"cost-per", "gain"};
    const char *gain = task_text(task, "gain");
    if (unit && strcmp(unit, "query") != 0 && strcmp(unit, "ndcg") != 0 &&
        strcmp(unit, "gain") != 0) {
        return error_set(err, ERROR_RUNTIME, "not a unit of the cost: '%.100s'", unit);
    }
    if (gain && strcmp(gain, "linear") != 0) {
        return error_set(err, ERROR_RUNTIME, "not a gain: '%.100s'", gain);
    }
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        const char *claimed = model_value(&task->model, keys[k]), *own = task_text(task, keys[k]);
        if (strcmp(claimed ? claimed : "", own ? own : "") != 0) {
            task_wrong(task, "the %s is of %s %.100s, and the %s is not",
                       claimed ? "model" : "proof", keys[k], claimed ? claimed : own,
                       claimed ? "proof" : "model");
        }
    }
    return 0;
}

static int check(struct task *task, struct error *err) {
    struct rank rank = {.task = task, .n = task->data.n_rows, .linear = ball_of(0)};
    const char *unit = task_text(task, "cost-per");
    if (strcmp(task->model.formulation, "rank") != 0 ||
        (!task->model.pairs && task->model.n_outputs != 1)) {
        return error_set(err, ERROR_RUNTIME, "not a model of rank with a proof");
    }
    if (check_unit(task, unit, err) < 0) {
        return -1;
    }
    void *block = ARRAYS_CREATE(
        "rows", err, ARRAYS(rank.n, struct ball_sum, &rank.sum),
        ARRAYS(rank.n, struct ball, &rank.cost, &rank.loss),
        ARRAYS(task->model.pairs ? task->proof.n_values : 0, struct point_pair, &rank.pair),
        ARRAYS(task->model.n_pairs, struct point_pair, &rank.own));
    int status = !block || preferences_create(&rank.preferences, task, err) < 0
                     ? -1
                     : read_points(&rank, err);
    if (status == 0 && !task->findings->wrong[0]) {
        status = task->model.pairs ? check_pairs(&rank, err) : check_rows(&rank, err);
    }
    preferences_free(&rank.preferences);
    free(block);
    free(rank.point);
    free(rank.t);
    return status;
}

static const char *const model_keys[] = {"groups",
                                         "pairs",
                                         "cost-per",
                                         "gain",
                                         "pair-features",
                                         "probability-slope",
                                         "max-sv",
                                         "targets",
                                         "targets-few",
                                         "targets-widths",
                                         NULL};
static const char *const proof_keys[] = {"rank-gap", "cost-per", "gain",   "pairs",
                                         "seed",     "point",    "weight", NULL};

const struct check_family check_rank = {.name = "rank",
                                        .labels = DATA_NUMBER,
                                        .model_keys = model_keys,
                                        .proof_keys = proof_keys,
                                        .check = check};
