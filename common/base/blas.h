/* Working memory of OpenBLAS. Each call of BLAS that is under way takes a buffer of 128 MB of
 * addresses from a pool of the process, which grows as it is asked; where the system refuses a
 * buffer (ulimit -d, ulimit -v, strict overcommit), OpenBLAS asks again for ever. So the pool is
 * made large enough before the first call. */
#ifndef COMMON_BASE_BLAS_H
#define COMMON_BASE_BLAS_H

#include "common/base/error.h"

#include <stddef.h>

/* Makes the pool large enough for *n more threads (1 at least) that call BLAS at once. Where memory
 * is short, *n becomes the number that it is enough for; fails if that is 0. Any thread may call
 * it. */
int blas_join(size_t *n, struct error *err);

/* Those n threads call BLAS no more. Their buffers stay in the pool. */
void blas_leave(size_t n);

#endif
