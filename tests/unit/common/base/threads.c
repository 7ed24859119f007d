/* Lines that threads format are those of one thread, and jobs ahead of their need run once each, in
 * order. */
#include "common/base/ahead.h"
#include "common/base/memory.h"
#include "common/base/output_lines.h"
#include "common/base/text.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <string.h>

/* Every third line is empty, some are longer than buffers. */
static void put_line(const void *context, size_t line, struct output *text) {
    (void)context;
    if (line % 3 == 1) {
        return;
    }
    for (size_t k = 0; k < (line % 100 == 0 ? 20000 : line % 7); k++) {
        output_format(text, "%zu ", line * k);
    }
    output_text(text, "\n");
}

static struct text lines_of(size_t n, struct threads *threads) {
    struct text text = {0};
    struct output *output;
    MUST(output_open_function(&output, "lines", text_take, &text, &err));
    MUST(output_lines(output, n, 512, threads, put_line, NULL, &err));
    MUST(output_end(output, 0, &err));
    return text;
}

static void check_lines(struct threads *threads) {
    const size_t sizes[] = {0, 1, 63, 64, 65, 1000, 5000};
    for (size_t t = 0; t < sizeof sizes / sizeof sizes[0]; t++) {
        struct text one = lines_of(sizes[t], NULL), several = lines_of(sizes[t], threads);
        CHECK(one.n == several.n && (one.n == 0 || memcmp(one.bytes, several.bytes, one.n) == 0),
              "%zu lines differ", sizes[t]);
        free(one.bytes);
        free(several.bytes);
    }
}

/* A full disk ends the output with its error. */
static int refuse(void *context, const char *bytes, size_t n) {
    (void)context, (void)bytes, (void)n;
    return 28;
}

static void check_failure(struct threads *threads) {
    struct output *output;
    MUST(output_open_function(&output, "lines", refuse, NULL, &err));
    MUST(output_lines(output, 5000, 512, threads, put_line, NULL, &err));
    CHECK(output_flush(output, &err) < 0 && strstr(err.text, "lines: "), "%s", err.text);
    err = (struct error){0};
    output_discard(output);
}

/* The body visits numbers, the job computes the next one: x_{k+1} = 3 x_k + 1, modulo 2^32. */
struct series {
    uint32_t x;
    size_t jobs, n;
    bool late; /* the body is slower than the job */
};

static void next_number(void *context) {
    struct series *series = context;
    series->x = 3 * series->x + 1;
    series->jobs++;
}

static void visit_numbers(void *context, struct ahead *ahead) {
    struct series *series = context;
    uint32_t expected = series->x;
    for (size_t k = 0; k < series->n; k++) {
        ahead_post(ahead);
        expected = 3 * expected + 1;
        for (volatile int wait = 0; series->late && wait < 3000000; wait++) {
        }
        ahead_wait(ahead);
        CHECK(series->x == expected && series->jobs == k + 1, "job %zu", k);
    }
}

static void check_ahead(struct threads *threads) {
    for (size_t t = 0; t < 4; t++) {
        struct series series = {.x = 1, .n = t == 3 ? 20 : 10000 * t, .late = t == 3};
        ahead_run(t == 1 ? NULL : threads, visit_numbers, next_number, &series);
        CHECK(series.jobs == series.n, "%zu of %zu jobs", series.jobs, series.n);
    }
}

int main(void) {
    for (size_t n = 1; n <= 3; n++) {
        struct threads *threads;
        MUST(threads_create(&threads, n, &err));
        check_lines(threads);
        check_failure(threads);
        check_ahead(threads);
        threads_free(threads);
        printf("ok: %zu threads\n", n);
    }
    return 0;
}
