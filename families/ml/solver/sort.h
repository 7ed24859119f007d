/* A stable merge sort of numbers with an index, descending, that starts from runs sorted by
 * insertion; and the k largest. */
#ifndef FAMILIES_ML_SOLVER_SORT_H
#define FAMILIES_ML_SOLVER_SORT_H

#include <stddef.h>
#include <stdint.h>

struct ml_sort {
    double key;
    uint32_t index;
};

/* Sorts list[0..n). merge (n) is work. */
void ml_sort(struct ml_sort *list, size_t n, struct ml_sort *merge);

/* list[0..k) = the k largest, 1 <= k <= n, of key (n), descending; of equal keys those with the
 * lower index. list and merge (2 k) are work. */
void ml_sort_largest(const double *key, uint32_t n, struct ml_sort *list, uint32_t k,
                     struct ml_sort *merge);

#endif
