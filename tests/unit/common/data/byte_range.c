/* Byte ranges of random files, plain and gzip, for one to many processes: together they are the
 * file, line for line; rows of a query stay together, and of plain files each line belongs to the
 * right process. */
#include "common/data/lines.h"
#include "tests/unit/check.h"

#include <stdbool.h>
#include <string.h>
#include <zlib.h>

enum { MOST_TEXT = 1 << 20, MOST_LINES = 4096 };

struct line {
    size_t first; /* offset in the text */
    int query;    /* number of its qid, 0 if it has none; -1: not a row */
};

struct file {
    char text[MOST_TEXT];
    size_t length;
    struct line line[MOST_LINES + 1]; /* the end of the text */
    size_t n;
};

static uint64_t state = 1;

static unsigned draw(unsigned n) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % n;
}

static void put(struct file *file, const char *text) {
    size_t length = strlen(text);
    CHECK_TRUE(file->length + length < MOST_TEXT);
    memcpy(file->text + file->length, text, length);
    file->length += length;
}

/* A few queries, each with many spellings. */
static void put_row(struct file *file, int query) {
    static const char *const spelled[][4] = {
        {"", "qid:0", "\tqid:+0 ", "qid:0.0"},
        {"qid:1", "qid:+1", " qid:1.0 ", "qid:01"},
        {"qid:Eawag", "qid:Eawag", "\tqid:Eawag ", "qid:Eawag"},
        {"qid:-3", "qid:-3.0", "qid:-30e-1", "qid:-3"}};
    static const char *const labels[] = {"1 ", "-0.5 ", " 2\t", "+1 "};
    put(file, labels[draw(4)]);
    put(file, spelled[query][draw(4)]);
    for (unsigned k = draw(4); k > 0; k--) {
        put(file, k % 2 ? " 1:2.5" : " 7:1 9:2"); /* indices need not ascend here */
    }
    if (draw(6) == 0) {
        put(file, query % 2 ? "# qid:2" : " # 5:5 qid:Eawag");
    }
}

static void put_long(struct file *file, unsigned length) {
    static const char filler[] = " 3:1.25 # filler qid:9 ";
    for (unsigned k = 0; k < length; k += sizeof filler - 1) {
        put(file, filler);
    }
}

static int put_line(struct file *file, int query, bool rare) {
    static const char *const none[] = {"", " ", "\t \t", "# qid:1", "  # a comment", "#"};
    if (draw(3) == 0) {
        put(file, none[draw(6)]);
        if (rare && draw(20) == 0) {
            put(file, "#");
            put_long(file, draw(200000));
        }
        return -1;
    }
    put_row(file, query);
    if (rare && draw(30) == 0) {
        put_long(file, draw(150000));
    }
    return query;
}

/* Runs of queries, of one row to hundreds, among lines that are not rows. */
static void make(struct file *file, unsigned lines, bool rare) {
    int query = (int)draw(4);
    unsigned run = 1 + draw(6);
    file->length = file->n = 0;
    while (file->n < lines && file->length < MOST_TEXT - 400000) {
        if (draw(run) == 0) {
            query = (int)draw(4);
            run = draw(10) == 0 ? 300 : 1 + draw(6);
        }
        struct line *line = &file->line[file->n++];
        line->first = file->length;
        line->query = put_line(file, query, rare);
        put(file, draw(4) == 0 ? "\r\n" : "\n");
    }
    if (draw(2) == 0 && file->length > 0) {
        file->length--; /* no newline at the end */
        if (file->n > 0 && file->line[file->n - 1].first == file->length) {
            file->n--; /* an empty line would vanish */
        }
    }
    file->line[file->n] = (struct line){file->length, -1};
}

static void write_file(const struct file *file, const char *path, bool gzip) {
    size_t members = gzip ? 1 + draw(3) : 1, first = 0;
    remove(path);
    for (size_t m = 0; m < members; m++) {
        size_t end =
            m + 1 == members ? file->length : first + draw(1 + (unsigned)(file->length - first));
        if (gzip) {
            gzFile out = gzopen(path, draw(2) ? "ab9" : "ab1");
            unsigned length = (unsigned)(end - first);
            CHECK_TRUE(out && (length == 0 || gzwrite(out, file->text + first, length) > 0));
            CHECK_TRUE(gzclose(out) == Z_OK);
        } else {
            FILE *out = fopen(path, "wb");
            CHECK_TRUE(out && fwrite(file->text, 1, file->length, out) == file->length);
            CHECK_TRUE(fclose(out) == 0);
        }
        first = end;
    }
}

/* The process of each line of a plain file by the rule: that whose range has its first byte, or the
 * first byte of the run of its query; lines before the first row of a process belong to the process
 * before it. */
static void assign(const struct file *file, size_t n, bool queries, size_t *rank) {
    size_t r = 0, of_run = 0;
    int last = -1;
    bool any = false;
    for (size_t i = 0; i < file->n; i++) {
        const struct line *line = &file->line[i];
        size_t of_byte = r;
        while (of_byte + 1 < n && line->first >= file->length / n * (of_byte + 1) +
                                                     file->length % n * (of_byte + 1) / n) {
            of_byte++;
        }
        if (!queries) {
            rank[i] = of_run = of_byte;
        } else if (line->query >= 0 && (!any || line->query != last)) {
            of_run = of_byte;
        } else if (line->query < 0 && i == 0) {
            of_run = of_byte;
        }
        rank[i] = of_run;
        r = of_run;
        last = line->query >= 0 ? line->query : last;
        any |= line->query >= 0;
    }
}

/* Reads range r and compares it with the text from line *at on, which becomes the line after it. */
static size_t read_part(const struct file *file, const char *path, size_t r, size_t n, bool queries,
                        size_t at, struct threads *threads) {
    const struct lines_part part = {r, n, queries};
    struct lines *lines;
    size_t batch = 1 + draw(draw(2) ? 100 : 100000);
    MUST(lines_open(&lines, path, &part, batch, draw(2) ? threads : NULL, &err));
    for (;;) {
        const char *text;
        size_t length;
        MUST(lines_next(lines, &text, &length, &err));
        if (length == 0) {
            break;
        }
        for (const char *end = text + length; text < end; at++) {
            const char *newline = memchr(text, '\n', (size_t)(end - text));
            size_t first = file->line[at].first, own = (size_t)(newline + 1 - text);
            size_t left = file->length - first;
            CHECK(at < file->n, "rank %zu of %zu has a line too many", r, n);
            CHECK(memcmp(text, file->text + first, own < left ? own : left) == 0 &&
                      (own == file->line[at + 1].first - first ||
                       (own == left + 1 && at + 1 == file->n)),
                  "rank %zu of %zu, line %zu is another", r, n, at);
            text = newline + 1;
        }
    }
    lines_close(lines);
    return at;
}

static void read_parts(const struct file *file, const char *path, size_t n, bool queries, bool gzip,
                       struct threads *threads) {
    static size_t rank[MOST_LINES];
    size_t at = 0;
    assign(file, n, queries, rank);
    for (size_t r = 0; r < n; r++) {
        size_t next = read_part(file, path, r, n, queries, at, threads);
        for (size_t i = at; i < next && !gzip; i++) {
            CHECK(rank[i] == r, "line %zu is on rank %zu of %zu, not %zu", i, r, n, rank[i]);
        }
        int before = -1, behind = -1;
        for (size_t i = 0; i < next; i++) {
            before = file->line[i].query >= 0 ? file->line[i].query : before;
        }
        for (size_t i = next; i < file->n && behind < 0; i++) {
            behind = file->line[i].query;
        }
        CHECK(!queries || next == at || behind < 0 || before != behind,
              "rank %zu of %zu ends within query %d", r, n, before);
        at = next;
    }
    CHECK(at == file->n, "%zu of %zu lines are on no rank of %zu", file->n - at, file->n, n);
}

int main(int argc, char **argv) {
    static struct file file;
    struct threads *threads;
    CHECK_TRUE(argc == 2);
    MUST(threads_create(&threads, 2, &err));
    for (unsigned round = 0; round < 400; round++) {
        static const unsigned sizes[] = {0, 1, 2, 5, 40, 400};
        bool gzip = round % 2, rare = round % 16 > 13;
        make(&file, round % 50 == 48 ? 3000 : sizes[draw(6)], rare);
        write_file(&file, argv[1], gzip);
        for (unsigned k = 0; k < 4; k++) {
            size_t n = k == 3 ? 1 + draw(60) : 1 + draw(6);
            read_parts(&file, argv[1], n, k % 2, gzip, threads);
        }
    }
    threads_free(threads);
    printf("ok: parts are the file, line for line\n");
    return 0;
}
