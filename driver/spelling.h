/* Suggestions for a mistyped name ("did you mean"). */
#ifndef DRIVER_SPELLING_H
#define DRIVER_SPELLING_H

#include <stddef.h>

/* The closest name so far. */
struct spelling {
    const char *word; /* (length) the word as typed; borrowed */
    size_t length;
    const char *name; /* NULL: no name is close enough */
    size_t distance;  /* of name, or one more than the largest accepted distance */
};

/* The state before the first name. */
struct spelling spelling_of(const char *word, size_t length);

/* Takes a name (borrowed) if it is closer than all previous ones and close enough: the distance may
 * be a third of the word's letters, at most three. It is the number of letters inserted, removed,
 * replaced, or swapped with their neighbour (optimal string alignment), ignoring case. */
void spelling_add(struct spelling *spelling, const char *name);

enum { SPELLING_HINT = 80 };

/* Writes " (did you mean 'PREFIXNAME'?)" into hint, "" if there is no name. Returns hint. */
const char *spelling_hint(const struct spelling *spelling, const char *prefix,
                          char hint[SPELLING_HINT]);

#endif
