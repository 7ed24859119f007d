/* The gap extrapolated at the rate of the last third of the work (convergence_rate.h). */
#include "fit/convergence_rate.h"

#include <math.h>

/* The rule applies once the work is MIN_WORK of the other solver's, and again when the work has
 * grown by GROWTH: a rate is measured over at least a third of all work. */
static const double MIN_WORK = 0.5, GROWTH = 1.5;

bool convergence_is_slow(struct convergence_rate *rate, double work, double gap, double target) {
    if (rate->last_gap == 0) {
        rate->last_gap = gap;
        rate->last_work = work;
        return false;
    }
    if (!(work >= MIN_WORK * rate->other && work >= GROWTH * rate->last_work)) {
        return false;
    }
    double fallen = log(rate->last_gap / gap), remaining = log(gap / target);
    double done = work - rate->last_work;
    rate->last_work = work;
    rate->last_gap = gap;
    return remaining > 0 && !(fallen > 0 && remaining / fallen * done <= rate->other);
}

uint64_t sweeps_to_next_evaluation(double gap, double last, uint64_t sweeps, double target,
                                   uint64_t so_far) {
    enum { FRACTION = 16, MIN_SWEEPS = 3 };
    double rate = isfinite(last) && gap < last ? log(last / gap) / (double)sweeps : 0;
    double expected = rate > 0 ? 0.7 * log(gap / target) / rate : 1;
    double max_sweeps = fmax(MIN_SWEEPS, (double)so_far / FRACTION);
    return (uint64_t)fmax(1, fmin(ceil(expected), max_sweeps));
}
