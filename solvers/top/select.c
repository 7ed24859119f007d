#include "solvers/top/select.h"

#include <stdbool.h>
#include <string.h>

enum { BITS = 8, BINS = 1 << BITS, WORD = 64 };

/* Rows that may yet be chosen, or not: order[low..high). Those before are, those behind are not. */
struct range {
    const double *s;
    uint32_t *order;
    size_t low, high;
};

/* Whole numbers in the order of the scores. */
static uint64_t key_of(double score) {
    const uint64_t sign = (uint64_t)1 << (WORD - 1);
    double value = score + 0.0; /* no -0 */
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

static size_t bin_of(const struct range *range, size_t i, int shift) {
    return (size_t)(key_of(range->s[range->order[i]]) >> shift) & (BINS - 1);
}

/* Puts the rows in bins from `first` on before those of the bin below it, and these before all others:
 * only these may yet be chosen. */
static void narrow(struct range *range, int shift, size_t first) {
    size_t above = range->low, end = range->high;
    for (size_t i = above; i < end;) {
        uint32_t row = range->order[i];
        size_t bin = bin_of(range, i, shift);
        if (bin >= first) {
            range->order[i++] = range->order[above];
            range->order[above++] = row;
        } else if (bin + 1 < first) {
            range->order[i] = range->order[--end];
            range->order[end] = row;
        } else {
            i++;
        }
    }
    range->low = above;
    range->high = end;
}

/* Among equals: ranks in their order, found by bisection. */
static void share_out(struct cluster *cluster, const double *share, struct range *range,
                      double *left) {
    size_t rank = cluster_rank(cluster), low = 0, high = cluster_size(cluster) - 1;
    double own = 0, before = 0; /* shares of ranks before `low` */
    for (size_t i = range->low; i < range->high; i++) {
        own += share[range->order[i]];
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        double sum = cluster_total(cluster, rank <= middle ? own : 0);
        if (sum > *left) {
            high = middle;
        } else {
            low = middle + 1;
            before = sum;
        }
    }
    *left = rank == low ? *left - before : 0;
    if (rank < low) {
        range->low = range->high;
    }
    while (rank == low && range->low < range->high && share[range->order[range->low]] <= *left) {
        *left -= share[range->order[range->low++]];
    }
}

size_t top_select(struct cluster *cluster, const double *s, const double *share, uint32_t *order,
                  size_t n, double *left) {
    struct range range = {.s = s, .order = order, .high = n};
    *left = 1;
    for (int shift = WORD - BITS; shift >= 0; shift -= BITS) {
        double bins[2 * BINS] = {0}, *rows = bins + BINS;
        for (size_t i = range.low; i < range.high; i++) {
            size_t bin = bin_of(&range, i, shift);
            bins[bin] += share[order[i]];
            rows[bin]++;
        }
        cluster_sum(cluster, bins, 2 * (size_t)BINS);
        size_t first = BINS;
        while (first > 0 && bins[first - 1] <= *left) {
            *left -= bins[--first];
        }
        narrow(&range, shift, first);
        if (first == 0) { /* all that there is */
            *left = 0;
            return range.low;
        }
        if (rows[first - 1] <= 1) {
            *left = range.low < range.high ? *left : 0;
            return range.low;
        }
    }
    share_out(cluster, share, &range, left);
    return range.low;
}
