/* Features, and the two files of a split. */
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

int writer_split(const char *output, bool split, const void *set,
                 int (*write)(const void *set, const char *path, bool test, struct error *err),
                 struct error *err) {
    static const char *const end[] = {".train", ".test"};
    if (!split) {
        return write(set, output, false, err);
    }
    size_t bytes = strlen(output) + sizeof ".train";
    char *path = memory_array(bytes, 1, "a file name", err);
    int status = path ? 0 : -1;
    for (int test = 0; status == 0 && test < 2; test++) {
        snprintf(path, bytes, "%s%s", output, end[test]);
        status = write(set, path, test == 1, err);
    }
    free(path);
    return status;
}
