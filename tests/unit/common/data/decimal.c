/* Decimal numbers against integers of 128 bits, in many spellings; and texts that are not numbers.
 */
#include "common/data/decimal.h"

#include "common/data/names.h"
#include "tests/unit/compute.h"

#include <limits.h>

enum { TEXT = 96, NUMBERS = 4000 };

__extension__ typedef __int128 wide;

/* The reference: an integer times 10^-12. */
struct number {
    wide units;
    char text[TEXT];
};

/* Spells digits * 10^exponent, -12 <= exponent <= 12, in one of many ways. */
static void spell(struct random *random, char *text, bool negative, uint64_t digits, int exponent) {
    char body[TEXT], mantissa[TEXT];
    int n = snprintf(body, sizeof body, "%llu", (unsigned long long)digits);
    char *out = text;
    if (negative || random_below(random, 2)) {
        *out++ = negative ? '-' : '+';
    }
    for (uint64_t zeros = random_below(random, 4); zeros > 0; zeros--) {
        *out++ = '0';
    }
    int shift = exponent; /* the point is after the digits; move it to the left */
    int before = (int)random_below(random, (uint64_t)n + 1);
    snprintf(mantissa, sizeof mantissa, "%.*s", before, body);
    out += snprintf(out, TEXT, "%s", mantissa);
    bool point = before < n || random_below(random, 2);
    if (point) {
        *out++ = '.';
        for (uint64_t zeros = before == 0 ? random_below(random, 3) : 0; zeros > 0;
             zeros--, shift++) {
            *out++ = '0'; /* leading zeros, which are not counted */
        }
        out += snprintf(out, TEXT, "%s", body + before);
        shift += n - before;
        for (uint64_t zeros = random_below(random, 3); zeros > 0; zeros--) {
            *out++ = '0';
        }
        *out = '\0';
    }
    if (shift != 0 || random_below(random, 2)) {
        snprintf(out, TEXT, "%c%s%s%d", random_below(random, 2) ? 'e' : 'E',
                 shift >= 0 && random_below(random, 2) ? "+" : "", shift < 0 ? "-0" : "0",
                 shift < 0 ? -shift : shift);
    }
}

static struct number random_number(struct random *random) {
    static const uint64_t most[] = {2, 12, 200, 100000, UINT64_C(1) << 40};
    struct number number = {0};
    uint64_t digits = random_below(random, most[random_below(random, 5)]);
    int exponent = (int)random_below(random, 5) - 3 + (random_below(random, 8) == 0 ? 5 : 0);
    bool negative = random_below(random, 2);
    number.units = (wide)digits;
    for (int e = -12; e < exponent; e++) {
        number.units *= 10;
    }
    number.units = negative ? -number.units : number.units;
    spell(random, number.text, negative, digits, exponent);
    return number;
}

static void check_pairs(void) {
    static struct number numbers[NUMBERS];
    size_t equal = 0;
    struct random random = sample_random(3, 1);
    for (size_t i = 0; i < NUMBERS; i++) {
        numbers[i] = random_number(&random);
        for (size_t j = i > 300 ? i - 300 : 0; j <= i; j++) {
            const struct number *a = &numbers[i], *b = &numbers[j];
            struct decimal x, y;
            CHECK(decimal_read(&x, a->text, strlen(a->text)), "'%s' is none", a->text);
            CHECK_TRUE(decimal_read(&y, b->text, strlen(b->text)));
            int expected = (a->units > b->units) - (a->units < b->units);
            CHECK(decimal_compare(&x, &y) == expected && decimal_compare(&y, &x) == -expected,
                  "%s, %s: %d", a->text, b->text, expected);
            CHECK(expected != 0 || decimal_hash(&x) == decimal_hash(&y), "%s, %s: hashes", a->text,
                  b->text);
            CHECK(names_equal(a->text, b->text) == (expected == 0), "%s, %s: names", a->text,
                  b->text);
            CHECK_TRUE(decimal_is_positive(&x) == (a->units > 0));
            equal += expected == 0 && i != j;
        }
    }
    CHECK(equal > 1000, "only %zu pairs are equal", equal);
    printf("ok: spellings of numbers compare as the numbers do\n");
}

/* A number is one name, by whatever spelling it is looked up. */
static void check_names(void) {
    struct names names = {0};
    static struct number first[NUMBERS];
    size_t n = 0;
    struct random random = sample_random(4, 1);
    for (size_t i = 0; i < NUMBERS; i++) {
        struct number number = random_number(&random);
        size_t known = 0;
        while (known < n && first[known].units != number.units) {
            known++;
        }
        CHECK_TRUE(names_find(&names, number.text, strlen(number.text)) ==
                   (known < n ? (uint32_t)known : UINT32_MAX));
        uint32_t at;
        CHECK_TRUE(names_add(&names, number.text, strlen(number.text), &at, &err) == 0);
        CHECK(at == known, "%s has number %u, not %zu", number.text, (unsigned)at, known);
        if (known == n) {
            first[n++] = number;
        }
        CHECK(names.n == n && strcmp(names.name[known], first[known].text) == 0,
              "%s is spelled %s, not as first", number.text, names.name[known]);
    }
    names_free(&names);
    printf("ok: a number is one name, spelled as it was first\n");
}

static void check_words(void) {
    static const char *const words[] = {
        "",    "+",    "-",     ".",     "e1",  "1e",  "1e+",          "1x",   "0x10", "nan",
        "inf", "-inf", "1.2.3", "1e5.0", "--1", "+-1", "1e1000000000", "1e 5", "1_0",  "one"};
    static const char *const numbers[] = {
        "1.", ".5", "1e999999999", "1e-999999999", "1e0000000000005", "00", "-0.0e7"};
    struct decimal decimal, zero;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        CHECK(!decimal_read(&decimal, words[i], strlen(words[i])), "'%s' is a number", words[i]);
        CHECK_TRUE(names_equal(words[i], words[i]));
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        CHECK(decimal_read(&decimal, numbers[i], strlen(numbers[i])), "'%s' is none", numbers[i]);
    }
    CHECK_TRUE(decimal_read(&zero, "+0", 2) && decimal_compare(&decimal, &zero) == 0 &&
               decimal_hash(&decimal) == decimal_hash(&zero));
    CHECK_TRUE(!names_equal("nan", "NaN") && !names_equal("0x10", "16") &&
               !names_equal("1", "one") && !names_equal("1", "1x"));
    /* two numbers that doubles do not distinguish */
    CHECK_TRUE(!names_equal("9007199254740993", "9007199254740992") &&
               !names_equal("1e999999999", "1e999999998"));
    printf("ok: what is no number is a word\n");
}

static void check_ints(void) {
    static const struct {
        const char *text;
        bool fits;
        int value;
    } cases[] = {{"0", true, 0},
                 {"-0.0", true, 0},
                 {"7", true, 7},
                 {"+1.0", true, 1},
                 {".05e2", true, 5},
                 {"12e2", true, 1200},
                 {"1200e-2", true, 12},
                 {"-2147483648", true, INT_MIN},
                 {"2147483647", true, INT_MAX},
                 {"2147483648", false, 0},
                 {"-2147483649", false, 0},
                 {"1.5", false, 0},
                 {"1e10", false, 0},
                 {"1e-1", false, 0},
                 {"99999999999999999999", false, 0},
                 {"1e9", true, 1000000000},
                 {"3e9", false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct decimal decimal;
        int value = 0;
        CHECK_TRUE(decimal_read(&decimal, cases[i].text, strlen(cases[i].text)));
        CHECK(decimal_to_int(&decimal, &value) == cases[i].fits &&
                  (!cases[i].fits || value == cases[i].value),
              "%s: %d", cases[i].text, value);
    }
    printf("ok: whole numbers that an int holds\n");
}

int main(void) {
    check_pairs();
    check_names();
    check_words();
    check_ints();
    return 0;
}
