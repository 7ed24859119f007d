/* The type of double-double numbers, for files that store and pass them; arithmetic is in dd.h. */
#ifndef COMMON_DOUBLE_DOUBLE_TYPE_H
#define COMMON_DOUBLE_DOUBLE_TYPE_H

/* hi + lo, |lo| <= ulp(hi) / 2. */
struct dd {
    double hi, lo;
};

#endif
