/* Work buffers of OpenBLAS. Each call of BLAS in progress takes a buffer of 128 MB of address space
 * from a pool of the process, which grows on demand; if the system refuses a buffer (ulimit -d,
 * ulimit -v, strict overcommit), OpenBLAS retries forever. So the pool is made large enough before
 * the first call. */
#ifndef COMMON_BASE_BLAS_H
#define COMMON_BASE_BLAS_H

#include "common/base/error.h"

#include <stddef.h>

/* Makes the pool large enough for *n more threads (at least 1) that call BLAS at the same time. If
 * memory is short, *n becomes the number of threads that it suffices for; fails if that is 0. Any
 * thread may call it. */
int blas_join(size_t *n, struct error *err);

/* Ends the use of BLAS by n threads. Their buffers stay in the pool. */
void blas_leave(size_t n);

#endif
