/* A checksum of training rows, by which a proof identifies them. */
#ifndef COMMON_DATA_FINGERPRINT_H
#define COMMON_DATA_FINGERPRINT_H

#include "common/data/data.h"

#include <stddef.h>
#include <stdint.h>

/* The CRC-32 of the first n_rows rows: labels as spelled, queries, serial numbers, and the non-zero
 * values. It does not depend on whether rows are dense or sparse, nor on the machine. */
uint32_t data_fingerprint(const struct data *data, size_t n_rows);

#endif
