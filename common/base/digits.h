/* Decimal digits, eight bytes at a time in a 64-bit word, without branches on the text.
 *
 * digits_load returns a word whose lowest byte is the first character, with '0' subtracted from
 * each byte (so that digits are 0 to 9); digits_count is the number of leading digits, and
 * digits_value their value. */
#ifndef COMMON_BASE_DIGITS_H
#define COMMON_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

/* The characters, the first in the lowest byte. text must have eight readable bytes. */
static inline uint64_t digits_text(const char *text) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* text must have eight readable bytes. */
static inline uint64_t digits_load(const char *text) {
    return digits_text(text) ^ UINT64_C(0x3030303030303030);
}

/* The top bits of the bytes that are not digits. A byte is not a digit if it is over 9: then adding
 * 0x76 sets its top bit, or the top bit is set already. */
static inline uint64_t digits_others(uint64_t word) {
    uint64_t low = word & UINT64_C(0x7f7f7f7f7f7f7f7f);
    return ((low + UINT64_C(0x7676767676767676)) | word) & UINT64_C(0x8080808080808080);
}

/* The number of leading digits, 0 to 8. */
static inline unsigned digits_count(uint64_t word) {
    uint64_t other = digits_others(word);
    return other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

/* The value of the first n characters, all of them digits; 0 for n = 0. Missing digits become
 * leading zeros, then neighbours are combined to numbers of 2, 4 and 8 digits. */
static inline uint64_t digits_value(uint64_t word, unsigned n) {
    unsigned half = 32 - 4 * n; /* two steps: a shift by 64 is not defined */
    word = word << half << half;
    word = (word * 10 + (word >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    word = (word * 100 + (word >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return (word * 10000 + (word >> 32)) & UINT64_C(0x00000000ffffffff);
}

/* The same for n of 1 to 8. */
static inline uint64_t digits_some(uint64_t word, unsigned n) {
    const uint64_t pairs = UINT64_C(0x000000ff000000ff);
    word <<= 64 - 8 * n;
    word = word * 10 +
           (word >> 8); /* add the 1st and 3rd, and the 2nd and 4th pair, with their weights */
    return ((word & pairs) * (100 + (UINT64_C(1000000) << 32)) +
            (word >> 16 & pairs) * (1 + (UINT64_C(10000) << 32))) >>
           32;
}

/* Writes the eight digits of value < 10^8, leading zeros too: the inverse of digits_value. */
static inline void digits_store(char *text, uint32_t value) {
    uint64_t word = value / 10000 | (uint64_t)(value % 10000) << 32;
    /* n / 100 = n 5243 >> 19 for n < 10^4, n / 10 = n 103 >> 10 for n < 100, in each part */
    uint64_t quotient = (word * 5243) >> 19 & UINT64_C(0x0000007f0000007f);
    word = quotient | (word - quotient * 100) << 16;
    quotient = (word * 103) >> 10 & UINT64_C(0x000f000f000f000f);
    word = (quotient | (word - quotient * 10) << 8) | UINT64_C(0x3030303030303030);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(text, &word, sizeof word);
}

/* 10^n for n of 0 to 19. */
static inline uint64_t digits_power(unsigned n) {
    static const uint64_t power[20] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                       1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
    return power[n];
}

#endif
