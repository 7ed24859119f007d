/* What preferences are worth in NDCG (doc/mathematics, "rank: the problem"): with g the grade of a
 * row, d the mean of 1 / log2(1 + place) over the places that its grade takes up in the best order
 * of its query, and DCG* what that order gains, a pair costs C (gain - gain) (d - d) / DCG*. */
#ifndef CHECK_GRADES_H
#define CHECK_GRADES_H

#include "check/ball.h"
#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The grade that a target stands for: below 0 counts as 0. Fails if it is none. */
int grades_of(double target, double *grade, struct error *err);

/* Of a query's rows (n), grades from the lowest up: the gain 2^g - 1 of each, or g, and its
 * discount. Returns DCG*. */
struct ball grades_weigh(const double *grade, size_t n, bool linear, struct ball *gain,
                         struct ball *discount);

#endif
