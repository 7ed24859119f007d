/* Checks and random data for the unit tests of kernels and operators. */
#ifndef TESTS_UNIT_COMPUTE_H
#define TESTS_UNIT_COMPUTE_H

#include "common/base/random.h"
#include "common/data/data.h"
#include "tests/unit/check.h"

#include <stdbool.h>
#include <string.h>

enum sample_values {
    SAMPLE_SIGNED, /* -1..1 */
    SAMPLE_COUNTS, /* 1..9 */
    SAMPLE_NEAR    /* 100 and a little: differences are small beside the values */
};

static inline void *sample_array(size_t n, size_t size) {
    void *block = calloc(n ? n : 1, size);
    CHECK(block, "out of memory");
    return block;
}

static inline struct random sample_random(uint64_t seed, uint64_t stream) {
    struct random random;
    random_start(&random, seed, stream);
    return random;
}

static inline float sample_value(struct random *random, enum sample_values values) {
    double u = random_unit(random);
    switch (values) {
    case SAMPLE_COUNTS:
        return (float)(1 + floor(9 * u));
    case SAMPLE_NEAR:
        return (float)(100 + u);
    case SAMPLE_SIGNED:
        break;
    }
    return (float)(2 * u - 1);
}

/* Adds the names of k labels, "1", "2", ... */
static inline void sample_names(struct names *names, size_t k) {
    for (size_t c = 1; c <= k; c++) {
        char name[32];
        uint32_t number;
        int length = snprintf(name, sizeof name, "%zu", c);
        MUST(names_add(names, name, (size_t)length, &number, &err));
    }
}

/* n rows of about density * width values each, CSR or dense. With `odd`, rows 3, 10, 17, ... are
 * zero and rows 5, 12, 19, ... repeat the row before them. Free with data_free. */
static inline struct data sample_data(size_t n, uint32_t width, double density,
                                      enum sample_values values, bool sparse, bool odd,
                                      uint64_t seed) {
    struct data data = {.n_rows = n, .n_features = width, .labels = DATA_NUMBER};
    struct random random = sample_random(seed, 0);
    size_t room = 1024, at = 0;
    data.row_start = sample_array(n + 1, sizeof *data.row_start);
    data.column = sample_array(room, sizeof *data.column);
    data.value = sample_array(room, sizeof *data.value);
    for (size_t i = 0; i < n; i++) {
        size_t before = at;
        bool repeat = odd && i % 7 == 5, zero = odd && i % 7 == 3;
        if (repeat) {
            before = (size_t)data.row_start[i - 1];
        }
        /* gaps between columns: 1 + a number whose mean leaves this density */
        double column = random_unit(&random) / density - 1;
        for (size_t k = 0; !zero; k++) {
            if (at + 1 >= room) {
                room *= 2;
                data.column = realloc(data.column, room * sizeof *data.column);
                data.value = realloc(data.value, room * sizeof *data.value);
                CHECK(data.column && data.value, "out of memory");
            }
            if (repeat) {
                if (before + k == data.row_start[i]) {
                    break;
                }
                data.column[at] = data.column[before + k];
                data.value[at++] = data.value[before + k];
                continue;
            }
            column += density >= 1 ? 1 : 1 + 2 * (1 / density - 1) * random_unit(&random);
            double whole = k == 0 ? fmax(0, floor(column)) : floor(column);
            if (whole >= width) {
                break;
            }
            data.column[at] = (uint32_t)whole;
            data.value[at++] = sample_value(&random, values);
            column = whole;
        }
        data.row_start[i + 1] = at;
    }
    if (!sparse) {
        MUST(data_make_dense(&data, width, true, &err));
    }
    return data;
}

#endif
