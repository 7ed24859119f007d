#include "common/data/names.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

static const size_t FIRST_BUCKETS = 16;

/* FNV-1a, folded so that its better high bits choose the bucket too. */
static size_t hash(const char *text, size_t length) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) {
        h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    }
    return (size_t)(h ^ h >> 32);
}

/* The bucket that has the string, or the free one where it belongs. n_buckets > 0. */
static size_t find_bucket(const struct names *names, const char *text, size_t length) {
    size_t mask = names->n_buckets - 1;
    size_t b = hash(text, length) & mask;
    for (; names->bucket[b]; b = (b + 1) & mask) {
        const char *name = names->name[names->bucket[b] - 1];
        if (strlen(name) == length && memcmp(name, text, length) == 0) {
            break;
        }
    }
    return b;
}

static int grow_buckets(struct names *names, struct error *err) {
    size_t n_buckets = names->n_buckets ? 2 * names->n_buckets : FIRST_BUCKETS;
    uint32_t *bucket = memory_zeros(n_buckets, sizeof *bucket, "names", err);
    if (!bucket) {
        return -1;
    }
    free(names->bucket);
    names->bucket = bucket;
    names->n_buckets = n_buckets;
    for (size_t i = 0; i < names->n; i++) {
        bucket[find_bucket(names, names->name[i], strlen(names->name[i]))] = (uint32_t)i + 1;
    }
    return 0;
}

int names_add(struct names *names, const char *text, size_t length, uint32_t *number,
              struct error *err) {
    if (names->n >= names->n_buckets / 2 && grow_buckets(names, err) < 0) {
        return -1;
    }
    size_t b = find_bucket(names, text, length);
    if (names->bucket[b]) {
        *number = names->bucket[b] - 1;
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
    names->bucket[b] = (uint32_t)names->n;
    return 0;
}

uint32_t names_find(const struct names *names, const char *text, size_t length) {
    if (names->n_buckets == 0) {
        return UINT32_MAX;
    }
    uint32_t entry = names->bucket[find_bucket(names, text, length)];
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
