/* A hash table of distinct names, numbered in order of arrival. Numbers (decimal.h) that are equal
 * are one name, as 1, +1 and 1.0, spelled as it was first; other names are distinct as strings. */
#ifndef COMMON_DATA_NAMES_H
#define COMMON_DATA_NAMES_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names_bucket {
    uint32_t hash;  /* high bits of the hash */
    uint32_t entry; /* 1 + number of the name; 0: free */
};

struct names {
    size_t n;
    char **name;                 /* n strings, as first spelled; owned */
    struct names_bucket *bucket; /* (n_buckets) open addressing; owned */
    size_t n_buckets;            /* a power of two, or 0 */
};

/* Finds the name of `length` bytes, adding it if it is new. *number gets its number. */
int names_add(struct names *names, const char *text, size_t length, uint32_t *number,
              struct error *err);

/* Adds n names, or after a failure frees the table. */
int names_add_all(struct names *names, char *const *name, size_t n, struct error *err);

/* The number of the name of `length` bytes, or UINT32_MAX if it is not in the table. */
uint32_t names_find(const struct names *names, const char *text, size_t length);

/* Removes all names but the first n. */
void names_truncate(struct names *names, size_t n);

/* True if two strings are the same name. */
bool names_equal(const char *a, const char *b);

/* Frees the table and empties it. */
void names_free(struct names *names);

#endif
