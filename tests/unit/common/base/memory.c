/* Arrays that grow: what is in them stays, room is a power of two and never less than it was, and
 * what cannot be had leaves everything as it is. */
#include "common/base/memory.h"

#include "tests/unit/check.h"

#include <string.h>

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
        CHECK(memory_grow(&plain, memory_room(0, n), n + 1, sizeof *plain, "items", &err) == 0 &&
                  memory_grow(&wide, room, n + 1, sizeof *wide, "items", &err) == 0 &&
                  memory_grow(&narrow, room, n + 1, sizeof *narrow, "items", &err) == 0,
              "%s", err.text);
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

int main(void) {
    check_room();
    check_sizes();
    check_grow();
    return 0;
}
