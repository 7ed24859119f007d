/* A constructor that starts OpenBLAS with one thread and without waiting for memory
 * (blas_start.h). */
#define _GNU_SOURCE /* syscall */
#include "driver/blas_start.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Part of OpenBLAS, but not of every version of its header. */
void openblas_set_num_threads(int n);

/* Before libraries are initialised there is neither malloc nor a sanitizer: only loops and system
 * calls. */
#define BARE __attribute__((no_sanitize("address", "undefined")))

BARE static size_t length_of(const char *text) {
    size_t n = 0;
    while (text[n]) {
        n++;
    }
    return n;
}

BARE static void say(const char *text) {
    syscall(SYS_write, STDERR_FILENO, text, length_of(text));
}

/* Ends the program if the limit is below `least` bytes. */
BARE static void want(const char *program, int resource, rlim_t least, const char *otherwise) {
    struct rlimit limit;
    if (syscall(SYS_prlimit64, 0, resource, NULL, &limit) == 0 && limit.rlim_cur < least) {
        say(program);
        say(otherwise);
        syscall(SYS_exit_group, EXIT_FAILURE);
    }
}

BARE static void check_limits(int argc, char **argv, char **environment) {
    (void)environment;
    const char *program = argc > 0 ? argv[0] : "dualsvm";
    for (const char *at = program; *at; at++) {
        program = *at == '/' ? at + 1 : program;
    }
    want(program, RLIMIT_AS, (rlim_t)320 << 20,
         ": the address space is limited (ulimit -v) to less than the 327680 kB that are needed\n");
    want(program, RLIMIT_STACK, (rlim_t)256 << 10,
         ": the stack is limited (ulimit -s) to less than the 256 kB that are needed\n");
}

__attribute__((section(".preinit_array"),
               used)) static void (*const before_libraries)(int, char **, char **) = check_limits;

/* The name of the OpenBLAS kernels for this processor's vectors; NULL: OpenBLAS chooses. It chooses
 * by the model number, and takes the SSE kernels for a processor newer than itself, a quarter as
 * fast. */
static char *choose_kernels(void) {
#if defined(__x86_64__)
    static char wide[] = "SkylakeX", narrow[] = "Haswell";
    __builtin_cpu_init(); /* constructors have not run yet */
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        return wide;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return narrow;
    }
#endif
    return NULL;
}

/* Replaces the function of libc, also for libraries: OpenBLAS calls it when it is loaded. */
__attribute__((visibility("default"))) char *getenv(const char *name) {
    static char one[] = "1";
    size_t length = strlen(name);
    if (strcmp(name, "OPENBLAS_NUM_THREADS") == 0) {
        return one;
    }
    for (char **entry = environ; entry && *entry; entry++) {
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
            return *entry + length + 1;
        }
    }
    return strcmp(name, "OPENBLAS_CORETYPE") == 0 ? choose_kernels() : NULL;
}

void blas_start(void) {
    openblas_set_num_threads(1); /* for a build of OpenBLAS that does not read the environment */
}
