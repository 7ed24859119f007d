/* read THREADS FILE: reads an svmlight file as the programs do, and nothing else. */
#include "common/data/input.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: read THREADS FILE\n");
        return 2;
    }
    struct error err;
    struct threads *threads = NULL;
    struct data data = {0};
    const struct input_format format = {.labels = DATA_NUMBER};
    int failed = threads_create(&threads, (size_t)strtoul(argv[1], NULL, 10), &err) ||
                 input_read(&data, argv[2], &format, threads, &err);
    if (failed) {
        fprintf(stderr, "read: %s\n", err.text);
    } else {
        printf("%zu rows, %zu values\n", data.n_rows, data_values(&data));
    }
    data_free(&data);
    threads_free(threads);
    return failed ? 1 : 0;
}
