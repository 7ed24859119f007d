/* Open addressing with linear probing; numbers are hashed and compared by value. */
#include "common/data/names.h"

#include "common/base/memory.h"
#include "common/data/decimal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const size_t MIN_BUCKETS = 16;

/* Hashes the most common labels, a sign and digits without leading zero, like decimal_hash but in
 * one pass, since a label is hashed for every row. Returns false for other names. */
static bool hash_integer(const char *text, size_t length, uint64_t *h) {
    bool negative = length > 0 && *text == '-';
    size_t sign = negative || (length > 0 && *text == '+'), i = sign;
    uint64_t all = DECIMAL_HASH_START, counting = all; /* without trailing zeros */
    if (length == sign || text[i] == '0') {
        return false;
    }
    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
        all = decimal_hash_digit(all, text[i]);
        counting = text[i] != '0' ? all : counting;
    }
    *h = decimal_hash_end(counting, negative, (int64_t)(length - sign));
    return i == length;
}

static uint64_t hash(const char *text, size_t length) {
    uint64_t h;
    struct decimal number;
    if (hash_integer(text, length, &h)) {
        return h;
    }
    if (decimal_read(&number, text, length)) {
        return decimal_hash(&number);
    }
    h = DECIMAL_HASH_START;
    for (size_t i = 0; i < length; i++) {
        h = decimal_hash_digit(h, text[i]);
    }
    return h;
}

static bool equal(const char *name, const char *text, size_t length) {
    size_t name_length = strlen(name);
    struct decimal x, y;
    return (name_length == length && memcmp(name, text, length) == 0) ||
           (decimal_read(&x, name, name_length) && decimal_read(&y, text, length) &&
            decimal_compare(&x, &y) == 0);
}

bool names_equal(const char *a, const char *b) {
    return equal(a, b, strlen(b));
}

/* The bucket of the name with this hash, or the free one to add it to. n_buckets > 0. */
static struct names_bucket *find_bucket(const struct names *names, const char *text, size_t length,
                                        uint64_t h) {
    size_t mask = names->n_buckets - 1;
    size_t b = (size_t)(h ^ h >> 32) & mask; /* the high bits are mixed better */
    for (; names->bucket[b].entry; b = (b + 1) & mask) {
        if (names->bucket[b].hash == (uint32_t)(h >> 32) &&
            equal(names->name[names->bucket[b].entry - 1], text, length)) {
            break;
        }
    }
    return &names->bucket[b];
}

/* Enters all names into empty buckets. */
static void fill_buckets(struct names *names) {
    for (size_t i = 0; i < names->n; i++) {
        size_t length = strlen(names->name[i]);
        uint64_t h = hash(names->name[i], length);
        *find_bucket(names, names->name[i], length, h) =
            (struct names_bucket){(uint32_t)(h >> 32), (uint32_t)i + 1};
    }
}

static int grow_buckets(struct names *names, struct error *err) {
    size_t n_buckets = names->n_buckets ? 2 * names->n_buckets : MIN_BUCKETS;
    struct names_bucket *bucket = memory_zeros(n_buckets, sizeof *bucket, "names", err);
    if (!bucket) {
        return -1;
    }
    free(names->bucket);
    names->bucket = bucket;
    names->n_buckets = n_buckets;
    fill_buckets(names);
    return 0;
}

void names_truncate(struct names *names, size_t n) {
    if (n < names->n) {
        for (size_t i = n; i < names->n; i++) {
            free(names->name[i]);
        }
        names->n = n;
        memset(names->bucket, 0, names->n_buckets * sizeof *names->bucket);
        fill_buckets(names);
    }
}

int names_add(struct names *names, const char *text, size_t length, uint32_t *number,
              struct error *err) {
    if (names->n >= names->n_buckets / 2 && grow_buckets(names, err) < 0) {
        return -1;
    }
    uint64_t h = hash(text, length);
    struct names_bucket *bucket = find_bucket(names, text, length, h);
    if (bucket->entry) {
        *number = bucket->entry - 1;
        return 0;
    }
    if (names->n >= UINT32_MAX - 1) {
        return error_set(err, ERROR_RUNTIME, "more than %zu different names", names->n);
    }
    if (memory_grow(&names->name, memory_room(0, names->n), names->n + 1, sizeof *names->name,
                    "names", err) < 0) {
        return -1;
    }
    char *copy = memory_resize(NULL, length + 1, 1, "a name", err);
    if (!copy) {
        return -1;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    *number = (uint32_t)names->n;
    names->name[names->n++] = copy;
    *bucket = (struct names_bucket){(uint32_t)(h >> 32), (uint32_t)names->n};
    return 0;
}

int names_add_all(struct names *names, char *const *name, size_t n, struct error *err) {
    for (size_t i = 0; i < n; i++) {
        uint32_t number;
        if (names_add(names, name[i], strlen(name[i]), &number, err) < 0) {
            names_free(names);
            return -1;
        }
    }
    return 0;
}

uint32_t names_find(const struct names *names, const char *text, size_t length) {
    if (names->n_buckets == 0) {
        return UINT32_MAX;
    }
    uint32_t entry = find_bucket(names, text, length, hash(text, length))->entry;
    return entry ? entry - 1 : UINT32_MAX;
}

void names_free(struct names *names) {
    for (size_t i = 0; i < names->n; i++) {
        free(names->name[i]);
    }
    free(names->name);
    free(names->bucket);
    *names = (struct names){0};
}
