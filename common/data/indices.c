/* Lists of indices are found with bit maps over windows of columns, and searched by buckets of
 * leading bits. */
#include "common/data/indices.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORD = 64,
    MIN_BITS = 1 << 24, /* minimum bits of a window */
    BITS_PER_ENTRY = 32 /* bits of a window for each entry of the arrays */
};

/* ---- the columns that occur ---- */

/* A bit map of the columns [from, from + n). */
struct window {
    uint64_t *bits;
    uint64_t from, n;
    uint64_t next; /* the first column after the window that occurs */
};

/* The list so far. */
struct found {
    uint32_t *at; /* (n), allocated for `room` */
    size_t n, room;
};

static void mark(struct window *window, const struct indices_part *part) {
    for (size_t k = 0; k < part->n; k++) {
        uint64_t column = part->column ? part->column[k] : k, bit = column - window->from;
        if (bit < window->n) { /* a column before the window wraps around */
            window->bits[bit / WORD] |= UINT64_C(1) << bit % WORD;
        } else if (column > window->from && column < window->next) {
            window->next = column;
        }
    }
}

/* Appends the columns of the window to the list and clears the window. */
static int take(struct window *window, struct found *found, struct error *err) {
    for (size_t w = 0; w < window->n / WORD; w++) {
        uint64_t bits = window->bits[w];
        if (bits == 0) {
            continue;
        }
        if (memory_grow(&found->at, found->room, found->n + WORD, sizeof *found->at, "indices",
                        err) < 0) {
            return -1;
        }
        found->room = memory_room(found->room, found->n + WORD);
        for (; bits != 0; bits &= bits - 1) {
            uint64_t bit = w * WORD + (size_t)__builtin_ctzll(bits);
            found->at[found->n++] = (uint32_t)(window->from + bit);
        }
        window->bits[w] = 0;
    }
    return 0;
}

int indices_list(struct indices *indices, const struct indices_part *part, size_t n_parts,
                 struct error *err) {
    size_t given = 0;
    for (size_t p = 0; p < n_parts; p++) {
        given += part[p].n;
    }
    size_t bits = larger(MIN_BITS, smaller(given, UINT32_MAX / BITS_PER_ENTRY) * BITS_PER_ENTRY);
    struct window window = {.n = (bits + WORD - 1) / WORD * WORD};
    struct found found = {.at = memory_array(0, sizeof *found.at, "indices", err)};
    window.bits = memory_zeros((size_t)(window.n / WORD), sizeof *window.bits, "indices", err);
    int status = found.at && window.bits ? 0 : -1;
    *indices = (struct indices){0};
    while (status == 0 && window.from <= UINT32_MAX) {
        window.next = UINT64_MAX;
        for (size_t p = 0; p < n_parts; p++) {
            mark(&window, &part[p]);
        }
        status = take(&window, &found, err);
        window.from = window.next;
    }
    free(window.bits);
    if (status < 0) {
        free(found.at);
        return -1;
    }
    return indices_take(indices, found.at, found.n, err);
}

int indices_few(const uint32_t *column, size_t n, uint32_t n_columns, struct error *err) {
    uint32_t half = n_columns / 2, seen = 0;
    if (n_columns < INDICES_WORTH) {
        return 0;
    }
    if (n < half) {
        return 1;
    }
    uint64_t *bits = memory_zeros(n_columns / WORD + 1, sizeof *bits, "indices", err);
    if (!bits) {
        return -1;
    }
    for (size_t k = 0; k < n && seen < half; k++) {
        uint64_t bit = UINT64_C(1) << column[k] % WORD, *word = &bits[column[k] / WORD];
        seen += (*word & bit) == 0;
        *word |= bit;
    }
    free(bits);
    return seen < half;
}

/* ---- lists ---- */

/* About one index for each bucket, if indices are uniform. */
static int make_buckets(struct indices *indices, struct error *err) {
    unsigned bits = 0;
    while (bits < 31 && UINT32_C(2) << bits <= indices->n) {
        bits++;
    }
    size_t n_buckets = (size_t)1 << bits;
    indices->shift = 32 - bits;
    indices->bucket = memory_array(n_buckets + 1, sizeof *indices->bucket, "indices", err);
    if (!indices->bucket) {
        return -1;
    }
    uint32_t i = 0;
    for (size_t b = 0; b <= n_buckets; b++) {
        while (i < indices->n && (uint64_t)indices->at[i] >> indices->shift < b) {
            i++;
        }
        indices->bucket[b] = i;
    }
    return 0;
}

int indices_take(struct indices *indices, uint32_t *at, size_t n, struct error *err) {
    *indices = (struct indices){.n = (uint32_t)n, .at = at};
    if (make_buckets(indices, err) < 0) {
        indices_free(indices);
        return -1;
    }
    return 0;
}

int indices_copy(const struct indices *indices, struct indices *copy, struct error *err) {
    *copy = (struct indices){0};
    if (!indices->at) {
        return 0;
    }
    uint32_t *at = memory_array(indices->n, sizeof *at, "indices", err);
    if (!at) {
        return -1;
    }
    memcpy(at, indices->at, indices->n * sizeof *at);
    return indices_take(copy, at, indices->n, err);
}

void indices_free(struct indices *indices) {
    free(indices->at);
    free(indices->bucket);
    *indices = (struct indices){0};
}

uint32_t indices_find(const struct indices *indices, uint32_t index) {
    size_t b = (size_t)((uint64_t)index >> indices->shift);
    uint32_t low = indices->bucket[b], high = indices->bucket[b + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (indices->at[middle] < index) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < indices->bucket[b + 1] && indices->at[low] == index ? low : INDICES_NONE;
}
