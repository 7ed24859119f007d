/* CRC-32 by zlib. */
#include "common/model/checksum.h"

#include <inttypes.h>
#include <stdio.h>
#include <zlib.h>

uint32_t model_checksum_add(uint32_t checksum, const char *bytes, size_t n) {
    const size_t max_bytes = UINT32_MAX / 2; /* zlib counts in uInt */
    while (n > 0) {
        size_t part = n < max_bytes ? n : max_bytes;
        checksum = (uint32_t)crc32(checksum, (const unsigned char *)bytes, (uInt)part);
        bytes += part;
        n -= part;
    }
    return checksum;
}

size_t model_checksum_line(uint64_t lines, uint32_t checksum, char line[MODEL_CHECKSUM_LINE]) {
    return (size_t)snprintf(line, MODEL_CHECKSUM_LINE, "end %" PRIu64 " %08" PRIx32, lines,
                            checksum);
}
