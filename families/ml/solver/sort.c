/* Sorting: O(n log n), and O(n log k) for the k largest. */
#include "families/ml/solver/sort.h"

#include <math.h>

#define SORT_NAME ml_sort
#define SORT_ITEM struct ml_sort
#define SORT_BEFORE(a, b) ((a).key > (b).key)
#include "common/base/merge_sort.h"

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
