/* Threads format blocks of lines while one writes those of the round before (output_lines.h). */
#include "common/base/output_lines.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/base/text.h"

#include <stdlib.h>

/* A block has as many lines as give about so many numbers, and a round BLOCKS blocks for each
 * thread, but at most a MIN_ROUNDS-th of all: two rounds are in memory. */
enum { BLOCK_NUMBERS = 4096, BLOCKS = 2, MIN_ROUNDS = 16 };

struct block {
    struct output *output; /* to text */
    struct text text;
};

struct lines {
    struct output *output;
    size_t n, per_block;
    void (*put)(const void *context, size_t line, struct output *text);
    const void *context;
    struct block *block; /* (2 n_blocks) two rounds of blocks */
    size_t n_blocks, round;
};

static struct block *blocks_of(const struct lines *lines, size_t round) {
    return lines->block + round % 2 * lines->n_blocks;
}

/* Task 0 writes the blocks of the round before, the others each format a block of this round. */
static void round_task(void *argument, size_t task, size_t worker) {
    const struct lines *lines = argument;
    (void)worker;
    if (task == 0) {
        struct block *block = blocks_of(lines, lines->round + 1);
        for (size_t b = 0; b < lines->n_blocks; b++) {
            output_write(lines->output, block[b].text.bytes, block[b].text.n);
            block[b].text.n = 0;
        }
        return;
    }
    struct block *block = &blocks_of(lines, lines->round)[task - 1];
    size_t first = (lines->round * lines->n_blocks + task - 1) * lines->per_block;
    for (size_t i = first; i < lines->n && i < first + lines->per_block; i++) {
        lines->put(lines->context, i, block->output);
    }
    struct error ignored; /* check_blocks returns it */
    output_flush(block->output, &ignored);
}

static int create_blocks(struct lines *lines, struct error *err) {
    lines->block = memory_zeros(2 * lines->n_blocks, sizeof *lines->block, "lines", err);
    int status = lines->block ? 0 : -1;
    for (size_t b = 0; status == 0 && b < 2 * lines->n_blocks; b++) {
        struct block *block = &lines->block[b];
        status = output_open_function(&block->output, output_path(lines->output), text_take,
                                      &block->text, err);
    }
    return status;
}

static void free_blocks(struct lines *lines) {
    for (size_t b = 0; lines->block && b < 2 * lines->n_blocks; b++) {
        output_discard(lines->block[b].output);
        free(lines->block[b].text.bytes);
    }
    free(lines->block);
}

/* Returns the error of a block: memory was short. */
static int check_blocks(struct lines *lines, struct error *err) {
    for (size_t b = 0; b < 2 * lines->n_blocks; b++) {
        if (output_flush(lines->block[b].output, err) < 0) {
            return -1;
        }
    }
    return 0;
}

int output_lines(struct output *output, size_t n, size_t width, struct threads *threads,
                 void (*put)(const void *context, size_t line, struct output *text),
                 const void *context, struct error *err) {
    size_t per_block = larger(1, BLOCK_NUMBERS / larger(1, width));
    size_t blocks = smaller(BLOCKS * threads_count(threads), n / per_block / MIN_ROUNDS);
    struct lines lines = {output, n, per_block, put, context, NULL, blocks, 0};
    if (threads_count(threads) == 1 || blocks < 2) {
        for (size_t i = 0; i < n; i++) {
            put(context, i, output);
        }
        return 0;
    }
    int status = create_blocks(&lines, err);
    size_t rounds = (n + blocks * lines.per_block - 1) / (blocks * lines.per_block);
    for (; status == 0 && lines.round <= rounds; lines.round++) {
        threads_run(threads, 1 + blocks, round_task, &lines);
        status = check_blocks(&lines, err);
    }
    free_blocks(&lines);
    return status;
}
