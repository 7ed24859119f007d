/* for nanosleep, MAP_ANONYMOUS */
#define _GNU_SOURCE
#include "common/base/blas.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>

/* OpenBLAS has them, its headers do not. The argument is a hint that nothing depends on. */
void *blas_memory_alloc(int place);
void blas_memory_free(void *buffer);
int openblas_get_num_threads(void);
extern int blas_server_avail
    __attribute__((weak)); /* whether threads of its own have been started */

/* A buffer is 128 MB; the rest is for its alignment and the allocator. Above MAX_BUFFERS buffers
 * OpenBLAS may have no place for more: the pool is then left to itself. */
static const size_t BUFFER_BYTES = (size_t)129 << 20;
enum { MAX_BUFFERS = 64 };

/* The pool is the process's, so what is known of it is, too. */
static struct {
    pthread_mutex_t mutex;
    size_t callers, buffers; /* threads that may call BLAS; buffers that the pool has at least */
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool memory_there(size_t bytes) {
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block != MAP_FAILED && munmap(block, bytes) == 0;
}

static size_t own_threads(void) {
    int n = openblas_get_num_threads();
    return n > 1 ? (size_t)n - 1 : 0;
}

/* Takes `wanted` buffers at once, as far as there is memory, and gives them back to the pool.
 * Returns how many. Threads of OpenBLAS's own, which hosts of the library may have, take a buffer
 * each as they are started: where these would compete for memory, they are given the time to be
 * first. */
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

/* OpenBLAS waits for the end of its own threads as the process ends. Where there is no memory, they
 * may be asking for it for ever: OpenBLAS is then kept from waiting. This runs before its
 * destructor. */
__attribute__((destructor)) static void leave_threads(void) {
    if (own_threads() > 0 && &blas_server_avail && !memory_there(BUFFER_BYTES)) {
        blas_server_avail = 0;
    }
}
