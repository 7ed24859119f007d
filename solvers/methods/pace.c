#include "solvers/methods/pace.h"

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
