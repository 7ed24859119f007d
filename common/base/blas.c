/* The pool of OpenBLAS buffers. _GNU_SOURCE: nanosleep, MAP_ANONYMOUS. */
#define _GNU_SOURCE
#include "common/base/blas.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>

/* Symbols of OpenBLAS that its headers do not declare. The argument is a hint without effect. */
void *blas_memory_alloc(int place);
void blas_memory_free(void *buffer);
int openblas_get_num_threads(void);
extern int blas_server_avail
    __attribute__((weak)); /* true if OpenBLAS has started threads of its own */

/* A buffer is 128 MB, the rest is for alignment and the allocator. OpenBLAS may support no more
 * than MAX_BUFFERS buffers: from there on the pool is not filled further. */
static const size_t BUFFER_BYTES = (size_t)129 << 20;
enum { MAX_BUFFERS = 64 };

/* OpenBLAS has one pool for the process, so its state is global here, too. */
static struct {
    pthread_mutex_t mutex;
    size_t callers, buffers; /* threads that may call BLAS; minimum number of buffers in the pool */
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool memory_there(size_t bytes) {
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block != MAP_FAILED && munmap(block, bytes) == 0;
}

static size_t own_threads(void) {
    int n = openblas_get_num_threads();
    return n > 1 ? (size_t)n - 1 : 0;
}

/* Allocates `wanted` buffers together, as far as there is memory, and returns them to the pool.
 * Returns their number. Threads of OpenBLAS, which embedding applications may have started, each
 * allocate a buffer when they start: if memory may not suffice for these too, they are given time
 * to start first. */
static size_t fill(size_t wanted) {
    const struct timespec start = {.tv_nsec = 100000000};
    void *buffer[MAX_BUFFERS];
    size_t n = 0, own = own_threads();
    if (own > 0 && !memory_there((own + wanted) * BUFFER_BYTES)) {
        nanosleep(&start, NULL);
    }
    while (n < wanted && memory_there(BUFFER_BYTES) && (buffer[n] = blas_memory_alloc(0))) {
        n++;
    }
    for (size_t i = 0; i < n; i++) {
        blas_memory_free(buffer[i]);
    }
    return n;
}

int blas_join(size_t *n, struct error *err) {
    pthread_mutex_lock(&pool.mutex);
    size_t wanted = pool.callers + *n < MAX_BUFFERS ? pool.callers + *n : MAX_BUFFERS;
    if (pool.buffers < wanted) {
        size_t n_buffers = fill(wanted);
        pool.buffers = n_buffers > pool.buffers ? n_buffers : pool.buffers;
    }
    size_t got = pool.buffers > pool.callers ? pool.buffers - pool.callers : 0;
    *n = pool.buffers == MAX_BUFFERS || got > *n ? *n : got;
    pool.callers += *n;
    pthread_mutex_unlock(&pool.mutex);
    return *n > 0 ? 0
                  : error_set(err, ERROR_RUNTIME,
                              "out of memory: 128 MB for OpenBLAS, more than a limit leaves "
                              "(ulimit -d, ulimit -v, overcommit)");
}

void blas_leave(size_t n) {
    pthread_mutex_lock(&pool.mutex);
    pool.callers -= n;
    pthread_mutex_unlock(&pool.mutex);
}

/* At the end of the process OpenBLAS waits for its own threads. If there is no memory, these may
 * retry an allocation forever: OpenBLAS is then told that it has none. This destructor runs before
 * that of OpenBLAS. */
__attribute__((destructor)) static void leave_threads(void) {
    if (own_threads() > 0 && &blas_server_avail && !memory_there(BUFFER_BYTES)) {
        blas_server_avail = 0;
    }
}
