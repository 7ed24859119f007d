/* "did you mean": the name that a mistyped word is nearest to. */
#ifndef DRIVER_SPELLING_H
#define DRIVER_SPELLING_H

#include <stddef.h>

/* The nearest name so far. */
struct spelling {
    const char *word; /* (length) as it was typed; borrowed */
    size_t length;
    const char *name; /* NULL: none is near enough */
    size_t distance;  /* of name */
};

/* Before the first name. */
struct spelling spelling_of(const char *word, size_t length);

/* Takes the name, which is borrowed, if it is nearer than those before it, and near enough: a third
 * of the word's letters, three at most, may be wrong. What counts as one is a letter more, less or
 * other, or two neighbours that changed places (optimal string alignment); case does not count. */
void spelling_add(struct spelling *spelling, const char *name);

enum { SPELLING_HINT = 80 };

/* hint = " (did you mean 'PREFIXNAME'?)", "" where there is no name. Returns hint. */
const char *spelling_hint(const struct spelling *spelling, const char *prefix,
                          char hint[SPELLING_HINT]);

#endif
