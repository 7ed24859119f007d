/* What makes a damaged model noticed: the CRC-32 of its text (ITU-T V.42, IEEE 802.3, as gzip has
 * it), all lines before the last with their newlines, plain also where the file is gzip. The last
 * line, `end LINES CRC`, has it in eight hexadecimal digits behind the number of lines of the body:
 * a cut model has no such line, a changed one another. */
#ifndef COMMON_MODEL_CHECKSUM_H
#define COMMON_MODEL_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of a text (0: of none) with n more bytes behind it. */
uint32_t model_checksum_add(uint32_t checksum, const char *bytes, size_t n);

enum { MODEL_CHECKSUM_LINE = 64 }; /* bytes that a last line may take */

/* Writes the last line, a NUL in place of its newline: `lines` of the body and the checksum of all
 * text before. Returns its length. */
size_t model_checksum_line(uint64_t lines, uint32_t checksum, char line[MODEL_CHECKSUM_LINE]);

#endif
