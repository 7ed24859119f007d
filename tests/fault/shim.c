/* A shim that makes the k-th call of one kind fail.
 *
 * Preloaded (LD_PRELOAD), it intercepts the calls of the program and of its libraries after the
 * start of main. Compiled with FAULT_WRAP and linked with --wrap, it intercepts the program's own
 * calls, also under the address sanitizer, whose allocator must come first.
 *
 *   FAULT_CALL   memory, thread, map, read, write, open, close, sync, rename or link
 *   FAULT_AT     which of these calls fails, from 1
 *   FAULT_ON     1: the following ones fail too
 *   FAULT_HOW    an errno, or `short`: a read or write of half the bytes
 *   FAULT_FILE   created when a call fails */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum call { MEMORY, THREAD, MAP, READ, WRITE, OPEN, CLOSE, SYNC, RENAME, LINK, N_CALLS };

static const char *const names[N_CALLS] = {"memory", "thread", "map",  "read",   "write",
                                           "open",   "close",  "sync", "rename", "link"};
static enum call chosen = N_CALLS;
static unsigned long at;
static bool onwards, cut;
static int number;
static atomic_ulong count;
static atomic_bool armed;

static void arm(void) {
    const char *call = getenv("FAULT_CALL"), *first = getenv("FAULT_AT"),
               *how = getenv("FAULT_HOW");
    const char *on = getenv("FAULT_ON");
    for (int i = 0; call && i < N_CALLS; i++) {
        chosen = strcmp(call, names[i]) == 0 ? (enum call)i : chosen;
    }
    at = first ? strtoul(first, NULL, 10) : 0;
    onwards = on && strcmp(on, "1") == 0;
    cut = how && strcmp(how, "short") == 0;
    number = how && !cut ? (int)strtol(how, NULL, 10) : 0;
    atomic_store(&armed, true);
}

/* Returns whether this call must fail. */
static bool strikes(enum call call) {
    if (call != chosen || !atomic_load(&armed)) {
        return false;
    }
    unsigned long n = atomic_fetch_add(&count, 1) + 1;
    const char *file = getenv("FAULT_FILE");
    if (n == at && file) {
        long fd = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0) {
            syscall(SYS_close, fd);
        }
    }
    return n == at || (onwards && n > at);
}

#ifdef FAULT_WRAP
#define REAL(name) __real_##name
#define FAKE(name) __wrap_##name
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);

__attribute__((constructor)) static void arm_at_start(void) {
    arm();
}
#else
#define REAL(name) __libc_##name
#define FAKE(name) name
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
#define __libc_aligned_alloc __libc_memalign

static int (*program)(int, char **, char **);

static int armed_main(int argc, char **argv, char **environment) {
    arm();
    int status = program(argc, argv, environment);
    atomic_store(&armed, false);
    return status;
}

/* ISO C cannot convert the pointer of dlsym to a function pointer. */
#define NEXT(name)                                                                                 \
    static __typeof__(name) *next;                                                                 \
    if (!next) {                                                                                   \
        *(void **)&next = dlsym(RTLD_NEXT, #name);                                                 \
    }

int __libc_start_main(int (*own)(int, char **, char **), int argc, char **argv, void (*begin)(void),
                      void (*end)(void), void (*unload)(void), void *stack);
int __libc_start_main(int (*own)(int, char **, char **), int argc, char **argv, void (*begin)(void),
                      void (*end)(void), void (*unload)(void), void *stack) {
    NEXT(__libc_start_main)
    program = own;
    return next(armed_main, argc, argv, begin, end, unload, stack);
}
#endif

/* ---- memory and threads ---- */

static bool no_memory(void) {
    bool none = strikes(MEMORY);
    errno = none ? ENOMEM : errno;
    return none;
}

void *FAKE(malloc)(size_t size) {
    return no_memory() ? NULL : REAL(malloc)(size);
}

void *FAKE(calloc)(size_t n, size_t size) {
    return no_memory() ? NULL : REAL(calloc)(n, size);
}

void *FAKE(realloc)(void *block, size_t size) {
    return no_memory() ? NULL : REAL(realloc)(block, size);
}

void *FAKE(aligned_alloc)(size_t alignment, size_t size) {
    return no_memory() ? NULL : REAL(aligned_alloc)(alignment, size);
}

#ifdef FAULT_WRAP
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument) {
    return strikes(THREAD) ? EAGAIN : __real_pthread_create(thread, attributes, start, argument);
}
#else
int posix_memalign(void **block, size_t alignment, size_t size) {
    *block = no_memory() ? NULL : __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
    NEXT(pthread_create)
    return strikes(THREAD) ? EAGAIN : next(thread, attributes, start, argument);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    NEXT(mmap)
    if (strikes(MAP)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return next(address, length, protection, flags, fd, offset);
}

/* ---- files ---- */

/* Fails as FAULT_HOW states. */
static bool fails(enum call call) {
    bool failed = strikes(call);
    errno = failed ? number : errno;
    return failed;
}

/* The same for a transfer of *n bytes, which becomes half of them for `short`. */
static bool fails_to_move(enum call call, size_t *n) {
    if (!strikes(call)) {
        return false;
    }
    errno = cut ? errno : number;
    *n = cut && *n > 1 ? *n / 2 : *n;
    return !cut;
}

ssize_t read(int fd, void *bytes, size_t n) {
    NEXT(read)
    return fails_to_move(READ, &n) ? -1 : next(fd, bytes, n);
}

ssize_t write(int fd, const void *bytes, size_t n) {
    NEXT(write)
    return fails_to_move(WRITE, &n) ? -1 : next(fd, bytes, n);
}

int open(const char *path, int flags, ...) {
    NEXT(open)
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    return fails(OPEN) ? -1 : next(path, flags, mode);
}

/* Linux closes the descriptor even if close fails. */
int close(int fd) {
    NEXT(close)
    bool failed = strikes(CLOSE);
    int status = next(fd);
    if (failed) {
        errno = number;
        return -1;
    }
    return status;
}

int fsync(int fd) {
    NEXT(fsync)
    return fails(SYNC) ? -1 : next(fd);
}

int rename(const char *from, const char *to) {
    NEXT(rename)
    return fails(RENAME) ? -1 : next(from, to);
}

int linkat(int from, const char *path, int to, const char *name, int flags) {
    NEXT(linkat)
    return fails(LINK) ? -1 : next(from, path, to, name, flags);
}
#endif
