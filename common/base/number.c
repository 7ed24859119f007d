/* Conversion of decimals to doubles and back. One long file: both directions use the same
 * double-word products with powers of ten. */
#include "common/base/number.h"

#include "common/base/digits.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 10^q = m 2^(s - 127) with 2^127 <= m < 2^128, s = floor(q log2 10): the table has floor(m) as two
 * words, for every q at which a 64-bit integer times 10^q can be a finite double that is not 0 and
 * those (to 324) that number_format asks for besides. */
enum { MIN_POWER = -342, MAX_POWER = 324, MAX_EXACT_POWER = 55 /* 5^55 < 2^128: the last exact */ };
static const uint64_t power_table[MAX_POWER - MIN_POWER + 1][2] = {
#include "common/base/powers.inc"
};

static int floor_log2_power(int q) {
    return (q * 217706) >> 16; /* 217706 / 65536 = 3.321930 > log2 10, right for |q| <= 342 */
}

/* ---- Products of two words ------------------------------------------------------------------ */

/* Returns the low word of a b, *high gets the high one. */
static inline uint64_t multiply(uint64_t a, uint64_t b, uint64_t *high) {
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 double_word;
    double_word product = (double_word)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#else
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t low = a0 * b0;
    uint64_t middle = a1 * b0 + (low >> 32);
    uint64_t other = a0 * b1 + (middle & UINT32_MAX);
    *high = a1 * b1 + (middle >> 32) + (other >> 32);
    return (other << 32) | (low & UINT32_MAX);
#endif
}

/* ---- Decimal to double ---------------------------------------------------------------------- */

static double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Brackets digits * 10^exponent (digits > 0): *below gets the bits of the largest double that is
 * not above it. Returns -1 if it rounds there, 1 if to the next double, 0 if 128 bits of the power
 * of ten are too few to tell; then it lies within a few 2^-64 of the middle of the two. */
static inline int bracket(uint64_t digits, int64_t exponent, uint64_t *below) {
    *below = 0;
    if (exponent < MIN_POWER) { /* below 2^64 10^-343 < 2^-1075, half the least double */
        return -1;
    }
    if (exponent > DBL_MAX_10_EXP) {
        *below = UINT64_C(2047) << 52;
        return -1;
    }
    int q = (int)exponent;
    int zeros = __builtin_clzll(digits);
    const uint64_t *power = power_table[q - MIN_POWER];
    uint64_t high, middle, low, carry;
    low = multiply(digits << zeros, power[1], &carry);
    middle = multiply(digits << zeros, power[0], &high);
    middle += carry;
    high += middle < carry;
    int binary = 64 + floor_log2_power(q) - zeros;
    if (!(high >> 63)) {
        high = high << 1 | middle >> 63;
        middle = middle << 1 | low >> 63;
        low <<= 1;
        binary--;
    }
    /* The value is high:middle:low 2^(binary - 191), or less than 4 units of middle more where the
     * power was cut. Keep 53 bits, fewer below the least normal number. */
    int n_bits = binary >= -1022 ? 53 : 53 + binary + 1022;
    if (n_bits < 0) {
        return -1;
    }
    if (binary > 1023) {
        *below = UINT64_C(2047) << 52;
        return -1;
    }
    uint64_t significand = n_bits ? high >> (64 - n_bits) : 0;
    *below = n_bits == 53 ? ((uint64_t)(binary + 1022) << 52) + significand : significand;
    uint64_t tail = n_bits ? high << n_bits : high;
    uint64_t half = UINT64_C(1) << 63;
    if (tail != half) {
        /* truncated by less than 4 units: only a tail of ones below the half can cross it */
        bool unsure = tail == half - (UINT64_C(1) << n_bits) && middle > UINT64_MAX - 4 &&
                      (q < 0 || q > MAX_EXACT_POWER);
        return unsure ? 0 : tail > half ? 1 : -1;
    }
    /* at the midpoint or above; certainly above if the power was truncated */
    bool exact = q >= 0 && q <= MAX_EXACT_POWER;
    return middle > 0 || low > 0 || !exact || (*below & 1) ? 1 : -1;
}

/* strtod, which changes errno; the text has no point, so the locale does not matter. */
static double convert(const char *text) {
    int saved = errno;
    double value = strtod(text, NULL);
    errno = saved;
    return value;
}

double number_scale(uint64_t digits, int64_t exponent) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    /* both are exact, and one operation rounds once (unless registers have more bits) */
    if (FLT_EVAL_METHOD == 0 && digits <= UINT64_C(1) << 53) {
        if (exponent <= 0 && exponent >= -22) {
            return (double)digits / power[-exponent];
        }
        if (exponent > 0 && exponent <= 22) {
            return (double)digits * power[exponent];
        }
    }
    if (digits == 0) {
        return 0;
    }
    uint64_t below;
    int direction = bracket(digits, exponent, &below);
    if (direction == 0) {
        char text[48];
        snprintf(text, sizeof text, "%" PRIu64 "e%" PRId64, digits, exponent);
        return convert(text);
    }
    return from_bits(below + (direction > 0));
}

/* The mantissa as parsed. */
struct mantissa {
    uint64_t digits;  /* the first 19 significant digits */
    unsigned count;   /* number of these digits */
    bool more;        /* one of the digits after them is not 0 */
    uint64_t dropped; /* number of digits after them */
};

enum { WORD_DIGITS = 19 }; /* the number of digits that a 64-bit word always holds */

static const char *take_digits(const char *text, const char *end, struct mantissa *mantissa) {
    if (mantissa->digits == 0) {
        while (text < end && *text == '0') {
            text++;
        }
    }
    while (end - text >= 8 && mantissa->count + 8 <= WORD_DIGITS) {
        uint64_t word = digits_load(text);
        unsigned n = digits_count(word);
        mantissa->digits = mantissa->digits * digits_power(n) + digits_value(word, n);
        mantissa->count += n;
        text += n;
        if (n < 8) {
            return text;
        }
    }
    for (; text < end && *text >= '0' && *text <= '9'; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (mantissa->count < WORD_DIGITS) {
            mantissa->digits = mantissa->digits * 10 + digit;
            mantissa->count++;
        } else {
            mantissa->more |= digit > 0;
            mantissa->dropped++;
        }
    }
    return text;
}

/* The decimal of [text, end) (digits, perhaps a point among them) times 10^exponent. */
static double round_long(const char *text, const char *end, int64_t exponent) {
    enum {
        MOST = 800
    }; /* the midpoint of two doubles has at most 768 digits; one more digit decides */
    char digits[MOST + 32];
    size_t count = 0;
    bool more = false;
    for (; text < end; text++) {
        if (*text == '.') {
            continue;
        }
        if (count < MOST) {
            digits[count] = *text;
            count += count > 0 || *text != '0';
        } else {
            more |= *text != '0';
            exponent++;
        }
    }
    if (more) { /* any digit here has the same effect */
        digits[count++] = '1';
        exponent--;
    }
    snprintf(digits + count, sizeof digits - count, "e%" PRId64, exponent);
    return convert(digits);
}

/* Parses [sign] digits after the letter e. Returns text itself if there are none. */
static const char *take_exponent(const char *text, const char *end, int64_t *exponent) {
    static const int64_t max_value = INT64_MAX / 100; /* beyond any number of digits before it */
    const char *p = text;
    bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    if (p == end || *p < '0' || *p > '9') {
        return text;
    }
    int64_t value = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        value = value < max_value ? value * 10 + (*p - '0') : value;
    }
    *exponent = negative ? -value : value;
    return p;
}

const char *number_parse(const char *text, const char *end, double *value) {
    const char *p = text;
    bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    const char *first = p;
    struct mantissa mantissa = {0};
    p = take_digits(p, end, &mantissa);
    bool any = p > first;
    int64_t fraction = 0;
    if (p < end && *p == '.') {
        const char *point = p++;
        p = take_digits(p, end, &mantissa);
        fraction = p - point - 1;
        any |= fraction > 0;
    }
    if (!any) {
        return NULL;
    }
    const char *last = p;
    int64_t exponent = 0;
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *after = take_exponent(p + 1, end, &exponent);
        p = after > p + 1 ? after : p;
    }
    exponent -= fraction;
    int64_t scale = exponent + (int64_t)mantissa.dropped;
    double magnitude;
    if (!mantissa.more) {
        magnitude = number_scale(mantissa.digits, scale);
    } else { /* between digits and digits + 1 */
        uint64_t below, above;
        int direction = bracket(mantissa.digits, scale, &below);
        int direction_above = bracket(mantissa.digits + 1, scale, &above);
        uint64_t rounded = below + (direction > 0), rounded_above = above + (direction_above > 0);
        magnitude = direction && direction_above && rounded == rounded_above
                        ? from_bits(rounded)
                        : round_long(first, last, exponent);
    }
    *value = negative ? -magnitude : magnitude;
    return p;
}

const char *number_parse_unsigned(const char *text, const char *end, uint64_t *value) {
    const char *p = text;
    uint64_t total = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (total > (UINT64_MAX - digit) / 10) {
            return NULL;
        }
        total = total * 10 + digit;
    }
    *value = total;
    return p > text ? p : NULL;
}

bool number_parse_whole(const char *text, double *value) {
    const char *end = text + strlen(text);
    double parsed;
    if (number_parse(text, end, &parsed) != end || !isfinite(parsed)) {
        return false;
    }
    *value = parsed;
    return true;
}

/* ---- Double to shortest decimal ------------------------------------------------------------- */

/* product of factor and the power's 128 bits, its top word, the lowest bit set if anything is
 * below it: enough to compare with integers. The power is cut and then raised by one unit, for
 * which the word below counts from 2 on. */
static uint64_t round_to_odd(const uint64_t power[2], uint64_t factor) {
    uint64_t high, middle, carry;
    (void)multiply(power[1], factor, &carry);
    middle = multiply(power[0], factor, &high);
    middle += carry;
    high += middle < carry;
    return high | (middle > 1);
}

/* The shortest decimal in the interval of numbers that round to c 2^q, c > 0, and the nearest to
 * c 2^q of these: digits 10^*exponent. near: the number below c 2^q is only half a unit away. */
static uint64_t shortest(uint64_t c, int q, bool near, int *exponent) {
    /* k = floor(log10 of the interval's width, 2^q or 3/4 2^q) */
    int k = (q * 315653 - (near ? 131008 : 0)) >> 20; /* log10 2 2^20, log10 4/3 2^20 */
    int shift = q + floor_log2_power(-k) + 1;
    uint64_t power[2] = {power_table[-k - MIN_POWER][0], power_table[-k - MIN_POWER][1]};
    if (-k < 0 || -k > MAX_EXACT_POWER) {
        power[1]++;
        power[0] += power[1] == 0;
    }
    /* the number and the ends of the interval, in quarters of 10^k */
    uint64_t value = round_to_odd(power, 4 * c << shift);
    uint64_t left = round_to_odd(power, (4 * c - (near ? 1 : 2)) << shift) + (c & 1);
    uint64_t right = round_to_odd(power, (4 * c + 2) << shift) - (c & 1);
    uint64_t floor1 = value / 4;
    if (floor1 >= 10) { /* one digit less */
        uint64_t floor10 = floor1 / 10;
        bool low = left <= 40 * floor10, high = 40 * floor10 + 40 <= right;
        if (low != high) {
            *exponent = k + 1;
            return floor10 + high;
        }
    }
    *exponent = k;
    bool low = left <= 4 * floor1, high = 4 * floor1 + 4 <= right;
    if (low != high) {
        return floor1 + high;
    }
    uint64_t middle = 4 * floor1 + 2;
    return floor1 + (value > middle || (value == middle && (floor1 & 1)));
}

/* Writes [-]digits 10^exponent, digits > 0: as it is where zeros are few, else with an exponent. */
static size_t write_decimal(bool negative, uint64_t digits, int exponent, char *text) {
    enum { EIGHT_DIGITS = 100000000, MAX_WORDS = 3 };
    char buffer[8 * MAX_WORDS];
    size_t words = 0;
    do {
        words++;
        digits_store(buffer + sizeof buffer - 8 * words, (uint32_t)(digits % EIGHT_DIGITS));
        digits /= EIGHT_DIGITS;
    } while (digits > 0);
    const char *digit = buffer + sizeof buffer - 8 * words, *end = buffer + sizeof buffer;
    while (*digit == '0') {
        digit++;
    }
    while (end[-1] == '0') {
        end--;
        exponent++;
    }
    size_t n = (size_t)(end - digit);
    int point = (int)n + exponent; /* number of digits before the point */
    char *out = text;
    if (negative) {
        *out++ = '-';
    }
    if (exponent >= 0 && point <= 17) {
        memcpy(out, digit, n);
        memset(out + n, '0', (size_t)exponent);
        out += point;
    } else if (point > -5 && point <= 17) {
        if (point <= 0) {
            *out++ = '0';
            *out++ = '.';
            memset(out, '0', (size_t)-point);
            out += -point;
            memcpy(out, digit, n);
            out += n;
        } else {
            memcpy(out, digit, (size_t)point);
            out += point;
            *out++ = '.';
            memcpy(out, digit + point, n - (size_t)point);
            out += n - (size_t)point;
        }
    } else {
        *out++ = *digit;
        if (n > 1) {
            *out++ = '.';
            memcpy(out, digit + 1, n - 1);
            out += n - 1;
        }
        int power = point - 1;
        *out++ = 'e';
        *out++ = power < 0 ? '-' : '+';
        power = power < 0 ? -power : power;
        if (power >= 100) {
            *out++ = (char)('0' + power / 100);
        }
        *out++ = (char)('0' + power / 10 % 10);
        *out++ = (char)('0' + power % 10);
    }
    *out = '\0';
    return (size_t)(out - text);
}

static size_t write_zero(bool negative, char *text) {
    memcpy(text, negative ? "-0" : "0", negative ? 3 : 2);
    return negative ? 2 : 1;
}

size_t number_format(double value, char text[NUMBER_LENGTH]) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bool negative = bits >> 63;
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    int biased = (int)(bits >> 52 & 2047);
    if (value == 0) {
        return write_zero(negative, text);
    }
    if (fabs(value) < 9007199254740992.0 && value == trunc(value)) {
        return write_decimal(negative, (uint64_t)fabs(value), 0, text);
    }
    int exponent;
    uint64_t digits = biased ? shortest(fraction | UINT64_C(1) << 52, biased - 1075,
                                        fraction == 0 && biased > 1, &exponent)
                             : shortest(fraction, -1074, false, &exponent);
    return write_decimal(negative, digits, exponent, text);
}

size_t number_format_float(float value, char text[NUMBER_LENGTH]) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bool negative = bits >> 31;
    uint32_t fraction = bits & ((UINT32_C(1) << 23) - 1);
    int biased = (int)(bits >> 23 & 255);
    if (value == 0) {
        return write_zero(negative, text);
    }
    int exponent;
    uint64_t digits = biased ? shortest(fraction | UINT32_C(1) << 23, biased - 150,
                                        fraction == 0 && biased > 1, &exponent)
                             : shortest(fraction, -149, false, &exponent);
    /* the double nearest to these digits may be the exact midpoint of two floats */
    if ((float)number_scale(digits, exponent) != fabsf(value)) {
        return number_format(value, text);
    }
    return write_decimal(negative, digits, exponent, text);
}

size_t number_point(char *text) {
    static const char others[] = "0123456789+-einf";
    char *point = text + strspn(text, others);
    size_t length = strcspn(point, others);
    if (length > 0) { /* of one byte or several */
        *point = '.';
        memmove(point + 1, point + length, strlen(point + length) + 1);
    }
    return strlen(text);
}
