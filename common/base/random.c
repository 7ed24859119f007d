/* xoshiro256** and splitmix64, after the public-domain code of their authors. */
#include "common/base/random.h"

static uint64_t splitmix(uint64_t *x) {
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

void random_start(struct random *random, uint64_t seed, uint64_t stream) {
    uint64_t x = seed;
    x = splitmix(&x) ^ stream;
    for (int i = 0; i < 4; i++) {
        random->state[i] = splitmix(&x);
    }
}

uint64_t random_bits(struct random *random) {
    uint64_t *s = random->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t random_below(struct random *random, uint64_t n) {
    uint64_t excess =
        (0 - n) % n; /* 2^64 mod n: the number of values that would bias the remainder */
    uint64_t bits;
    do {
        bits = random_bits(random);
    } while (bits < excess);
    return bits % n;
}

double random_unit(struct random *random) {
    return (double)(random_bits(random) >> 11) * 0x1p-53;
}

void random_shuffle(struct random *random, uint32_t *order, size_t n) {
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)random_below(random, i);
        uint32_t swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
}
