/* What a solver tells while it works, and how it is told to stop. */
#ifndef SOLVERS_METHODS_MONITOR_H
#define SOLVERS_METHODS_MONITOR_H

#include "solvers/methods/stop.h"

#include <stdbool.h>
#include <stdint.h>

struct monitor {
    void *context;
    /* Called once an iteration with the bounds known then. Returns 0 to go on; else the solver
     * stops there, gives its best point so far, and passes the reason on. Cheap; NULL: nobody
     * watches. */
    enum stop_reason (*check)(void *context, uint64_t iteration, double primal, double dual);
    /* True when a limit of time has passed: for iterations that are long, to end early and be
     * checked. NULL: there is no such limit. */
    bool (*late)(void *context);
};

static inline bool monitor_late(const struct monitor *monitor) {
    return monitor && monitor->late && monitor->late(monitor->context);
}

/* Calls check if there is one. */
static inline enum stop_reason monitor_check(const struct monitor *monitor, uint64_t iteration,
                                             double primal, double dual) {
    return monitor && monitor->check ? monitor->check(monitor->context, iteration, primal, dual)
                                     : 0;
}

#endif
