/* The optimal string alignment distance, by dynamic programming in O(n m). */
#include "driver/spelling.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LETTERS = 40, MAX_ERRORS = 3 };

struct spelling spelling_of(const char *word, size_t length) {
    size_t wrong = length / 3 < MAX_ERRORS ? length / 3 : MAX_ERRORS;
    return (struct spelling){.word = word, .length = length, .distance = wrong + 1};
}

static bool same(char a, char b) {
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t min_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The optimal string alignment distance of a (n) and b (m), neither longer than MAX_LETTERS. */
static size_t distance(const char *a, size_t n, const char *b, size_t m) {
    /* distances of prefixes of a with i - 2, i - 1 and i letters, by length of the prefix of b */
    size_t row[3][MAX_LETTERS + 1];
    for (size_t i = 0; i <= n; i++) {
        size_t *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            if (i == 0) {
                now[j] = j;
                continue;
            }
            now[j] = min_of(min_of(before[j], now[j - 1]) + 1,
                            before[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
                now[j] = min_of(now[j], earlier[j - 2] + 1);
            }
        }
    }
    return row[n % 3][m];
}

void spelling_add(struct spelling *spelling, const char *name) {
    size_t m = strlen(name);
    if (spelling->length > MAX_LETTERS || m > MAX_LETTERS) {
        return;
    }
    size_t found = distance(spelling->word, spelling->length, name, m);
    if (found < spelling->distance) {
        spelling->distance = found;
        spelling->name = name;
    }
}

const char *spelling_hint(const struct spelling *spelling, const char *prefix,
                          char hint[SPELLING_HINT]) {
    hint[0] = '\0';
    if (spelling->name) {
        snprintf(hint, SPELLING_HINT, " (did you mean '%s%.40s'?)", prefix, spelling->name);
    }
    return hint;
}
