#include "solvers/rank/grid.h"

#include "common/base/memory.h"

#include <math.h>
#include <stdlib.h>

/* The least and the largest of s over a group's rows. */
struct range {
    double low, high;
};

static struct range range_of(const struct rank_pairs *pairs, size_t group, const double *s) {
    struct range range = {INFINITY, -INFINITY};
    for (size_t k = pairs->start[group]; k < pairs->start[group + 1]; k++) {
        range.low = fmin(range.low, s[pairs->row[k]]);
        range.high = fmax(range.high, s[pairs->row[k]]);
    }
    return range;
}

double rank_grid_largest(const struct rank_pairs *pairs, const double *s) {
    double largest = 0;
    for (size_t g = 0; g < pairs->n_groups; g++) {
        struct range range = range_of(pairs, g, s);
        double rows = (double)(pairs->start[g + 1] - pairs->start[g]);
        largest = fmax(largest, rows * (2 + (range.high - range.low)));
    }
    return largest;
}

double rank_grid_unit(double largest, double epsilon) {
    return exp2(ceil(log2(4 * largest))) * epsilon;
}

double rank_grid_round(double s, double unit) {
    double units = s / unit; /* a double of so many has none but whole ones */
    return fabs(units) < 0x1p53 ? rint(units) * unit : s;
}

int rank_grid_create(struct rank_grid *grid, struct rank_pairs *pairs, const double *s, double unit,
                     struct error *err) {
    enum { ARRAYS = 5 };
    size_t n = pairs->n;
    *grid = (struct rank_grid){.pairs = pairs};
    grid->room = memory_array(n, ARRAYS * sizeof *grid->room, "a certificate", err);
    for (size_t a = 0; grid->room && a < 2; a++) {
        grid->at[a].count = grid->room + (1 + 2 * a) * n;
        grid->at[a].moment = grid->room + (2 + 2 * a) * n;
        grid->at[a].active =
            memory_array(pairs->n_groups, sizeof *grid->at[a].active, "a certificate", err);
    }
    if (!grid->room || !grid->at[0].active || !grid->at[1].active) {
        return -1;
    }
    grid->x = grid->room;
    for (size_t g = 0; g < pairs->n_groups; g++) {
        struct range range = range_of(pairs, g, s);
        double middle = rank_grid_round(range.low / 2 + range.high / 2, unit);
        for (size_t k = pairs->start[g]; k < pairs->start[g + 1]; k++) {
            grid->x[pairs->row[k]] = rank_grid_round(s[pairs->row[k]], unit) - middle;
        }
    }
    return 0;
}

void rank_grid_free(struct rank_grid *grid) {
    free(grid->at[0].active);
    free(grid->at[1].active);
    free(grid->room);
}

void rank_grid_sums(struct rank_grid *grid, size_t margin, double delta) {
    struct rank_grid_margin *at = &grid->at[margin];
    at->delta = delta;
    rank_pairs_plain_sums(grid->pairs, grid->x, delta, at->count, at->moment, at->active);
}

struct rank_grid_totals rank_grid_totals(const struct rank_grid *grid, size_t margin, size_t group,
                                         long double *moment, double *size) {
    const struct rank_pairs *pairs = grid->pairs;
    const struct rank_grid_margin *at = &grid->at[margin];
    const struct range range = range_of(pairs, group, grid->x);
    size_t base = pairs->start[group], m = pairs->start[group + 1] - base;
    long double margins = 0, products = 0, delta = at->delta;
    for (size_t k = 0; k < m; k++) {
        size_t row = pairs->row[base + k];
        margins += at->count[row] * (long double)grid->x[row];
        products += at->moment[row] * (long double)grid->x[row];
        moment[k] = at->moment[row];
    }
    *size = 1 + (range.high - range.low);
    long double active = at->active[group], first = delta * active - margins;
    return (struct rank_grid_totals){active, first, delta * first - products};
}
