/* Max-sum message passing on trees (max_marginals.h). Candidates are stored in ascending order of f
 * within their feature. */
#include "families/rank/frontend/max_marginals.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_STREAM = 11 };

static const double RESOLUTION = 0x1p-30; /* of scores */

struct max_marginals {
    const struct candidates *candidates;
    struct elution elution; /* of all features; one without a time is alone in a run */
    size_t *order;          /* (n) the candidates, in ascending order of f within their feature */
    double *f;              /* (n) in that order */
    double *theta;          /* (n) in that order */
    void *block;            /* all arrays (n) */
};

/* The message passing on one tree. Arrays by candidate are in the order of f. */
struct passes {
    const struct max_marginals *marginals;
    const struct order_model *model;
    struct spanning_tree tree;
    double *below;   /* (n) theta and the messages of the children */
    double *total;   /* (n) theta and the messages of all neighbours: the max-marginals */
    double *message; /* (max_n) the last message */
    double *without; /* (max_n) total without the message of one child */
    void *block;     /* all arrays */
};

/* ---- messages ---- */

/* The potential of an edge, less its factor D, for x = f(earlier) - f(later). */
static double edge_value(enum order_edges edges, double x) {
    return edges == ORDER_HINGE ? -fmax(0, x) : -fmax(0, x) - log1p(exp(-fabs(x)));
}

struct message {
    const struct order_model *model;
    const double *f, *a; /* (n) of the sender */
    const double *to_f;  /* (to_n) of the receiver */
    double *out;         /* (to_n) */
    size_t n, to_n;
    bool later; /* the sender elutes after the receiver */
};

static double sum_at(const struct message *message, size_t from, size_t to) {
    double x = message->f[from] - message->to_f[to];
    return message->a[from] +
           message->model->weight * edge_value(message->model->edges, message->later ? -x : x);
}

/* Computes out[first..end), whose maximisers are among the sender's candidates low..high. */
static void send_between(const struct message *message, size_t first, size_t end, size_t low,
                         size_t high) {
    while (first < end) {
        size_t middle = first + (end - first) / 2, best = low;
        double max = sum_at(message, low, middle);
        for (size_t i = low + 1; i <= high; i++) {
            double sum = sum_at(message, i, middle);
            if (sum > max) {
                max = sum;
                best = i;
            }
        }
        message->out[middle] = max;
        send_between(message, first, middle, low, best);
        first = middle + 1;
        low = best;
    }
}

static double largest(const double *value, size_t n) {
    double max = value[0];
    for (size_t i = 1; i < n; i++) {
        max = fmax(max, value[i]);
    }
    return max;
}

/* Sets passes->message to the message that feature `from` sends to feature `to` with the sums a of
 * its candidates. Messages are defined up to a constant; their maximum is 0. */
static void send(struct passes *passes, uint32_t from, uint32_t to, const double *a) {
    const struct max_marginals *marginals = passes->marginals;
    const struct candidate_feature *feature = marginals->candidates->feature;
    const struct message message = {.model = passes->model,
                                    .f = marginals->f + feature[from].first,
                                    .a = a,
                                    .to_f = marginals->f + feature[to].first,
                                    .out = passes->message,
                                    .n = feature[from].n,
                                    .to_n = feature[to].n,
                                    .later = feature[from].time > feature[to].time};
    send_between(&message, 0, message.to_n, 0, message.n - 1);
    double max = largest(passes->message, message.to_n);
    for (size_t i = 0; i < message.to_n; i++) {
        passes->message[i] -= max;
    }
}

/* Fills total: messages to the root, then from it. */
static void pass_messages(struct passes *passes) {
    const struct candidates *candidates = passes->marginals->candidates;
    const struct spanning_tree *tree = &passes->tree;
    double *below = passes->below, *total = passes->total;
    memcpy(below, passes->marginals->theta, candidates->n * sizeof *below);
    for (size_t t = tree->n; t-- > 0;) {
        uint32_t node = tree->order[t], parent = tree->parent[node];
        if (parent != SPANNING_ROOT) {
            const struct candidate_feature *to = &candidates->feature[parent];
            send(passes, node, parent, below + candidates->feature[node].first);
            for (size_t i = 0; i < to->n; i++) {
                below[to->first + i] += passes->message[i];
            }
        }
    }
    memcpy(total, below, candidates->n * sizeof *total);
    for (size_t t = 0; t < tree->n; t++) {
        uint32_t node = tree->order[t], parent = tree->parent[node];
        if (parent != SPANNING_ROOT) {
            const struct candidate_feature *from = &candidates->feature[parent];
            const struct candidate_feature *to = &candidates->feature[node];
            send(passes, node, parent, below + to->first);
            for (size_t i = 0; i < from->n; i++) {
                passes->without[i] = total[from->first + i] - passes->message[i];
            }
            send(passes, parent, node, passes->without);
            for (size_t i = 0; i < to->n; i++) {
                total[to->first + i] += passes->message[i];
            }
        }
    }
}

/* ---- trees ---- */

static int create_passes(struct passes *passes, const struct max_marginals *marginals,
                         const struct order_model *model, struct error *err) {
    const struct candidates *candidates = marginals->candidates;
    *passes = (struct passes){.marginals = marginals, .model = model};
    passes->block = ARRAYS_CREATE(
        "messages", err, ARRAYS(candidates->n, double, &passes->below, &passes->total),
        ARRAYS(candidates->max_n, double, &passes->message, &passes->without));
    return passes->block ? spanning_tree_create(&passes->tree, marginals->elution.n, err) : -1;
}

static void free_passes(struct passes *passes) {
    free(passes->block);
    spanning_tree_free(&passes->tree);
}

/* The trees of a batch, one for each task. */
struct batch {
    struct passes *passes; /* (tasks) */
    size_t first;          /* number of the first tree */
};

static void run_tree(void *argument, size_t task, size_t worker) {
    (void)worker;
    const struct batch *batch = argument;
    struct passes *passes = &batch->passes[task];
    const struct elution *elution = &passes->marginals->elution;
    if (passes->model->n_trees == 0) {
        spanning_tree_chain(&passes->tree, elution);
    } else {
        struct random random;
        random_start(&random, passes->model->seed, RANDOM_STREAM + ((batch->first + task) << 8));
        spanning_tree_draw(&passes->tree, elution, &random);
    }
    pass_messages(passes);
}

/* Adds the max-marginals of one of n trees to the means. */
static void add_tree(const struct passes *passes, double n_trees, double *score) {
    const struct max_marginals *marginals = passes->marginals;
    for (size_t i = 0; i < marginals->candidates->n_features; i++) {
        const struct candidate_feature *feature = &marginals->candidates->feature[i];
        double max = largest(passes->total + feature->first, feature->n);
        for (size_t k = feature->first; k < feature->first + feature->n; k++) {
            score[marginals->order[k]] += (passes->total[k] - max) / n_trees;
        }
    }
}

/* Makes 0 the largest score of each feature, and rounds. */
static int finish_scores(const struct candidates *candidates, double *score, struct error *err) {
    bool finite = true;
    for (size_t i = 0; i < candidates->n_features; i++) {
        const struct candidate_feature *feature = &candidates->feature[i];
        double max = largest(score + feature->first, feature->n);
        for (size_t k = feature->first; k < feature->first + feature->n; k++) {
            score[k] = rint((score[k] - max) / RESOLUTION) * RESOLUTION + 0.0; /* not -0 */
            finite &= isfinite(score[k]) != 0;
        }
    }
    return finite ? 0
                  : error_set(err, ERROR_RUNTIME,
                              "weights times scores are too large for double precision");
}

int max_marginals_compute(struct max_marginals *marginals, const struct order_model *model,
                          const double *theta, struct threads *threads, double *score,
                          struct error *err) {
    size_t n = marginals->candidates->n, n_trees = model->n_trees > 0 ? model->n_trees : 1;
    size_t width = threads_count(threads) < n_trees ? threads_count(threads) : n_trees;
    struct batch batch = {.passes = memory_zeros(width, sizeof *batch.passes, "trees", err)};
    int status = batch.passes ? 0 : -1;
    for (size_t i = 0; i < width && status == 0; i++) {
        status = create_passes(&batch.passes[i], marginals, model, err);
    }
    for (size_t k = 0; k < n; k++) {
        marginals->theta[k] = theta[marginals->order[k]];
        score[k] = 0;
    }
    for (; status == 0 && batch.first < n_trees; batch.first += width) {
        size_t tasks = width < n_trees - batch.first ? width : n_trees - batch.first;
        threads_run(threads, tasks, run_tree, &batch);
        for (size_t i = 0; i < tasks; i++) {
            add_tree(&batch.passes[i], (double)n_trees, score);
        }
    }
    for (size_t i = 0; i < width && batch.passes; i++) {
        free_passes(&batch.passes[i]);
    }
    free(batch.passes);
    return status < 0 ? -1 : finish_scores(marginals->candidates, score, err);
}

/* ---- orders ---- */

struct ordered {
    double f;
    size_t number;
};

static int compare_ordered(const void *a, const void *b) {
    const struct ordered *x = a, *y = b;
    int order = order_doubles(x->f, y->f);
    return order ? order : order_integers(x->number, y->number);
}

/* Sorts the candidates of each feature. */
static int sort_candidates(struct max_marginals *made, struct error *err) {
    const struct candidates *candidates = made->candidates;
    struct ordered *ordered = memory_array(candidates->max_n, sizeof *ordered, "candidates", err);
    for (size_t i = 0; i < candidates->n_features && ordered; i++) {
        const struct candidate_feature *feature = &candidates->feature[i];
        for (size_t k = 0; k < feature->n; k++) {
            size_t number = feature->first + k;
            ordered[k] = (struct ordered){candidates->f[number], number};
        }
        qsort(ordered, feature->n, sizeof *ordered, compare_ordered);
        for (size_t k = 0; k < feature->n; k++) {
            made->f[feature->first + k] = ordered[k].f;
            made->order[feature->first + k] = ordered[k].number;
        }
    }
    int status = ordered ? 0 : -1;
    free(ordered);
    return status;
}

/* Sorts the features; those without a time get runs of their own. */
static int sort_features(struct max_marginals *made, struct error *err) {
    const struct candidates *candidates = made->candidates;
    size_t n = candidates->n_features;
    uint32_t *run, next = 0;
    double *time;
    void *block = ARRAYS_CREATE("times", err, ARRAYS(n, uint32_t, &run), ARRAYS(n, double, &time));
    if (!block) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        next = candidates->feature[i].run >= next ? candidates->feature[i].run + 1 : next;
    }
    for (size_t i = 0; i < n; i++) {
        const struct candidate_feature *feature = &candidates->feature[i];
        run[i] = isnan(feature->time) ? next++ : feature->run;
        time[i] = isnan(feature->time) ? 0 : feature->time;
    }
    int status = elution_create(&made->elution, run, time, n, err);
    free(block);
    return status;
}

int max_marginals_create(struct max_marginals **marginals, const struct candidates *candidates,
                         struct error *err) {
    struct max_marginals *made = memory_zeros(1, sizeof *made, "candidates", err);
    if (!made) {
        return -1;
    }
    made->candidates = candidates;
    made->block = ARRAYS_CREATE("candidates", err, ARRAYS(candidates->n, size_t, &made->order),
                                ARRAYS(candidates->n, double, &made->f, &made->theta));
    if (!made->block || sort_candidates(made, err) < 0 || sort_features(made, err) < 0) {
        max_marginals_free(made);
        return -1;
    }
    *marginals = made;
    return 0;
}

void max_marginals_free(struct max_marginals *marginals) {
    if (marginals) {
        elution_free(&marginals->elution);
        free(marginals->block);
        free(marginals);
    }
}
