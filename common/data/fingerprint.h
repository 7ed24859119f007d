/* A number by which rows that were read are known again. */
#ifndef COMMON_DATA_FINGERPRINT_H
#define COMMON_DATA_FINGERPRINT_H

#include "common/data/data.h"

#include <stddef.h>
#include <stdint.h>

/* The CRC-32 of the first n_rows rows as they stand: labels as spelled, queries, serials, and the
 * values that are not 0. It does not depend on whether the rows are held dense, nor on the
 * machine. */
uint32_t data_fingerprint(const struct data *data, size_t n_rows);

#endif
