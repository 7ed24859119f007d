/* Runs a fuzz target on files, without a fuzzer: `TARGET-replay FILE...`. A violated property ends
 * the program. Prints the number of files. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The bytes of a file in a block of exactly its length, so that a sanitizer detects a read past it.
 */
static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) < 0) {
        perror(path);
        exit(1);
    }
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size ? *size : 1);
    if (!bytes || fread(bytes, 1, *size, file) != *size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return bytes;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        size_t size;
        uint8_t *bytes = read_file(argv[i], &size);
        fprintf(stderr, "%s\n", argv[i]);
        LLVMFuzzerTestOneInput(bytes, size);
        free(bytes);
    }
    fprintf(stderr, "ok: %d inputs\n", argc - 1);
    return 0;
}
