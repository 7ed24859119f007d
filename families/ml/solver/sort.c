/* Sorting: O(n log n), and O(n log k) for the k largest. */
#include "families/ml/solver/sort.h"

#include <math.h>
#include <string.h>

enum { RUN = 16 };

static void insert(struct ml_sort *list, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        struct ml_sort item = list[i];
        uint32_t at = i;
        for (; at > 0 && list[at - 1].key < item.key; at--) {
            list[at] = list[at - 1];
        }
        list[at] = item;
    }
}

/* Merges list[0..middle) and list[middle..n), using a copy of the first. */
static void merge_two(struct ml_sort *list, uint32_t middle, uint32_t n, struct ml_sort *copy) {
    if (list[middle - 1].key >= list[middle].key) {
        return;
    }
    memcpy(copy, list, middle * sizeof *list);
    uint32_t a = 0, b = middle, out = 0;
    while (a < middle && b < n) {
        list[out++] = list[b].key > copy[a].key ? list[b++] : copy[a++];
    }
    memcpy(list + out, copy + a, (middle - a) * sizeof *list);
}

void ml_sort(struct ml_sort *list, uint32_t n, struct ml_sort *merge) {
    for (uint64_t first = 0; first < n; first += RUN) {
        insert(list + first, n - first < RUN ? (uint32_t)(n - first) : RUN);
    }
    for (uint64_t width = RUN; width < n; width *= 2) {
        for (uint64_t first = 0; first + width < n; first += 2 * width) {
            uint64_t end = first + 2 * width < n ? first + 2 * width : n;
            merge_two(list + first, (uint32_t)width, (uint32_t)(end - first), merge);
        }
    }
}

void ml_sort_largest(const double *key, uint32_t n, struct ml_sort *list, uint32_t k,
                     struct ml_sort *merge) {
    uint32_t size = 0;
    double threshold = -INFINITY; /* k-th largest so far, once there are k */
    for (uint32_t i = 0; i < n; i++) {
        if (size < k || key[i] > threshold) {
            list[size++] = (struct ml_sort){key[i], i};
        }
        if (size == 2 * (uint64_t)k || i + 1 == n) {
            ml_sort(list, size, merge);
            size = size < k ? size : k;
            threshold = list[size - 1].key;
        }
    }
}
