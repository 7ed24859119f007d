/* The test that double-double arithmetic is intact (exactness.h). */
#include "common/double_double/exactness.h"

#include "common/double_double/dd.h"

bool dd_is_exact(void) {
    /* Volatile, so that the compiler evaluates nothing in advance. */
    volatile double above = 1 + 0x1p-30, below = 1 - 0x1p-30, one = 1, tiny = 0x1p-60;
    double x = above, y = below, z = one;
    double rounded = x * y - z; /* x y = 1 - 2^-60 rounds to 1; contracted it is -2^-60 */
    struct dd sum = dd_two_sum(one, tiny);
    return rounded == 0 && sum.hi == 1 && sum.lo == 0x1p-60;
}
