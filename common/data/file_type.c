/* The table of signatures, and the messages for types that are not read. */
#include "common/data/file_type.h"

#include <string.h>

/* The first bytes of compressed files, with the command that decompresses them to standard output,
 * and of encodings. */
struct signature {
    const char *bytes;
    size_t n;
    const char *what, *command; /* command NULL: an encoding */
};

enum { UTF_8 }; /* its row in the table */

static const struct signature signatures[] = {
    {HEAD_MARK, 3, "UTF-8", NULL},
    {"\xff\xfe", 2, "UTF-16", NULL},
    {"\xfe\xff", 2, "UTF-16", NULL},
    {"BZh?1AY&SY", 10, "bzip2", "bzip2 -dc"},       /* ?: the size of its blocks, 1 to 9 */
    {"BZh?\x17rE8P\x90", 10, "bzip2", "bzip2 -dc"}, /* an empty file */
    {"\xfd"
     "7zXZ\0",
     6, "xz", "xz -dc"},
    {"\x5d\0\0", 3, "lzma", "xz -dc"},
    {"\x28\xb5\x2f\xfd", 4, "zstd", "zstd -dc"},
    {"\x04\x22\x4d\x18", 4, "lz4", "lz4 -dc"},
    {"\x1f\x8b", 2, "gzip", "gzip -dc"}, /* read directly, but not within gzip */
    {"\x1f\x9d", 2, "compress", "gzip -dc"},
    {"PK\x03\x04", 4, "zip", "unzip -p"}};

enum { N_SIGNATURES = sizeof signatures / sizeof signatures[0] };

/* How many of the first n bytes are those of the signature. */
static size_t matching(const struct signature *signature, const unsigned char *bytes, size_t n) {
    size_t k = 0;
    while (k < n && k < signature->n &&
           (bytes[k] == (unsigned char)signature->bytes[k] ||
            (signature->bytes[k] == '?' && bytes[k] >= '1' && bytes[k] <= '9'))) {
        k++;
    }
    return k;
}

bool head_wants_more(const unsigned char *bytes, size_t n) {
    bool more = false;
    for (size_t i = 0; i < N_SIGNATURES; i++) {
        more |= n < signatures[i].n && matching(&signatures[i], bytes, n) == n;
    }
    return more;
}

/* The signature that the bytes begin with, or NULL. */
static const struct signature *find(const unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < N_SIGNATURES; i++) {
        if (matching(&signatures[i], bytes, n) == signatures[i].n) {
            return &signatures[i];
        }
    }
    return NULL;
}

/* The name, if a shell needs no quotes for it, else a placeholder. */
static const char *operand(const char *name) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_./+-,@:%";
    enum { MAX_LENGTH = 100 };
    size_t length = strlen(name);
    return length <= MAX_LENGTH && name[0] != '-' && strspn(name, plain) == length ? name : "FILE";
}

int head_unpacked(const char *name, bool in_gzip, const unsigned char *bytes, size_t n,
                  struct error *err) {
    const struct signature *found = find(bytes, n);
    if (!found || !found->command) {
        return 0;
    }
    return in_gzip
               ? error_set(err, ERROR_RUNTIME,
                           "%s: compressed by %s, and again by gzip: read it by gzip -dc %s | %s | "
                           "svm-... -",
                           name, found->what, operand(name), found->command)
               : error_set(err, ERROR_RUNTIME, "%s: compressed by %s: read it by %s %s | svm-... -",
                           name, found->what, found->command, operand(name));
}

int head_text(const char *name, const unsigned char *bytes, size_t n, size_t *skip,
              struct error *err) {
    const struct signature *found = find(bytes, n);
    *skip = found == &signatures[UTF_8] ? found->n : 0;
    return found && !found->command && *skip == 0
               ? error_set(err, ERROR_RUNTIME, "%s: is UTF-16: UTF-8 is expected", name)
               : 0;
}
