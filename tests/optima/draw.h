/* Random numbers for the generators of trials. */
#ifndef TESTS_OPTIMA_DRAW_H
#define TESTS_OPTIMA_DRAW_H

#include <stdbool.h>
#include <stdint.h>

/* Splitmix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA
 * 2014). */
static inline uint64_t next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline unsigned below(uint64_t *state, unsigned n) {
    return (unsigned)(next(state) >> 33) % n;
}

static inline bool one_in(uint64_t *state, unsigned n) {
    return below(state, n) == 0;
}

#endif
