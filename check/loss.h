/* What the losses of all families are made of. */
#ifndef CHECK_LOSS_H
#define CHECK_LOSS_H

#include "check/ball.h"

#include <stdbool.h>

/* max(0, u) or its square. */
static inline struct ball loss_of(bool squared, struct ball u) {
    u = ball_positive(u);
    return squared ? ball_multiply(u, u) : u;
}

/* How far over a bound a coefficient may be, relatively: so much rounding is repaired, more is not
 * feasible. */
static const double LOSS_TOLERANCE = 1e-9;

/* Takes alpha to its upper bound if rounding alone has it above; false where it is above by
 * more. */
static inline bool loss_clip(struct ball most, struct ball *alpha) {
    struct ball excused = ball_multiply(most, ball_of(1 + LOSS_TOLERANCE));
    if (!ball_at_most(*alpha, excused)) {
        return false;
    }
    *alpha = ball_minimum(*alpha, most);
    return true;
}

#endif
