/* Characters of svmlight text, which ends in '\n': loops that stop there need no other end. Private
 * to the parser and the description of its errors. */
#ifndef COMMON_DATA_SVMLIGHT_CHARACTERS_H
#define COMMON_DATA_SVMLIGHT_CHARACTERS_H

#include <stdbool.h>

static inline bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* The first character from p on that is not a blank or a tab. */
static inline const char *skip_blanks(const char *p) {
    while (is_blank(*p)) {
        p++;
    }
    return p;
}

/* True at the end of a line: LF or CR LF. */
static inline bool is_line_end(const char *p) {
    return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

/* True where a number may end. */
static inline bool is_part_end(const char *p) {
    return is_blank(*p) || *p == '#' || is_line_end(p);
}

/* True if the text at p begins with the word, which has no '\n'. */
static inline bool starts_with(const char *p, const char *word) {
    while (*word && *p == *word) {
        p++;
        word++;
    }
    return !*word;
}

#endif
