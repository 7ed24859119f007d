/* The table of powers of ten, from integers of its own: `powers write` prints
 * common/base/powers.inc; without an argument the table in use is checked. */
#include "common/base/digits.h"
#include "tests/unit/check.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { FIRST = -342, LAST = 324, LIMBS = 48 };

struct natural { /* 32-bit limbs, lowest first, n of them */
    uint32_t limb[LIMBS];
    int n;
};

static void natural_multiply(struct natural *number, uint32_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < number->n; i++) {
        carry += (uint64_t)number->limb[i] * factor;
        number->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) {
        number->limb[number->n++] = (uint32_t)carry;
    }
}

static int natural_bit(const struct natural *number, int bit) {
    return bit >= 0 && bit / 32 < number->n ? (int)(number->limb[bit / 32] >> (bit % 32) & 1) : 0;
}

/* number = 2 number + bit; then, if it is not below the divisor, minus the divisor: true. */
static bool natural_divide_step(struct natural *number, const struct natural *divisor, int bit) {
    natural_multiply(number, 2);
    if (number->n == 0) {
        number->limb[0] = 0;
        number->n = 1;
    }
    number->limb[0] |= (uint32_t)bit;
    int order = number->n - divisor->n;
    for (int i = divisor->n - 1; i >= 0 && order == 0; i--) {
        order = number->limb[i] < divisor->limb[i] ? -1 : number->limb[i] > divisor->limb[i];
    }
    if (order < 0) {
        return false;
    }
    int64_t borrow = 0;
    for (int i = 0; i < number->n; i++) {
        int64_t difference =
            (int64_t)number->limb[i] - (i < divisor->n ? divisor->limb[i] : 0) + borrow;
        number->limb[i] = (uint32_t)difference;
        borrow = difference < 0 ? -1 : 0;
    }
    while (number->n > 0 && number->limb[number->n - 1] == 0) {
        number->n--;
    }
    return true;
}

/* The leading 128 bits of 10^q = 2^q 5^q: of 5^q, or of 2^something / 5^-q. */
static void leading_bits(int q, uint64_t words[2]) {
    struct natural five = {.limb = {1}, .n = 1};
    for (int i = 0; i < (q < 0 ? -q : q); i++) {
        natural_multiply(&five, 5);
    }
    words[0] = words[1] = 0;
    if (q >= 0) {
        int top = 32 * five.n - 1;
        while (!natural_bit(&five, top)) {
            top--;
        }
        for (int i = 0; i < 128; i++) {
            words[i / 64] = words[i / 64] << 1 | (uint64_t)natural_bit(&five, top - i);
        }
        return;
    }
    struct natural rest = {.n = 0};
    int bits = 0;
    for (int one = 1; bits < 128; one = 0) { /* 1.000... / five, from its first bit that is set */
        bool bit = natural_divide_step(&rest, &five, one);
        if (bits > 0 || bit) {
            words[bits / 64] = words[bits / 64] << 1 | bit;
            bits++;
        }
    }
}

static void print_powers(void) {
    puts("/* The leading 128 bits of 10^q, cut: tests/unit/common/base/powers writes and checks "
         "it. */");
    for (int q = FIRST; q <= LAST; q++) {
        uint64_t words[2];
        leading_bits(q, words);
        printf("    {0x%016" PRIx64 ", 0x%016" PRIx64 "}, /* %d */\n", words[0], words[1], q);
    }
}

static void check_powers(void) {
    static const uint64_t table[][2] = {
#include "common/base/powers.inc"
    };
    CHECK(sizeof table / sizeof *table == LAST - FIRST + 1, "length of the table of powers");
    for (int q = FIRST; q <= LAST; q++) {
        uint64_t words[2];
        leading_bits(q, words);
        CHECK(words[0] == table[q - FIRST][0] && words[1] == table[q - FIRST][1],
              "10^%d in the table of powers", q);
    }
    puts("ok: the table of powers of ten");
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "write") == 0) {
        print_powers();
    } else {
        check_powers();
    }
    return 0;
}
