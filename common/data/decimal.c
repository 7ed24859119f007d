/* Exact comparison of decimal numbers, digit by digit. */
#include "common/data/decimal.h"

#include <limits.h>

enum { MAX_EXPONENT = 999999999 };

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Parses the exponent, to the end of the text. */
static bool read_exponent(const char *p, const char *end, int64_t *exponent) {
    bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    int64_t value = 0;
    if (p == end) {
        return false;
    }
    for (; p < end; p++) {
        if (!is_digit(*p) || value > MAX_EXPONENT / 10) {
            return false;
        }
        value = 10 * value + (*p - '0');
    }
    *exponent = negative ? -value : value;
    return true;
}

bool decimal_read(struct decimal *decimal, const char *text, size_t length) {
    const char *p = text, *end = text + length, *first = NULL, *last = text;
    bool negative = p < end && *p == '-', point = false, any = false;
    int64_t exponent = 0,
            shift = 0; /* exponent of the first significant digit, and that after the e */
    for (p += p < end && (*p == '-' || *p == '+'); p < end; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*p)) {
            break;
        }
        any = true;
        if (*p != '0') {
            first = first ? first : p;
            last = p + 1;
        }
        if (first) {
            exponent += !point;
        } else {
            exponent -= point;
        }
    }
    if (!any || (p < end && ((*p != 'e' && *p != 'E') || !read_exponent(p + 1, end, &shift)))) {
        return false;
    }
    *decimal = first ? (struct decimal){negative, first, last, exponent + shift}
                     : (struct decimal){false, text, text, 0};
    return true;
}

/* -1, 0 or 1: the sign of the number. */
static int sign(const struct decimal *decimal) {
    return decimal->first == decimal->last ? 0 : decimal->negative ? -1 : 1;
}

bool decimal_is_positive(const struct decimal *decimal) {
    return sign(decimal) > 0;
}

/* Compares the digits of two magnitudes with equal exponents. */
static int compare_digits(const struct decimal *a, const struct decimal *b) {
    const char *p = a->first, *q = b->first;
    for (; p < a->last && q < b->last; p++, q++) {
        p += *p == '.';
        q += *q == '.';
        if (*p != *q) {
            return *p < *q ? -1 : 1;
        }
    }
    return (p < a->last) - (q < b->last); /* more digits, of which the last is not 0 */
}

int decimal_compare(const struct decimal *a, const struct decimal *b) {
    int side = sign(a);
    if (side != sign(b)) {
        return side < sign(b) ? -1 : 1;
    }
    if (side == 0) {
        return 0;
    }
    if (a->exponent != b->exponent) {
        return a->exponent < b->exponent ? -side : side;
    }
    return side * compare_digits(a, b);
}

uint64_t decimal_hash(const struct decimal *decimal) {
    uint64_t h = DECIMAL_HASH_START;
    for (const char *p = decimal->first; p < decimal->last; p++) {
        h = *p == '.' ? h : decimal_hash_digit(h, *p);
    }
    return decimal_hash_end(h, decimal->negative, decimal->exponent);
}

bool decimal_to_int(const struct decimal *decimal, int *value) {
    int64_t total = 0, places = 0;
    for (const char *p = decimal->first; p < decimal->last; p++) {
        if (*p != '.') {
            total = 10 * total + (*p - '0');
            places++;
        }
        if (total > (int64_t)INT_MAX + 1) {
            return false;
        }
    }
    if (places > decimal->exponent || decimal->exponent > 10) {
        return false;
    }
    for (; places < decimal->exponent; places++) {
        total *= 10;
    }
    total = decimal->negative ? -total : total;
    *value = (int)total;
    return total >= INT_MIN && total <= INT_MAX;
}
