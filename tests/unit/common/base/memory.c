/* Sizes beyond any memory are refused, zeros are zeros, and limits of control groups are known. */
#define _GNU_SOURCE /* mkdtemp */

#include "common/base/available.h"
#include "common/base/threads.h"
#include "tests/unit/check.h"

#include <string.h>
#include <sys/stat.h>

/* Sizes that overflow are refused, not wrapped around. */
static void check_sizes(void) {
    void *none = memory_array(SIZE_MAX / 4, 8, "items", &err);
    CHECK(!none && strstr(err.text, "out of memory: "), "an array of 2^65 bytes");
    err = (struct error){0};
    none = memory_zeros(SIZE_MAX / 2 + 2, 1, "items", &err);
    CHECK(!none && strstr(err.text, " for items"), "more than half of all addresses");
    err = (struct error){0};
    none = memory_text("", SIZE_MAX, "a name", &err);
    CHECK(!none && strstr(err.text, " for a name"), "a text without room for its end");
}

static bool always(void *context) {
    (void)context;
    return true;
}

/* Blocks that hold old contents are all zero, also while a limit of runs is met. */
static void check_zeros(void) {
    const size_t sizes[] = {1, 1000, ((size_t)8 << 20) + 3, (size_t)20 << 20};
    struct threads *threads;
    CHECK(threads_create(&threads, 3, &err) == 0, "%s", err.text);
    for (size_t t = 0; t < 12; t++) {
        size_t bytes = sizes[t / 3], wrong = 0;
        char *block = memory_array(bytes, 1, "old contents", &err);
        CHECK(block, "%s", err.text);
        memset(block, 1, bytes);
        free(block);
        threads_limit(threads, t % 3 == 2 ? always : NULL, NULL);
        block = threads_zeros(threads, bytes, 1, "zeros", &err);
        CHECK(block, "%s", err.text);
        for (size_t k = 0; k < bytes; k++) {
            wrong += block[k] != 0;
        }
        CHECK(wrong == 0, "%zu of %zu bytes are not 0", wrong, bytes);
        free(block);
    }
    threads_free(threads);
}

/* ---- available memory ---- */

static char place[4096];

/* Writes a file of the folder `place`. */
static void put(const char *name, const char *text) {
    char path[2 * sizeof place];
    snprintf(path, sizeof path, "%s/%s", place, name);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
}

static void put_folder(const char *name) {
    char path[2 * sizeof place];
    snprintf(path, sizeof path, "%s/%s", place, name);
    CHECK(mkdir(path, 0700) == 0, "%s", path);
}

/* Control groups in the form of Linux, of both versions, in a folder of the test. */
static void check_groups(void) {
    char list[2 * sizeof place];
    const char *temporary = getenv("TMPDIR");
    double most;
    snprintf(place, sizeof place, "%s/dualsvm-groups-XXXXXX", temporary ? temporary : "/tmp");
    CHECK(mkdtemp(place), "%s", place);
    snprintf(list, sizeof list, "%s/list", place);
    CHECK(isinf(available_in_groups(list, place, &most)) && isinf(most), "without a list");
    put("list", "0::/a/b\n");
    CHECK(isinf(available_in_groups(list, place, &most)) && isinf(most), "without groups");
    put_folder("a");
    put_folder("a/b");
    put("a/b/memory.max", "max\n");
    put("a/b/memory.current", "5000\n");
    CHECK(isinf(available_in_groups(list, place, &most)) && isinf(most), "a group without a limit");
    put("a/memory.max", "9000\n");
    put("a/memory.current", "6000\n");
    CHECK(available_in_groups(list, place, &most) == 3000 && most == 9000, "of the group above");
    put("a/b/memory.max", "6500\n");
    CHECK(available_in_groups(list, place, &most) == 1500 && most == 6500, "of its own");
    put("a/b/memory.stat", "anon 1\ninactive_file 700\nactive_file 9\n");
    CHECK(available_in_groups(list, place, &most) == 2200 && most == 6500,
          "with files that are cached");
    put("a/b/memory.current", "7700\n");
    CHECK(available_in_groups(list, place, &most) == 0 && most == 6500, "nothing is left");
    put("list", "5:cpu:/\n4:memory:/c\n0::/\n"); /* version 1 */
    put_folder("memory");
    put_folder("memory/c");
    put("memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("memory/c/memory.limit_in_bytes", "4096\n");
    put("memory/c/memory.usage_in_bytes", "1096\n");
    put("memory/c/memory.stat", "inactive_file 5\ntotal_inactive_file 96\n");
    CHECK(available_in_groups(list, place, &most) == 3096 && most == 4096, "of version 1");
    put("list", "4:memory:/elsewhere\nnonsense\n"); /* a container that sees only its own root */
    put("memory/memory.limit_in_bytes", "2048\n");
    put("memory/memory.usage_in_bytes", "48\n");
    CHECK(available_in_groups(list, place, &most) == 2000 && most == 2048,
          "of the root that is seen");
    puts("ok: limits of control groups are known");
}

int main(void) {
    check_sizes();
    check_zeros();
    check_groups();
    return 0;
}
