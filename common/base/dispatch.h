/* Run-time selection of vector instructions: a function marked DISPATCH is compiled for several
 * instruction sets, and the loader selects one by the processor. The source stays plain C. */
#ifndef COMMON_BASE_DISPATCH_H
#define COMMON_BASE_DISPATCH_H

/* Not under sanitizers, since resolvers of clones run before their start-up. Not with AVX2 as the
 * base (-march=native): gcc does not inline a helper compiled for that machine into a clone for a
 * simpler one, and there is nothing to select. Not with clang, whose clones cannot be called from
 * other files. */
#if defined(__x86_64__) && defined(__linux__) && !defined(__AVX2__) && !defined(__clang__) &&      \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DISPATCH __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#elif defined(__AVX512F__) && !defined(__clang__)
/* When tuned for a machine, gcc uses half of the vector width. */
#define DISPATCH __attribute__((target("prefer-vector-width=512")))
#else
#define DISPATCH
#endif

/* Bytes of a vector (vector_size) that fits into a register of every processor that the file is
 * compiled for. gcc 12 holds longer ones in memory and compares them number by number; in the
 * versions of DISPATCH too, for it divides vectors before it makes these. A test may set it. */
#if defined(VECTOR_BYTES)
#elif defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#endif
