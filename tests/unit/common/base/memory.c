/* Arrays that grow: what is in them stays, room is a power of two and never less than it was, and
 * what cannot be had leaves everything as it is. */
/* for mkdir, mkdtemp and setrlimit */
#define _GNU_SOURCE
#include "common/base/memory.h"

#include "common/base/available.h"
#include "tests/unit/check.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void check_room(void) {
    CHECK(memory_room(0, 0) == 0, "room for nothing");
    for (size_t room = 0; room < 70; room++) {
        for (size_t wanted = 0; wanted < 140; wanted++) {
            size_t next = memory_room(room, wanted);
            CHECK(wanted > room || next == room, "%zu of %zu: %zu", wanted, room, next);
            if (wanted > room) {
                CHECK((next & (next - 1)) == 0 && next >= wanted && next / 2 < wanted,
                      "%zu of %zu: %zu", wanted, room, next);
            }
        }
    }
    CHECK(memory_room(0, SIZE_MAX / 2 + 1) == SIZE_MAX / 2 + 1 &&
              memory_room(3, SIZE_MAX) == SIZE_MAX,
          "what no array holds");
    puts("ok: room is a power of two, and enough");
}

/* One array that does not store its room, and two that share what they store. */
static void check_grow(void) {
    enum { N = 5000 };
    struct error err;
    uint32_t *plain = NULL;
    double *wide = NULL;
    char *narrow = NULL;
    size_t room = 0, moves = 0;
    for (size_t n = 0; n < N; n++) {
        const void *before = plain;
        MUST(memory_grow(&plain, memory_room(0, n), n + 1, sizeof *plain, "items", &err));
        MUST(memory_grow(&wide, room, n + 1, sizeof *wide, "items", &err));
        MUST(memory_grow(&narrow, room, n + 1, sizeof *narrow, "items", &err));
        moves += plain != before || memory_room(0, n) < n + 1;
        room = memory_room(room, n + 1);
        plain[n] = (uint32_t)n;
        wide[n] = (double)n;
        narrow[n] = (char)(n % 100);
    }
    CHECK(room == 8192 && moves <= 14, "room for %zu after %zu moves", room, moves);
    for (size_t n = 0; n < N; n++) {
        CHECK(plain[n] == n && wide[n] == (double)n && narrow[n] == (char)(n % 100), "item %zu", n);
    }
    double *same = wide;
    CHECK(memory_grow(&wide, room, 17, sizeof *wide, "items", &err) == 0 && wide == same,
          "an array that is large enough was moved");
    CHECK(memory_grow(&wide, room, SIZE_MAX / 16, sizeof *wide, "items", &err) < 0 &&
              strstr(err.text, "out of memory") && wide == same && wide[N - 1] == N - 1,
          "an array that no memory holds");
    CHECK(memory_grow(&wide, room, SIZE_MAX, sizeof *wide, "items", &err) < 0 && wide == same,
          "a size that overflows");
    free(plain);
    free(wide);
    free(narrow);
    puts("ok: arrays grow with what is in them, or stay as they are");
}

/* Sizes that do not fit are refused, not wrapped around. */
static void check_sizes(void) {
    struct error err = {0};
    void *none = memory_array(SIZE_MAX / 4, 8, "items", &err);
    CHECK(!none && strstr(err.text, "out of memory: "), "an array of 2^65 bytes");
    err = (struct error){0};
    none = memory_zeros(SIZE_MAX / 2 + 2, 1, "items", &err);
    CHECK(!none && strstr(err.text, " for items"), "more than half of all addresses");
    err = (struct error){0};
    none = memory_text("", SIZE_MAX, "a name", &err);
    CHECK(!none && strstr(err.text, " for a name"), "a text without room for its end");
}

/* ---- what is free ---- */

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

/* Control groups as Linux shows them, of both versions, in a folder of our own. */
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
    put("list", "4:memory:/elsewhere\nnonsense\n"); /* a container that sees its own root only */
    put("memory/memory.limit_in_bytes", "2048\n");
    put("memory/memory.usage_in_bytes", "48\n");
    CHECK(available_in_groups(list, place, &most) == 2000 && most == 2048,
          "of the root that is seen");
    puts("ok: limits of control groups are known");
}

/* What is left of the address space and of data is what is left of their limits. */
static void check_limits(void) {
    struct error err = {0};
    const struct rlimit limit = {.rlim_cur = (rlim_t)1 << 46, .rlim_max = RLIM_INFINITY},
                        lower = {.rlim_cur = (rlim_t)1 << 45, .rlim_max = RLIM_INFINITY};
    double before = available_memory();
    CHECK(before > 0 && available_limit() > 0, "%g bytes are free", before);
    CHECK(memory_expect(0x1p62, "items", &err) < 0 && strstr(err.text, "MB for items, of "), "%s",
          err.text);
    struct rlimit old;
    CHECK_TRUE(getrlimit(RLIMIT_AS, &old) == 0);
    if (old.rlim_cur == RLIM_INFINITY && setrlimit(RLIMIT_AS, &limit) == 0) {
        CHECK(available_limit() <= 0x1p46 && available_memory() < 0x1p46, "a limit of 2^46");
        CHECK(memory_physical() > 0, "memory");
    }
    CHECK_TRUE(getrlimit(RLIMIT_DATA, &old) == 0);
    if (old.rlim_cur == RLIM_INFINITY && setrlimit(RLIMIT_DATA, &lower) == 0) {
        CHECK(available_limit() <= 0x1p45 && available_memory() < 0x1p45, "a limit of data");
    }
    puts("ok: limits of the address space and of data are known");
}

int main(void) {
    check_room();
    check_sizes();
    check_grow();
    check_groups();
    check_limits();
    return 0;
}
