/* The sequence of tolerances, and the outer loop: solve, certify, tighten (tolerance.h). */
#include "fit/tolerance.h"

#include "fit/stop.h"

#include <math.h>

/* Up to this many rows, times outputs, a problem is small. */
enum { MAX_SMALL_ROWS = 512 };

/* This many runs in a row without progress end the sequence. One is not enough: the inner steps of
 * the next run are more accurate, so it takes another path. */
enum { STALLED_RUNS = 2 };

static const double sequence[] = {1,    0.5,  0.1,   1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7,
                                  1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 0};

int tolerance_solve(tolerance_run run, void *context, double epsilon, size_t rows,
                    struct error *err) {
    if (rows > MAX_SMALL_ROWS) {
        struct tolerance_result end;
        return run(context, epsilon, &end, err);
    }
    struct tolerance_result end = {.gap = INFINITY};
    int stalled = 0;
    for (size_t k = 0;; k++) {
        double last_gap = end.gap;
        if (!(end.gap <= sequence[k]) && run(context, sequence[k], &end, err) < 0) {
            return -1;
        }
        bool progress =
            isnan(end.gap) || end.gap <= sequence[k] || end.gap < STOP_PROGRESS * last_gap;
        stalled = progress ? 0 : stalled + 1;
        if (end.limited || end.gap <= epsilon || sequence[k] <= epsilon ||
            stalled == STALLED_RUNS) {
            return 0;
        }
    }
}

int tolerance_tighten(tolerance_run run, void *context, double epsilon, int max_runs,
                      struct error *err) {
    double tolerance = epsilon, last_gap = INFINITY;
    int stalled = 0;
    for (int k = 0; k < max_runs && stalled < STALLED_RUNS; k++) {
        struct tolerance_result end = {.gap = INFINITY};
        if (run(context, tolerance, &end, err) < 0) {
            return -1;
        }
        if (isnan(end.gap) || end.gap <= epsilon || end.limited || !end.converged) {
            return 0;
        }
        stalled = end.gap < STOP_PROGRESS * last_gap ? 0 : stalled + 1;
        last_gap = end.gap;
        tolerance /= 2;
    }
    return 0;
}
