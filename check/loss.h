/* The loss that all families share. */
#ifndef CHECK_LOSS_H
#define CHECK_LOSS_H

#include "check/ball.h"

#include <stdbool.h>

/* max(0, u), or its square. */
static inline struct ball loss_of(bool squared, struct ball u) {
    u = ball_positive(u);
    return squared ? ball_multiply(u, u) : u;
}

#endif
