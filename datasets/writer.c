/* Features, and files: one, or the two of a split. */
#include "datasets/writer.h"

#include "common/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void writer_feature(struct output *output, uint64_t column, int64_t units, int64_t unit) {
    output_text(output, " ");
    output_number(output, (double)(column + 1));
    output_text(output, ":");
    output_number(output, (double)units / (double)unit);
}

int writer_write(const char *path, bool *test, const void *set,
                 void (*write)(const void *set, struct output *out), struct error *err) {
    static const char *const end[] = {".train", ".test"};
    struct output *out;
    if (!test) {
        if (output_open(&out, path, err)) {
            return -1;
        }
        write(set, out);
        return output_end(out, 0, err);
    }
    size_t bytes = strlen(path) + sizeof ".train";
    char *name = memory_array(bytes, 1, "a file name", err);
    int status = name ? 0 : -1;
    for (int side = 0; status == 0 && side < 2; side++) {
        *test = side == 1;
        snprintf(name, bytes, "%s%s", path, end[side]);
        status = writer_write(name, NULL, set, write, err);
    }
    free(name);
    return status;
}
