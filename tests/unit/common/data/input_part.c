/* Processes that read byte ranges of a file, or one file each: together they have all rows once,
 * and an error has its line number in the whole file. */
#define _POSIX_C_SOURCE 200809L /* barriers */
#include "common/data/input.h"
#include "tests/unit/ranks.h"

enum { LINES = 60 };

struct reading {
    const char *path;
    bool whole;               /* each process reads it all, as a file of its own */
    size_t bad;               /* the line, from 1; 0: none */
    size_t n_rows[MAX_RANKS]; /* by process */
    size_t n_lines[MAX_RANKS];
    bool told[MAX_RANKS];
};

static void write_file(const char *path, size_t bad) {
    FILE *file = fopen(path, "w");
    CHECK_TRUE(file);
    for (size_t line = 1; line <= LINES; line++) {
        fprintf(file, "%zu 1:%s\n", line, line == bad ? "x" : "1");
    }
    fclose(file);
}

static void read_part(struct cluster *cluster, void *context) {
    struct reading *reading = context;
    const struct input_format format = {.labels = DATA_NUMBER};
    const struct input_share share = {.cluster = cluster, .whole = reading->whole};
    struct input_found found;
    struct data data;
    char wanted[100];
    size_t rank = cluster_rank(cluster);
    int status = input_read_part(&data, reading->path, &format, &share, NULL, &found, &err);
    CHECK(status == (reading->bad > 0 ? -1 : 0), "line %zu is bad: %d, %s", reading->bad, status,
          err.text);
    snprintf(wanted, sizeof wanted, ":%zu:%d: ", reading->bad, reading->bad < 10 ? 5 : 6);
    reading->told[rank] = err.text[0];
    CHECK(!err.text[0] || strstr(err.text, wanted), "%s, not line %zu", err.text, reading->bad);
    reading->n_rows[rank] = data.n_rows;
    reading->n_lines[rank] = found.n_lines;
    data_free(&data);
}

static void check_parts(size_t ranks, struct reading *reading) {
    size_t rows = 0, lines = 0, told = 0, times = reading->whole ? ranks : 1;
    write_file(reading->path, reading->bad);
    ranks_run(ranks, read_part, reading);
    for (size_t r = 0; r < ranks; r++) {
        rows += reading->n_rows[r];
        lines += reading->n_lines[r];
        told += reading->told[r];
    }
    CHECK(told == (reading->bad > 0 ? times : 0), "%zu of %zu ranks tell of line %zu", told, ranks,
          reading->bad);
    CHECK(reading->bad > 0 ? rows == 0 : rows == times * LINES && lines == rows,
          "%zu rows, %zu lines", rows, lines);
}

int main(int n, char **words) {
    CHECK_TRUE(n == 2); /* a path to write */
    for (size_t ranks = 1; ranks <= MAX_RANKS; ranks++) {
        for (size_t bad = 0; bad <= LINES; bad++) {
            struct reading reading = {.path = words[1], .bad = bad};
            check_parts(ranks, &reading);
            reading.whole = true;
            check_parts(ranks, &reading);
        }
    }
    puts("ok: parts of a file on ranks");
    return 0;
}
