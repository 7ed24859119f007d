/* Pseudo-random numbers, the same on every machine: xoshiro256** (Blackman & Vigna 2018), seeded by
 * splitmix64. */
#ifndef COMMON_BASE_RANDOM_H
#define COMMON_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state[4];
};

/* Starts a stream of a seed; `stream` separates the uses of one seed. */
void random_start(struct random *random, uint64_t seed, uint64_t stream);

/* 64 random bits. */
uint64_t random_bits(struct random *random);

/* Uniform on 0..n-1, without bias; n > 0. */
uint64_t random_below(struct random *random, uint64_t n);

/* Uniform on [0, 1), 53 bits. */
double random_unit(struct random *random);

/* Shuffles order[0..n) uniformly. */
void random_shuffle(struct random *random, uint32_t *order, size_t n);

#endif
