/* Decimal text to numbers and back, independent of the locale.
 *
 * number_parse gives the same bits as C's strtod in the "C" locale for every decimal it accepts
 * (Clinger 1990 for short decimals, Lemire 2021 "Number parsing at a gigabyte per second" for most
 * of the rest, strtod for what these cannot decide). number_format finds the shortest decimal as
 * Giulietti's "The Schubfach way to render doubles" (2020) does. Rounding is assumed to be to
 * nearest, as it is unless a program changes it. */
#ifndef COMMON_BASE_NUMBER_H
#define COMMON_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NUMBER_LENGTH = 32 }; /* bytes that number_format may write, with the final NUL */

/* Parses [sign] digits [. digits] [e [sign] digits] (at least one digit in the mantissa; no
 * hexadecimal, no nan, no inf) from the front of [text, end). Returns the first byte after the
 * number, or NULL if there is none. A magnitude that overflows gives an infinity in *value, which
 * callers refuse; underflow rounds as strtod does. text need not end in NUL. */
const char *number_parse(const char *text, const char *end, double *value);

/* Parses a run of decimal digits of [text, end). Returns the first byte after it, or NULL when
 * there is no digit or the value is over 2^64 - 1. */
const char *number_parse_unsigned(const char *text, const char *end, uint64_t *value);

/* True if the whole of the NUL-terminated text is one finite number (number_parse's grammar). */
bool number_parse_whole(const char *text, double *value);

/* The double nearest to digits * 10^exponent, ties to even; an infinity on overflow. */
double number_scale(uint64_t digits, int64_t exponent);

/* Writes the shortest decimal that reads back to the same bits, NUL-terminated, and returns its
 * length. value must be finite. Integers below 2^53 are written without exponent. */
size_t number_format(double value, char text[NUMBER_LENGTH]);

/* The same for a float: the shortest decimal whose double, rounded to float, is value again. */
size_t number_format_float(float value, char text[NUMBER_LENGTH]);

/* Makes the decimal point of a finite number that printf has written, %.3f or %.6g, a '.', whatever
 * the locale has there. Returns the length of the text. */
size_t number_point(char *text);

#endif
