#include "driver/table.h"

#include "common/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void table_name(struct output *output, const char *name) {
    static const char special[] = "\t\n\r\\", letter[] = "tnr\\";
    for (; *name; name++) {
        unsigned char byte = (unsigned char)*name;
        const char *found = strchr(special, *name);
        if (found) {
            output_format(output, "\\%c", letter[found - special]);
        } else if (byte < 0x20 || byte == 0x7f) { /* a terminal would obey it */
            output_format(output, "\\x%02x", byte);
        } else {
            output_write(output, name, 1);
        }
    }
}

void table_number(struct output *output, double value) {
    output_write(output, "\t", 1);
    if (isfinite(value)) {
        output_number(output, value);
    }
}

char *table_header(const char *first, const struct measure *list, size_t n, struct error *err) {
    size_t length = strlen(first), size = length + n * (MEASURE_NAME + 1) + 2;
    char *line = memory_array(size, 1, "a header", err);
    if (!line) {
        return NULL;
    }
    memcpy(line, first, length + 1);
    for (size_t k = 0; k < n; k++) {
        length += (size_t)snprintf(line + length, size - length, "\t%s", list[k].name);
    }
    memcpy(line + length, "\n", 2);
    return line;
}
