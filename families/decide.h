/* From the scores of a row to the number of a label, in the order of the model's labels. */
#ifndef FAMILIES_DECIDE_H
#define FAMILIES_DECIDE_H

#include <stddef.h>

/* The place of the largest of scores (k), k > 0; of equals the first. */
size_t decide_largest(const double *scores, size_t k);

/* The same for scores (n) of models that have two labels in one score: a score above 0 speaks for
 * the second. */
size_t decide_signed(const double *scores, size_t n);

#endif
