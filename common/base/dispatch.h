/* Run-time choice of the vector instructions: a function marked DISPATCH is compiled for several
 * instruction sets, and the loader picks by the processor at hand. The source stays plain C. */
#ifndef COMMON_BASE_DISPATCH_H
#define COMMON_BASE_DISPATCH_H

/* Resolvers of clones run before the sanitizers' own start-up, so these builds go without. So do
 * builds for a machine with AVX2 (-march=native): gcc would not inline a helper compiled for that
 * machine into a clone for a plainer one, and there is nothing to choose; and clang, whose clones
 * other files cannot call. */
#if defined(__x86_64__) && defined(__linux__) && !defined(__AVX2__) && !defined(__clang__) &&      \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DISPATCH __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#elif defined(__AVX512F__) && !defined(__clang__)
/* Tuned for a machine gcc takes half of its vectors. */
#define DISPATCH __attribute__((target("prefer-vector-width=512")))
#else
#define DISPATCH
#endif

#endif
