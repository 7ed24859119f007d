/* Decimal numbers as text, for labels: compared exactly, whatever the number of their digits.
 *
 * number = [sign] digits [. digits] [e [sign] digits]  (as number_parse: also 1. and .5e3)
 *
 * nan, inf and 0x10 are not numbers, nor is a number whose exponent has more than nine significant
 * digits. */
#ifndef COMMON_DATA_DECIMAL_H
#define COMMON_DATA_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decimal {
    bool negative; /* false for 0 */
    /* the digits from the first to the last non-zero one, perhaps with a point between; last
     * points behind it, and equals first for 0 */
    const char *first, *last;
    int64_t exponent; /* the magnitude is 0.DIGITS * 10^exponent */
};

/* True if the whole text of `length` bytes, which the decimal borrows, is a number. */
bool decimal_read(struct decimal *decimal, const char *text, size_t length);

/* Negative, positive or 0, as a is less than, greater than or equal to b. */
int decimal_compare(const struct decimal *a, const struct decimal *b);

/* True if a number is above 0. */
bool decimal_is_positive(const struct decimal *decimal);

/* Equal for all spellings of a number: FNV-1a of the significant digits, then of sign and exponent.
 * The steps are available one by one, for code that scans the digits anyway. */
uint64_t decimal_hash(const struct decimal *decimal);

#define DECIMAL_HASH_START UINT64_C(0xcbf29ce484222325)
static inline uint64_t decimal_hash_digit(uint64_t h, char digit) {
    return (h ^ (unsigned char)digit) * UINT64_C(0x100000001b3);
}
static inline uint64_t decimal_hash_end(uint64_t h, bool negative, int64_t exponent) {
    return (h ^ (uint64_t)exponent << 1 ^ (uint64_t)negative) * UINT64_C(0x100000001b3);
}

/* True if it is a whole number that an int holds. */
bool decimal_to_int(const struct decimal *decimal, int *value);

#endif
