/* Decompressors against one another and against the original text: members with every header field,
 * whole, truncated anywhere, with changed bits, with input and output space in pieces of any size;
 * and files of members of known length, by one thread and by several. */
#define _GNU_SOURCE
#define ZLIB_CONST
#include "common/data/gzip.h"

#include "common/data/gzip_members.h"
#include "common/data/source.h"
#include "tests/unit/check.h"

#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { TEXT = 20000, PACKED = 2 * TEXT };

static uint64_t state = 1;

static size_t draw(size_t n) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(state >> 33) % n;
}

static size_t draw_text(unsigned char *text) {
    size_t length = draw(5) ? draw(draw(2) ? 100 : TEXT) : 0;
    for (size_t i = 0; i < length; i++) {
        text[i] = (unsigned char)(i > 20 && draw(4) ? text[i - 1 - draw(20)] : draw(30) + 'a');
    }
    return length;
}

/* A member of text[0..length) with some of the fields. Returns its length. */
static size_t pack(const unsigned char *text, size_t length, unsigned fields,
                   unsigned char *packed) {
    unsigned char name[] = "name", comment[] = "comment", extra[] = {'B', 'C', 2, 0, 7, 7};
    gz_header header = {.text = (fields & 1) != 0,
                        .extra = fields & 2 ? extra : NULL,
                        .extra_len = sizeof extra,
                        .name = fields & 4 ? name : NULL,
                        .comment = fields & 8 ? comment : NULL,
                        .hcrc = (fields & 16) != 0};
    z_stream z = {
        .next_in = text, .avail_in = (uInt)length, .next_out = packed, .avail_out = PACKED};
    CHECK_TRUE(deflateInit2(&z, (int)draw(10), Z_DEFLATED, 31, 8, (int)draw(5)) == Z_OK);
    CHECK_TRUE(deflateSetHeader(&z, &header) == Z_OK);
    CHECK_TRUE(deflate(&z, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&z);
    return PACKED - z.avail_out;
}

/* The extra field, if it is the only one, says that the member has this length. */
static void tell(unsigned char *packed, size_t length) {
    packed[16] = (unsigned char)((length - 1) & 255);
    packed[17] = (unsigned char)((length - 1) >> 8);
}

static size_t header_length(unsigned fields) {
    size_t length = 10;
    length += fields & 2 ? 8 : 0;
    length += fields & 4 ? sizeof "name" : 0;
    length += fields & 8 ? sizeof "comment" : 0;
    return length + (fields & 16 ? 2 : 0);
}

/* ---- Decompressors -------------------------------------------------------------------------- */

struct inflated {
    unsigned char text[TEXT + 1];
    size_t length, left; /* left: bytes after the end */
    enum gzip_status status;
};

static void inflate_all(const struct gzip_decompressor *engine, const unsigned char *in,
                        size_t n_in, bool pieces, struct inflated *to) {
    void *inflater = engine->open(&err);
    CHECK(inflater, "%s", err.text);
    struct gzip_buffers buffers = {.in = in, .out = to->text};
    const unsigned char *end = in + n_in;
    to->status = GZIP_MORE;
    for (size_t idle = 0; to->status == GZIP_MORE && idle < 50;) {
        size_t left = (size_t)(end - buffers.in);
        size_t room = (size_t)(to->text + TEXT + 1 - buffers.out);
        size_t given = pieces ? draw(draw(2) ? 20 : PACKED) + 1 : left;
        size_t space = pieces ? draw(draw(2) ? 20 : TEXT) + 1 : room;
        buffers.n_in = given < left ? given : left;
        buffers.n_out = space < room ? space : room;
        const unsigned char *before = buffers.in, *text = buffers.out;
        to->status = engine->inflate(inflater, &buffers);
        idle = buffers.in == before && buffers.out == text ? idle + 1 : 0;
    }
    to->length = (size_t)(buffers.out - to->text);
    to->left = (size_t)(end - buffers.in);
    engine->close(inflater);
}

enum changed { NOTHING, HEADER, BODY };

/* The fastest decompressor agrees with zlib. If a bit was changed, it may detect the damage later
 * or, in the compressed data (an unused code, say), find the text correct. */
static void check_same(const unsigned char *packed, size_t length, enum changed changed,
                       const unsigned char *text, size_t text_length) {
    static struct inflated zlib, fastest;
    inflate_all(&gzip_zlib, packed, length, draw(2), &zlib);
    inflate_all(gzip_fastest(), packed, length, draw(2), &fastest);
    bool late = changed != NOTHING && zlib.status == GZIP_CORRUPT && fastest.status == GZIP_MORE;
    if (fastest.status == GZIP_END) {
        CHECK_TRUE(changed == BODY || zlib.status == GZIP_END);
        CHECK_TRUE(fastest.length == text_length && memcmp(fastest.text, text, text_length) == 0);
        CHECK_TRUE(zlib.status == GZIP_CORRUPT || fastest.left == zlib.left);
    } else {
        CHECK(fastest.status == zlib.status || late, "zlib %d, the fastest %d", (int)zlib.status,
              (int)fastest.status);
    }
}

static void test_engines(void) {
    static unsigned char text[TEXT], packed[PACKED], out[TEXT + 1];
    const struct gzip_decompressor *engines[] = {&gzip_zlib, gzip_fastest()};
    void *inflater[] = {engines[0]->open(&err), engines[1]->open(&err)};
    for (unsigned round = 0; round < 200; round++) {
        size_t length = draw_text(text);
        unsigned fields = round % 2 ? 2 : (unsigned)draw(32);
        size_t n = pack(text, length, fields, packed);
        check_same(packed, n, NOTHING, text, length);
        for (size_t e = 0; e < 2 && fields == 2 && length > 0; e++) {
            const struct gzip_decompressor *engine = engines[e];
            CHECK_TRUE(engine->whole(inflater[e], packed, n, out, length));
            CHECK_TRUE(memcmp(out, text, length) == 0);
            CHECK_TRUE(!engine->whole(inflater[e], packed, n, out, length + 1));
            CHECK_TRUE(!engine->whole(inflater[e], packed, n, out, length - 1));
            CHECK_TRUE(!engine->whole(inflater[e], packed, n - 1, out, length));
        }
        for (unsigned k = 0; k < 40; k++) {
            check_same(packed, draw(n), NOTHING, text, length);
            size_t at = draw(3) == 0 ? draw(n) : draw(2) ? draw(n < 40 ? n : 40) : n - 1 - draw(8);
            unsigned char bit = (unsigned char)(1U << draw(8));
            packed[at] ^= bit;
            check_same(packed, n, at >= header_length(fields) ? BODY : HEADER, text, length);
            packed[at] ^= bit;
        }
    }
    engines[0]->close(inflater[0]);
    engines[1]->close(inflater[1]);
    printf("ok: engines agree\n");
}

/* ---- Files of members ----------------------------------------------------------------------- */

enum { MEMBERS = 400, FILE_BYTES = MEMBERS * 8192 };

/* Members most of which have their length in the header, one in 100 of these a wrong one, and zeros
 * at the end. */
static size_t make_file(unsigned char *file, size_t n_members) {
    static unsigned char text[TEXT], packed[PACKED];
    size_t n = 0;
    for (size_t m = 0; m < n_members; m++) {
        size_t length = draw_text(text) / 3;
        size_t own = pack(text, length, draw(20) ? 2 : (unsigned)draw(32), packed);
        size_t told = own + (draw(100) == 0);
        if (packed[3] == 4) {
            tell(packed, told);
        }
        CHECK_TRUE(n + own + 100 <= FILE_BYTES);
        memcpy(file + n, packed, own);
        n += own;
    }
    size_t zeros = draw(2) ? draw(100) : 0;
    memset(file + n, 0, zeros);
    return n + zeros;
}

/* Both read the same bytes, and fail at the same read with the same message. */
static bool read_both(const unsigned char *file, size_t n, struct threads *threads) {
    static char text[2][1 << 17];
    struct source *alone, *shared;
    struct error errors[2];
    CHECK_TRUE(source_open_bytes(&alone, "file", file, n, &errors[0]) == 0);
    CHECK_TRUE(source_open_bytes(&shared, "file", file, n, &errors[1]) == 0);
    bool shareable = source_shareable(shared);
    CHECK(!shareable || source_share(shared, threads, &errors[1]) == 0, "%s", errors[1].text);
    int status = 0;
    for (size_t size, got[2] = {1, 0}; status == 0 && got[0] > 0;) {
        size = draw(2) ? draw(100) + 1 : draw(sizeof text[0]) + 1;
        status = source_read(alone, text[0], size, &got[0], &errors[0]);
        CHECK_TRUE(source_read(shared, text[1], size, &got[1], &errors[1]) == status);
        CHECK_TRUE(status < 0 || (got[0] == got[1] && memcmp(text[0], text[1], got[0]) == 0));
        CHECK(status == 0 || strcmp(errors[0].text, errors[1].text) == 0, "%s / %s", errors[0].text,
              errors[1].text);
    }
    source_close(alone);
    source_close(shared);
    return shareable && status == 0;
}

static void test_members(void) {
    static unsigned char file[FILE_BYTES];
    struct threads *threads;
    unsigned sound = 0;
    MUST(threads_create(&threads, 3, &err));
    for (unsigned round = 0; round < 60; round++) {
        size_t n = make_file(file, round % 4 ? draw(30) + 1 : MEMBERS);
        sound += read_both(file, n, threads);
        read_both(file, draw(n), threads);
        file[draw(n)] ^= (unsigned char)(1U << draw(8));
        read_both(file, n, threads);
    }
    CHECK(sound > 30, "%u files were read by several threads", sound);
    threads_free(threads);
    printf("ok: several threads read what one does\n");
}

/* ---- Single members: which are accepted, and how far both pointers advance ---- */

/* A member with its length in the header. */
static size_t pack_told(const unsigned char *text, size_t length, unsigned char *packed) {
    size_t n = pack(text, length, 2, packed);
    tell(packed, n);
    return n;
}

/* The same of equal letters. */
static size_t pack_letters(unsigned char letter, size_t length, unsigned char *packed) {
    static unsigned char text[1 << 18];
    memset(text, letter, length);
    return pack_told(text, length, packed);
}

/* Decompresses n bytes with space for n_out of text: n_in and this many bytes must be consumed and
 * written. */
static void check_taken(struct members *members, const unsigned char *in, size_t n, size_t n_out,
                        size_t n_in, const unsigned char *text, size_t length) {
    static unsigned char out[1 << 18];
    struct gzip_buffers buffers = {.in = in, .out = out, .n_in = n, .n_out = n_out};
    bool any = members_unpack(members, &buffers);
    CHECK(any == (length > 0) && buffers.in == in + n_in && buffers.n_in == n - n_in &&
              buffers.out == out + length && buffers.n_out == n_out - length,
          "of %zu bytes %zu are taken, not %zu; text of %zu, not %zu", n, n - buffers.n_in, n_in,
          n_out - buffers.n_out, length);
    CHECK_TRUE(memcmp(out, text, length) == 0);
}

static void test_members_alone(void) {
    enum { MOST = 256, ROOM = 1 << 18, LARGEST = 1 << 16 };
    static unsigned char in[ROOM], text[ROOM], noise[30000];
    struct members *members;
    struct threads *threads;
    size_t at[4] = {0}, ends[4] = {0};
    MUST(threads_create(&threads, 2, &err));
    MUST(members_open(&members, threads, &err));
    for (size_t m = 0; m < 3; m++) {
        size_t length = m == 0 ? 1 : m == 1 ? LARGEST : 700;
        memset(text + ends[m], (int)('a' + m), length);
        at[m + 1] = at[m] + pack_letters((unsigned char)('a' + m), length, in + at[m]);
        ends[m + 1] = ends[m] + length;
    }
    check_taken(members, in, at[3], ROOM, at[3], text, ends[3]);
    check_taken(members, in, at[3], ends[3], at[3], text, ends[3]);
    check_taken(members, in, at[3], ends[3] - 1, at[2], text, ends[2]); /* no space for the last */
    check_taken(members, in, at[3] - 1, ROOM, at[2], text, ends[2]);    /* and it is incomplete */
    check_taken(members, in, at[2] + 17, ROOM, at[2], text, ends[2]);
    check_taken(members, in, at[2], ROOM, at[2], text, ends[2]);
    for (size_t bytes = 0; bytes < at[1]; bytes++) {
        check_taken(members, in, bytes, ROOM, 0, text, 0);
    }
    static const size_t marks[] = {0,  1,  2,  3,  10,
                                   11, 12, 13, 14, 15}; /* the field with the length */
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
        in[at[2] + marks[k]] ^= 64;
        CHECK_TRUE(!members_begin(in + at[2], at[3] - at[2]));
        check_taken(members, in, at[3], ROOM, at[2], text, ends[2]);
        in[at[2] + marks[k]] ^= 64;
    }
    CHECK_TRUE(members_begin(in, 18) && !members_begin(in, 17));
    in[at[3] - 6] ^= 1; /* the last one's checksum, and the second one's */
    check_taken(members, in, at[3], ROOM, at[2], text, ends[2]);
    in[at[2] - 6] ^= 1;
    check_taken(members, in, at[3], ROOM, at[1], text, ends[1]);
    /* a text above 2^16, an empty one, and impossible lengths */
    size_t n = pack_letters('x', LARGEST + 1, in);
    check_taken(members, in, n, ROOM, 0, text, 0);
    n = pack_letters('x', 0, in);
    check_taken(members, in, n, ROOM, 0, text, 0);
    n = pack_letters('x', 5, in);
    in[16] = in[17] = 0;
    check_taken(members, in, n, ROOM, 0, text, 0);
    /* members of more than 2^8 and 2^14 bytes, whose length has two bytes */
    for (size_t length = 600; length <= sizeof noise; length += sizeof noise - 600) {
        for (size_t i = 0; i < length; i++) {
            noise[i] = (unsigned char)draw(256);
        }
        n = pack_told(noise, length, in);
        check_taken(members, in, n, ROOM, n, noise, length);
    }
    /* no more than this many in one batch */
    size_t own = pack_letters('a', 1, in);
    for (size_t m = 1; m <= MOST; m++) {
        memcpy(in + m * own, in, own);
    }
    memset(text, 'a', MOST);
    check_taken(members, in, (MOST + 1) * own, ROOM, MOST * own, text, MOST);
    members_close(members);
    members_close(NULL);
    threads_free(threads);
    printf("ok: members are taken where they are whole, sound and have room\n");
}

/* ---- Sources ---- */

/* Offsets beyond any file are refused, and nothing is read after cancellation. */
static void test_source(void) {
    struct source *source;
    char path[40], text[4];
    size_t got;
    FILE *place = tmpfile();
    CHECK_TRUE(place && fputs("text", place) >= 0 && fflush(place) == 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fileno(place));
    MUST(source_open(&source, path, &err));
    CHECK_TRUE(source_seek(source, UINT64_MAX, &err) < 0);
    source_cancel(source);
    MUST(source_seek(source, 0, &err));
    CHECK_TRUE(source_read(source, text, sizeof text, &got, &err) < 0);
    CHECK(strstr(err.text, "cancelled"), "%s", err.text);
    source_close(source);
    fclose(place);
    printf("ok: reading is cancelled\n");
}

int main(void) {
    test_engines();
    test_members();
    test_members_alone();
    test_source();
    return 0;
}
