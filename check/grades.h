/* Weights of preferences by NDCG (doc/mathematics, "rank: the problem"): with g the grade of a row,
 * d the mean of 1 / log2(1 + place) over the places of its grade in the best order of its query,
 * and DCG* the gain of that order, a pair costs C (gain - gain) (d - d) / DCG*. */
#ifndef CHECK_GRADES_H
#define CHECK_GRADES_H

#include "check/ball.h"
#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The grade of a target: negative targets count as 0. Fails if the target is not a grade. */
int grades_of(double target, double *grade, struct error *err);

/* For the rows (n) of a query, with grades ascending: the gain 2^g - 1 of each, or g if `linear`,
 * and its discount. Returns DCG*. */
struct ball grades_weigh(const double *grade, size_t n, bool linear, struct ball *gain,
                         struct ball *discount);

#endif
