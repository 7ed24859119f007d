/* Flush-to-zero arithmetic of the calling thread, on x86; elsewhere nothing changes. Results and
 * operands of magnitude below the normal range then count as zero. Many processors take a hundred
 * times as long for such numbers, which a kernel matrix has by the million if its values decay
 * quickly: with 1,000 rows and an rbf kernel of large gamma a Cholesky factorisation takes 10 times
 * as long. Only for sums and products that no bound of a certificate relies on, for these assume
 * gradual underflow. */
#ifndef COMMON_BASE_FLUSH_H
#define COMMON_BASE_FLUSH_H

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

/* The mode of the calling thread. */
static inline unsigned flush_mode(void) {
#ifdef __SSE2__
    return _mm_getcsr();
#else
    return 0;
#endif
}

/* Sets the mode of the calling thread, which is one that flush_mode or flush_begin returned. */
static inline void flush_set_mode(unsigned mode) {
#ifdef __SSE2__
    _mm_setcsr(mode);
#else
    (void)mode;
#endif
}

/* Begins to flush. Returns the mode before, for flush_set_mode. */
static inline unsigned flush_begin(void) {
    const unsigned flush_results = 0x8000, flush_operands = 0x40; /* bits of the MXCSR register */
    unsigned before = flush_mode();
    flush_set_mode(before | flush_results | flush_operands);
    return before;
}

#endif
