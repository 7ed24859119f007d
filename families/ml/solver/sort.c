#include "families/ml/solver/sort.h"

#include <stdbool.h>
#include <stddef.h>
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

/* Merges list[0..middle) and list[middle..n) by a copy of the first. */
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
    for (uint32_t first = 0; first < n; first += RUN) {
        insert(list + first, n - first < RUN ? n - first : RUN);
    }
    for (uint64_t width = RUN; width < n; width *= 2) {
        for (uint64_t first = 0; first + width < n; first += 2 * width) {
            uint64_t end = first + 2 * width < n ? first + 2 * width : n;
            merge_two(list + first, (uint32_t)width, (uint32_t)(end - first), merge);
        }
    }
}

static bool is_before(const struct ml_sort *a, const struct ml_sort *b) {
    return a->key > b->key || (a->key == b->key && a->index < b->index);
}

/* Sinks the top of a heap whose top is the last of all. */
static void sink(struct ml_sort *heap, size_t n, size_t at) {
    struct ml_sort item = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && is_before(&heap[child], &heap[child + 1]);
        if (!is_before(&item, &heap[child])) {
            break;
        }
        heap[at] = heap[child];
    }
    heap[at] = item;
}

void ml_sort_largest(const double *key, uint32_t n, struct ml_sort *largest, uint32_t k) {
    for (uint32_t i = 0; i < k; i++) {
        largest[i] = (struct ml_sort){key[i], i};
    }
    for (uint32_t at = k / 2; at-- > 0;) {
        sink(largest, k, at);
    }
    for (uint32_t i = k; i < n; i++) {
        if (key[i] > largest[0].key) {
            largest[0] = (struct ml_sort){key[i], i};
            sink(largest, k, 0);
        }
    }
    for (uint32_t end = k; end-- > 1;) {
        struct ml_sort last = largest[0];
        largest[0] = largest[end];
        largest[end] = last;
        sink(largest, end, 0);
    }
}
