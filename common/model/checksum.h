/* The checksum of a model file, which detects damage: the CRC-32 of its text (ITU-T V.42, IEEE
 * 802.3, as in gzip), over all lines before the last with their newlines, uncompressed even if the
 * file is gzip. The last line is `end LINES CRC`: the number of lines of the body, and the CRC in
 * eight hexadecimal digits. A truncated model lacks this line, a changed one has another CRC. */
#ifndef COMMON_MODEL_CHECKSUM_H
#define COMMON_MODEL_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of a text (0: of none) after n more bytes are appended. */
uint32_t model_checksum_add(uint32_t checksum, const char *bytes, size_t n);

enum { MODEL_CHECKSUM_LINE = 64 }; /* maximum bytes of a last line */

/* Writes the last line, ended by NUL instead of a newline: the number of lines of the body, and the
 * checksum of all text before. Returns its length. */
size_t model_checksum_line(uint64_t lines, uint32_t checksum, char line[MODEL_CHECKSUM_LINE]);

#endif
