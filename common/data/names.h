/* A set of distinct strings, numbered in order of arrival: label names. */
#ifndef COMMON_DATA_NAMES_H
#define COMMON_DATA_NAMES_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct names {
    size_t n;
    char **name;      /* n strings, owned */
    uint32_t *bucket; /* open addressing, 1 + number of the name, 0: free; owned */
    size_t n_buckets; /* a power of two, or 0 */
};

/* Finds the string of `length` bytes, adding it if it is new. *number gets its number. */
int names_add(struct names *names, const char *text, size_t length, uint32_t *number,
              struct error *err);

/* The number of the string of `length` bytes, or UINT32_MAX if it is not there. */
uint32_t names_find(const struct names *names, const char *text, size_t length);

/* Releases what the set owns and makes it empty. */
void names_free(struct names *names);

#endif
