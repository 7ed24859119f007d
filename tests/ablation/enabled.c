/* Replaces fit/policy_enabled.c in the programs of `make ablation`: disables the policy row that
 * the environment variable DUALSVM_WITHOUT names, as FAMILY:ALGORITHM. */
#include "fit/policy.h"

#include <stdlib.h>
#include <string.h>

bool policy_enabled(const char *family, enum algorithm algorithm) {
    const char *without = getenv("DUALSVM_WITHOUT");
    size_t n = strlen(family);
    return !without || strncmp(without, family, n) != 0 || without[n] != ':' ||
           strcmp(without + n + 1, algorithm_names[algorithm]) != 0;
}
