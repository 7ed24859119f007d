/* Elapsed time. */
#ifndef COMMON_BASE_CLOCK_H
#define COMMON_BASE_CLOCK_H

#include <stdatomic.h>

/* Seconds of a monotonic clock. */
double clock_seconds(void);

/* A sum of times, to which several threads may add. */
struct stopwatch {
    atomic_uint_fast64_t nanoseconds;
};

/* Adds seconds (0 or more); without effect if stopwatch is NULL. */
void stopwatch_add(struct stopwatch *stopwatch, double seconds);

/* The sum so far; 0 if stopwatch is NULL. */
double stopwatch_seconds(const struct stopwatch *stopwatch);

#endif
