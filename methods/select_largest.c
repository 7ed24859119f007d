/* Radix select by 8 bits. */
#include "methods/select_largest.h"

#include <math.h>
#include <string.h>

enum { BITS = 8, BINS = 1 << BITS, WORD = 64 };

/* The undecided rows, order[low..high). Rows before are selected, rows after are not. */
struct range {
    const double *value;
    uint32_t *order;
    size_t low, high;
};

/* Maps a value to an integer, preserving the order. */
static uint64_t key_of(double x) {
    const uint64_t sign = (uint64_t)1 << (WORD - 1);
    double value = x + 0.0; /* no -0 */
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

static size_t bin_of(const struct range *range, size_t i, int shift) {
    return (size_t)(key_of(range->value[range->order[i]]) >> shift) & (BINS - 1);
}

/* Partitions the range: rows in bins from `first` on, then those of bin first - 1, then the others.
 * Only the second ones remain in the range. */
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

/* Distributes *left over equal values, processes in their order. The process that takes the last of
 * it is found by bisection. */
static void distribute_among_equals(struct cluster *cluster, const double *share,
                                    struct range *range, double *left) {
    size_t rank = cluster_rank(cluster), low = 0, high = cluster_size(cluster) - 1;
    double own = 0, before = 0; /* shares of processes before `low` */
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

size_t select_largest(struct cluster *cluster, const double *value, const double *share,
                      double amount, uint32_t *order, size_t n, double *left, double *last) {
    struct range range = {.value = value, .order = order, .high = n};
    size_t first = BINS, rows_left = 2;
    *left = amount;
    for (int shift = WORD - BITS; shift >= 0 && first > 0 && rows_left > 1; shift -= BITS) {
        double bins[2 * BINS] = {0}, *rows = bins + BINS;
        for (size_t i = range.low; i < range.high; i++) {
            size_t bin = bin_of(&range, i, shift);
            bins[bin] += share[order[i]];
            rows[bin]++;
        }
        cluster_sum(cluster, bins, 2 * (size_t)BINS);
        for (first = BINS; first > 0 && bins[first - 1] <= *left; first--) {
            *left -= bins[first - 1];
        }
        rows_left = first > 0 ? (size_t)rows[first - 1] : 0;
        narrow(&range, shift, first);
    }
    if (last) {
        double own = range.low < range.high ? value[order[range.low]] : -INFINITY;
        *last = cluster_largest(cluster, own);
    }
    if (rows_left > 1) {
        distribute_among_equals(cluster, share, &range, left);
    } else if (range.low ==
               range.high) { /* the one row belongs to another process, or there is none */
        *left = 0;
    }
    return range.low;
}
