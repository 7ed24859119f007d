#include "fit/convergence_rate.h"

#include <math.h>

/* Work so far, relative to the other method's, before that is thought of; how much it grows between
 * two looks: a pace is measured over a third of all work at least. */
static const double PAID = 0.5, GROWTH = 1.5;

bool pace_slow(struct pace *pace, double work, double gap, double wanted) {
    if (pace->last_gap == 0) {
        pace->last_gap = gap;
        pace->last_work = work;
        return false;
    }
    if (!(work >= PAID * pace->other && work >= GROWTH * pace->last_work)) {
        return false;
    }
    double fallen = log(pace->last_gap / gap), left = log(gap / wanted);
    double done = work - pace->last_work;
    pace->last_work = work;
    pace->last_gap = gap;
    return left > 0 && !(fallen > 0 && left / fallen * done <= pace->other);
}

uint64_t pace_wait(double gap, double last, uint64_t sweeps, double wanted, uint64_t so_far) {
    enum { PART = 16, FIRST = 3 };
    double rate = isfinite(last) && gap < last ? log(last / gap) / (double)sweeps : 0;
    double need = rate > 0 ? 0.7 * log(gap / wanted) / rate : 1;
    double most = fmax(FIRST, (double)so_far / PART);
    return (uint64_t)fmax(1, fmin(ceil(need), most));
}
