/* The messages of the stop reasons, which the reports print. */
#include "fit/stop.h"

static const char *const message[] = {
    [STOP_REACHED] = "the target gap is reached",
    [STOP_ITERATIONS] = "the limit of iterations is reached",
    [STOP_TIME] = "the limit of time is reached",
    [STOP_INTERRUPTED] = "interrupted",
    [STOP_ROUNDING] = "rounding errors prevent further progress",
    [STOP_FLOAT_KERNEL] = "the kernel matrix in single precision prevents further progress",
    [STOP_WORKING_SET] = "many more support vectors than a working set holds: progress is slow",
    [STOP_STALLED] = "the solver converges too slowly",
    [STOP_STUCK] = "coordinate ascent has stalled",
    [STOP_NOT_STATIONARY] = ("no step lowers the objective, though the point is not stationary to "
                             "epsilon"),
    [STOP_OUTER_ITERATIONS] = "tighter tolerances of the solver no longer lower the gap enough",
    [STOP_INDEFINITE] = "the kernel is not positive semidefinite",
    [STOP_CONTRADICTORY] = "the dual bound is above the primal bound, so one of them is false",
    [STOP_INFINITE] = "the primal bound is not finite",
};

int stop_overflow(struct error *err) {
    return error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
}

const char *stop_message(enum stop_reason reason) {
    return message[reason];
}
