/* The system's monotonic clock (clock.h). */
#define _GNU_SOURCE /* clock_gettime */

#include "common/base/clock.h"

#include <stdint.h>
#include <time.h>

double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void stopwatch_add(struct stopwatch *stopwatch, double seconds) {
    if (stopwatch) {
        stopwatch->nanoseconds += (uint_fast64_t)(1e9 * seconds);
    }
}

double stopwatch_seconds(const struct stopwatch *stopwatch) {
    return stopwatch ? 1e-9 * (double)stopwatch->nanoseconds : 0;
}
