/* A test at run time that the build has left double-double arithmetic intact. */
#ifndef COMMON_DOUBLE_DOUBLE_EXACTNESS_H
#define COMMON_DOUBLE_DOUBLE_EXACTNESS_H

#include <stdbool.h>

/* Whether a product and a sum are rounded one after the other, and the error of a sum is found
 * exactly, in files named *_dd.c: false where the compiler contracts them to one operation
 * (-ffp-contract) or reorders sums (-ffast-math). A certificate must then not be issued. */
bool dd_is_exact(void);

#endif
