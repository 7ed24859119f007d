/* number_parse against strtod, bit for bit, and number_format against the shortest decimal found by
 * printf. */
#define _POSIX_C_SOURCE 200809L /* strtok_r */
#include "common/base/number.h"

#include "common/base/random.h"
#include "tests/unit/check.h"

#include <float.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { ROUNDS = 100000 };

static struct random state;

static double random_double(void) {
    for (;;) {
        uint64_t bits = random_bits(&state);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) {
            return value;
        }
    }
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Compares with strtod; the text is parsed in a block of exactly its length, so that sanitizers
 * detect a read past it. */
static void check_parse(const char *text) {
    size_t length = strlen(text);
    char *exact = malloc(length ? length : 1);
    CHECK(exact, "out of memory");
    memcpy(exact, text, length);
    char *strtod_end;
    double expected = strtod(text, &strtod_end), value = 0;
    const char *end = number_parse(exact, exact + length, &value);
    CHECK(end == exact + (strtod_end - text) && bits_of(value) == bits_of(expected),
          "'%.60s' (%zu bytes): %a, not %a", text, length, value, expected);
    free(exact);
}

static void check_bit_patterns(void) {
    char text[64];
    for (int i = 0; i < ROUNDS; i += quick_step(19)) {
        double value = random_double();
        snprintf(text, sizeof text, "%.17g", value);
        check_parse(text);
        snprintf(text, sizeof text, "%.9g", value);
        check_parse(text);
        snprintf(text, sizeof text, "%.*e", (int)random_below(&state, 24), value);
        check_parse(text);
        value = ldexp(value, -1000); /* mostly subnormal */
        snprintf(text, sizeof text, "%.*e", (int)random_below(&state, 24), value);
        check_parse(text);
    }
    puts("ok: parse equals strtod on random bit patterns");
}

/* Digit by digit, with leading and trailing zeros, points anywhere, and wild exponents. */
static void check_random_text(void) {
    char text[2200];
    for (int i = 0; i < ROUNDS; i += quick_step(19)) {
        size_t n = 0, digits = random_below(&state, i % 64 == 0 ? 2000 : 40) + 1;
        size_t point = random_below(&state, digits + 1);
        bool zeros = false;
        for (size_t k = 0; k < digits; k++) {
            if (k == point) {
                text[n++] = '.';
            }
            if (random_below(&state, 12) == 0) {
                zeros = !zeros;
            }
            text[n++] = zeros ? '0' : (char)('0' + random_below(&state, 10));
        }
        text[n] = '\0';
        if (i % 2) {
            int spread = i % 8 == 1 ? 700 : 40;
            snprintf(text + n, 16, "%c%s%d", i % 3 ? 'e' : 'E', i % 5 ? "" : "+",
                     i % 5 ? (int)random_below(&state, (size_t)(2 * spread)) - spread
                           : (int)random_below(&state, (size_t)spread));
        }
        check_parse(text);
    }
    puts("ok: parse equals strtod on random digit strings");
}

/* The exact midpoint of two doubles, and a digit more or less far after it. */
static void check_halfway(void) {
    char text[2400];
    for (int i = 0; i < ROUNDS / 40; i++) {
        bool subnormal = i % 4 == 0;
        uint64_t significand = subnormal ? random_bits(&state) >> (12 + random_below(&state, 50))
                                         : random_bits(&state) >> 11 | UINT64_C(1) << 52;
        int exponent = subnormal    ? -1074
                       : i % 2 == 0 ? (int)random_below(&state, 140) - 70
                                    : (int)random_below(&state, 2040) - 1074;
        /* a long double of 64 bits has it, and it is exact when printed in full */
        long double middle = ldexpl((long double)significand + 0.5L, exponent);
        if (LDBL_MANT_DIG < 64 || middle > DBL_MAX) {
            continue;
        }
        int n = snprintf(text, 1200, "%.*Le", 780, middle);
        check_parse(text);
        char *e = memchr(text, 'e', (size_t)n);
        char tail[16];
        snprintf(tail, sizeof tail, "%s", e);
        char *last = e - 1;
        while (*last == '0') {
            last--;
        }
        char saved = *last; /* one less in the last significant digit: below the midpoint */
        if (*last != '.') {
            (*last)--;
            check_parse(text);
            *last = saved;
        }
        memset(e, '0', 900); /* and a 1 far after it: above */
        size_t far = random_below(&state, 900);
        e[far] = '1';
        snprintf(e + 900, 16, "%s", tail);
        check_parse(text);
    }
    for (uint64_t i = 0; i < 3000; i++) { /* integers near midpoints that fit into 64 bits */
        uint64_t middle = (UINT64_C(1) << 53) * 2 + 1 + 4 * random_below(&state, 1000000);
        for (int d = -1; d <= 1; d++) {
            snprintf(text, sizeof text, "%" PRIu64, middle + (uint64_t)d);
            check_parse(text);
            snprintf(text, sizeof text, "%" PRIu64 ".%0*d%d", middle - 1 + (d > 0), 30, 0, d != 0);
            check_parse(text);
            snprintf(text, sizeof text, "%" PRIu64 "e-%d", middle * 5, 1);
            check_parse(text);
        }
    }
    puts("ok: parse equals strtod at and around the middle of two doubles");
}

static void check_special_text(void) {
    char texts[] =
        "0 -0 0.0 +0 0e5 -0.0e-400 0e99999999999999999999 00000000000000001 1 +1 -1 1. .5 "
        "-.5e1 1e5 1E+5 1e-5 1e 1e+ 1e- 1.e2 1e400 -1e400 1e-400 1e99999999999999999999 "
        "1e-99999999999999999999 179769313486231580793728971405301e276 "
        "1.7976931348623158e308 1.7976931348623159e308 2.4703282292062327e-324 "
        "2.4703282292062328e-324 4.9406564584124654e-324 2.2250738585072011e-308 "
        "2.2250738585072014e-308 9007199254740993 "
        "9007199254740992.99999999999999999999999999 1e22 1e23 1e-22 8.5e22 "
        "0.000000000000000000000000000000000000000000000000000000000000000000000001e70 "
        "123456789012345678901234567890e-30 18446744073709551615 18446744073709551616 "
        "9223372036854775808e-1 0.1 0.25000000000000000000000000 1:2 1x 1.5.2 "
        "3.4028235677973366e38 6929495644600919.5 1.00000000000000011102230246251565404";
    for (char *rest, *text = strtok_r(texts, " ", &rest); text; text = strtok_r(NULL, " ", &rest)) {
        check_parse(text);
    }
    check_parse("1 2");
    static const char *const none[] = {"",    "+",   "-",    ".",        "-.", "e5",  ".e5", "x",
                                       "nan", "inf", "-inf", "infinity", " 1", "+-1", "--1"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        double value;
        CHECK(number_parse(none[i], none[i] + strlen(none[i]), &value) == NULL,
              "'%s' is taken for a number", none[i]);
    }
    const char *hex = "0x10";
    double value = 1;
    CHECK(number_parse(hex, hex + 4, &value) == hex + 1 && value == 0, "hexadecimal");
    puts("ok: parse: signs, points, exponents, ends of the range, what is no number");
}

static void check_long_text(void) {
    enum { LENGTH = 1000000 };
    char *text = malloc(LENGTH + 32);
    CHECK(text, "out of memory");
    memset(text, '7', LENGTH);
    text[0] = '0';
    text[1] = '.';
    text[LENGTH] = '\0';
    check_parse(text);
    memset(text, '0', LENGTH); /* 0000...01e999999 */
    snprintf(text + LENGTH - 1, 32, "1");
    check_parse(text);
    text[1] = '.';
    snprintf(text + LENGTH, 32, "e999998");
    check_parse(text);
    memset(text, '9', LENGTH);
    snprintf(text + LENGTH, 32, "e-999990");
    check_parse(text);
    free(text);
    puts("ok: parse equals strtod on a million digits");
}

/* Counts the significant digits: without sign, point, exponent, leading and trailing zeros. */
static int significant(const char *text) {
    int count = 0, last = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9' && (count > 0 || *text != '0')) {
            count++;
            last = *text != '0' ? count : last;
        }
    }
    return last;
}

static void check_format(double value) {
    char text[NUMBER_LENGTH], printed[64];
    size_t length = number_format(value, text);
    CHECK(length == strlen(text) && length < NUMBER_LENGTH &&
              bits_of(strtod(text, NULL)) == bits_of(value),
          "format %a: '%s'", value, text);
    int precision = 0;
    do {
        snprintf(printed, sizeof printed, "%.*e", precision, value);
    } while (strtod(printed, NULL) != value && ++precision < 17);
    int digits = significant(text), shortest = significant(printed);
    CHECK(digits <= shortest, "format %a: '%s' is longer than '%s'", value, text, printed);
    if (digits == shortest) { /* and the nearest of that length */
        char normal[64];
        snprintf(normal, sizeof normal, "%.*e", precision, strtod(text, NULL));
        CHECK(strcmp(normal, printed) == 0, "format %a: '%s', nearest is '%s'", value, text,
              printed);
    }
    if (value == trunc(value) && fabs(value) < 9007199254740992.0) {
        snprintf(printed, sizeof printed, "%.0f", value);
        CHECK(strcmp(text, printed) == 0, "format of the integer %s: '%s'", printed, text);
    }
}

static void check_format_float(float value) {
    char text[NUMBER_LENGTH], printed[64];
    size_t length = number_format_float(value, text);
    double parsed;
    CHECK(length == strlen(text) && number_parse_whole(text, &parsed) && (float)parsed == value &&
              signbit((float)parsed) == signbit(value),
          "format float %a: '%s'", (double)value, text);
    int precision = 0;
    do {
        snprintf(printed, sizeof printed, "%.*e", precision, (double)value);
    } while ((float)strtod(printed, NULL) != value && ++precision < 9);
    CHECK(significant(text) <= significant(printed), "format float %a: '%s' is longer than '%s'",
          (double)value, text, printed);
}

static void check_formats(void) {
    static const char values[] =
        "0 -0 1 -1 0.1 0.3 1e15 1e16 1e17 1e22 1e23 1e100 1e-4 1e-5 1e-6 1.5e-5 "
        "5e-324 1e-323 123456789012345680 0.3333333333333333 100 "
        "1.7976931348623157e308 2.2250738585072014e-308 9007199254740991 "
        "9007199254740992 9007199254740994 -4503599627370496.5 2e-3";
    for (const char *at = values; *at;) {
        char *end;
        check_format(strtod(at, &end));
        at = end;
    }
    for (int e = -1074; e < 1024; e++) {
        double power = ldexp(1, e);
        check_format(power);
        check_format(nextafter(power, 0));
        check_format(nextafter(power, DBL_MAX));
        if (e >= -149 && e < 128) {
            check_format_float((float)power);
            check_format_float(nextafterf((float)power, 0));
        }
    }
    for (int i = 0; i < ROUNDS / 2; i += quick_step(19)) {
        check_format(random_double());
        check_format((double)(random_bits(&state) >> random_below(&state, 64)));
        char text[64];
        snprintf(text, sizeof text, "%.*g", (int)random_below(&state, 16) + 1, random_double());
        check_format(isfinite(strtod(text, NULL)) ? strtod(text, NULL) : 1);
        check_format_float((float)((double)(random_bits(&state) >> 11) * 0x1p-53 *
                                   pow(10, (int)random_below(&state, 20) - 10)));
    }
    puts("ok: format reads back to the same bits, is the shortest and the nearest such");
}

static void check_point(void) {
    static const char *const texts[][2] = {{"0,5", "0.5"},
                                           {"-1\xd9\xab"
                                            "25e-07",
                                            "-1.25e-07"},
                                           {"1.5", "1.5"},
                                           {"17", "17"},
                                           {"inf", "inf"},
                                           {"3,000", "3.000"},
                                           {"1e+20", "1e+20"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[NUMBER_LENGTH];
        snprintf(text, sizeof text, "%s", texts[i][0]);
        CHECK(number_point(text) == strlen(texts[i][1]) && strcmp(text, texts[i][1]) == 0,
              "point of %s: %s", texts[i][0], text);
    }
    puts("ok: decimal points");
}

int main(void) {
    random_start(&state, 1, 0);
    check_special_text();
    check_bit_patterns();
    check_random_text();
    check_halfway();
    check_long_text();
    check_formats();
    check_point();
    return 0;
}
