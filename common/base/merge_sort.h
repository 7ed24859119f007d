/* A stable merge sort that starts from runs sorted by insertion, and skips merging what is in order
 * already. Included once by a file that defines SORT_NAME, the function; SORT_ITEM, the type of the
 * items; and SORT_BEFORE(a, b), whether a must precede b. */
#include "common/base/sizes.h"

#include <string.h>

enum { SORT_RUN = 16 };

/* Sorts a run by insertion. */
static void insert_items(SORT_ITEM *list, size_t n) {
    for (size_t i = 1; i < n; i++) {
        SORT_ITEM item = list[i];
        size_t at = i;
        for (; at > 0 && SORT_BEFORE(item, list[at - 1]); at--) {
            list[at] = list[at - 1];
        }
        list[at] = item;
    }
}

/* Merges list[0..middle) and list[middle..n), using a copy of the first. */
static void merge_two(SORT_ITEM *list, size_t middle, size_t n, SORT_ITEM *copy) {
    size_t a = 0, b = middle, out = 0;
    if (!SORT_BEFORE(list[middle], list[middle - 1])) {
        return;
    }
    memcpy(copy, list, middle * sizeof *list);
    while (a < middle && b < n) {
        list[out++] = SORT_BEFORE(list[b], copy[a]) ? list[b++] : copy[a++];
    }
    memcpy(list + out, copy + a, (middle - a) * sizeof *list);
}

/* Sorts list[0..n); items of which neither must precede the other keep their order. work (n): room
 * for a copy. The file that includes this has the prototype. */
void SORT_NAME(SORT_ITEM *list, size_t n, SORT_ITEM *work) {
    for (size_t first = 0; first < n; first += SORT_RUN) {
        insert_items(list + first, smaller(n - first, SORT_RUN));
    }
    for (size_t width = SORT_RUN; width < n; width *= 2) {
        for (size_t first = 0; first + width < n; first += 2 * width) {
            merge_two(list + first, width, smaller(n - first, 2 * width), work);
        }
    }
}
