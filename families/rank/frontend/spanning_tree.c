/* Chains, and random trees by Wilson's loop-erased random walks (spanning_tree.h). */
#include "families/rank/frontend/spanning_tree.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/order.h"

#include <stdlib.h>
#include <string.h>

/* ---- order of elution ---- */

struct timed {
    double time;
    uint32_t run, feature;
};

static int compare_timed(const void *a, const void *b) {
    const struct timed *x = a, *y = b;
    int order = order_integers(x->run, y->run);
    order = order ? order : order_doubles(x->time, y->time);
    return order ? order : order_integers(x->feature, y->feature);
}

/* Sets where the run and the ties of each position begin and end. */
static void find_bounds(struct elution *elution, const struct timed *timed) {
    size_t n = elution->n;
    for (size_t i = 0; i < n; i++) {
        bool same_run = i > 0 && timed[i].run == timed[i - 1].run;
        bool tie = same_run && timed[i].time == timed[i - 1].time;
        elution->run_first[i] = same_run ? elution->run_first[i - 1] : (uint32_t)i;
        elution->tie_first[i] = tie ? elution->tie_first[i - 1] : (uint32_t)i;
    }
    for (size_t i = n; i-- > 0;) {
        bool last = i + 1 == n;
        bool same_run = !last && elution->run_first[i] == elution->run_first[i + 1];
        bool tie = !last && elution->tie_first[i] == elution->tie_first[i + 1];
        elution->run_end[i] = same_run ? elution->run_end[i + 1] : (uint32_t)(i + 1);
        elution->tie_end[i] = tie ? elution->tie_end[i + 1] : (uint32_t)(i + 1);
    }
}

int elution_create(struct elution *elution, const uint32_t *run, const double *time, size_t n,
                   struct error *err) {
    *elution = (struct elution){.n = n};
    struct timed *timed = memory_array(n, sizeof *timed, "times", err);
    elution->block =
        ARRAYS_CREATE("times", err,
                      ARRAYS(n, uint32_t, &elution->feature, &elution->run_first, &elution->run_end,
                             &elution->tie_first, &elution->tie_end));
    if (!timed || !elution->block) {
        free(timed);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        timed[i] = (struct timed){time[i], run[i], (uint32_t)i};
    }
    qsort(timed, n, sizeof *timed, compare_timed);
    for (size_t i = 0; i < n; i++) {
        elution->feature[i] = timed[i].feature;
    }
    find_bounds(elution, timed);
    free(timed);
    return 0;
}

void elution_free(struct elution *elution) {
    free(elution->block);
    *elution = (struct elution){0};
}

/* ---- trees ---- */

int spanning_tree_create(struct spanning_tree *tree, size_t n, struct error *err) {
    *tree = (struct spanning_tree){.n = n};
    tree->block =
        ARRAYS_CREATE("a tree", err, ARRAYS(n, uint32_t, &tree->order, &tree->parent, &tree->next),
                      ARRAYS(n, bool, &tree->in_tree));
    return tree->block ? 0 : -1;
}

void spanning_tree_free(struct spanning_tree *tree) {
    free(tree->block);
    *tree = (struct spanning_tree){0};
}

/* Adds the feature at a position to the order, with the feature at another position (or
 * SPANNING_ROOT) as its parent. */
static void add_node(struct spanning_tree *tree, size_t *n, const struct elution *elution,
                     uint32_t position, uint32_t parent) {
    uint32_t feature = elution->feature[position];
    tree->parent[feature] = parent == SPANNING_ROOT ? SPANNING_ROOT : elution->feature[parent];
    tree->order[(*n)++] = feature;
}

void spanning_tree_chain(struct spanning_tree *tree, const struct elution *elution) {
    size_t n = 0;
    for (uint32_t first = 0, end; first < elution->n; first = end) {
        end = elution->run_end[first];
        uint32_t second = elution->tie_end[first]; /* the first of the next time */
        bool comparable = second < end;
        add_node(tree, &n, elution, first, SPANNING_ROOT);
        for (uint32_t i = second, before = first; i < end; i++) {
            if (i > second && elution->tie_first[i] == i) {
                before = elution->tie_first[i - 1];
            }
            add_node(tree, &n, elution, i, before);
        }
        for (uint32_t i = first + 1; i < second; i++) {
            add_node(tree, &n, elution, i, comparable ? second : SPANNING_ROOT);
        }
    }
}

/* A position drawn from those of the run that have another time. */
static uint32_t draw_neighbour(const struct elution *elution, uint32_t position,
                               struct random *random) {
    uint32_t first = elution->run_first[position], tie = elution->tie_first[position];
    uint32_t ties = elution->tie_end[position] - tie;
    uint32_t others = elution->run_end[position] - first - ties;
    uint32_t drawn = first + (uint32_t)random_below(random, others);
    return drawn < tie ? drawn : drawn + ties;
}

/* Walks from a position until the tree is reached, and adds the walk without its loops, the end
 * first. */
static void add_walk(struct spanning_tree *tree, size_t *n, const struct elution *elution,
                     uint32_t start, struct random *random) {
    uint32_t length = 0;
    for (uint32_t at = start; !tree->in_tree[at]; at = tree->next[at]) {
        tree->next[at] = draw_neighbour(elution, at, random);
    }
    for (uint32_t at = start; !tree->in_tree[at]; at = tree->next[at]) {
        tree->in_tree[at] = true;
        length++;
    }
    size_t end = *n + length, behind = end;
    for (uint32_t at = start; behind > *n; at = tree->next[at]) {
        size_t place = --behind;
        add_node(tree, &place, elution, at, tree->next[at]);
    }
    *n = end;
}

void spanning_tree_draw(struct spanning_tree *tree, const struct elution *elution,
                        struct random *random) {
    size_t n = 0;
    memset(tree->in_tree, 0, tree->n * sizeof *tree->in_tree);
    for (uint32_t i = 0; i < elution->n; i++) {
        bool first = elution->run_first[i] == i;
        bool comparable = elution->tie_end[elution->run_first[i]] < elution->run_end[i];
        if (first || !comparable) {
            add_node(tree, &n, elution, i, SPANNING_ROOT);
            tree->in_tree[i] = true;
        } else {
            add_walk(tree, &n, elution, i, random);
        }
    }
}
