/* Lists of the indices that occur, against sorting; and compact rows. */
#include "common/data/indices.h"
#include "tests/unit/compute.h"

enum { MOST = 20000 };

static struct random state;

static int by_size(const void *a, const void *b) {
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static size_t sort_once(uint32_t *column, size_t n) {
    size_t kept = 0;
    qsort(column, n, sizeof *column, by_size);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || column[kept - 1] != column[i]) {
            column[kept++] = column[i];
        }
    }
    return kept;
}

/* Columns in two arrays, of `bits` bits, in clusters if requested, including the largest possible.
 */
static void check_list(size_t n, unsigned bits, bool clusters) {
    static uint32_t column[MOST], sorted[MOST];
    struct indices indices, copy;
    for (size_t i = 0; i < n; i++) {
        uint32_t word = (uint32_t)(random_bits(&state) >> (64 - bits));
        column[i] = clusters ? word / 1000003 * 1000003 + (uint32_t)random_below(&state, 50) : word;
        column[i] = i == n / 2 && bits == 32 ? UINT32_MAX - 1 : column[i];
        column[i] = column[i] == UINT32_MAX ? 0 : column[i];
    }
    memcpy(sorted, column, n * sizeof *column);
    size_t distinct = sort_once(sorted, n);
    const struct indices_part parts[] = {{column, n / 3}, {column + n / 3, n - n / 3}};
    MUST(indices_list(&indices, parts, 2, &err));
    CHECK(indices.n == distinct && memcmp(indices.at, sorted, distinct * sizeof *sorted) == 0,
          "%zu of %u bits: %u listed, not %zu", n, bits, indices.n, distinct);
    MUST(indices_copy(&indices, &copy, &err));
    for (size_t i = 0; i < distinct; i++) {
        CHECK(indices_find(&copy, sorted[i]) == i, "index %u is not found", sorted[i]);
        bool next = i + 1 < distinct && sorted[i + 1] == sorted[i] + 1;
        CHECK(next || sorted[i] + 1 == INDICES_NONE ||
                  indices_find(&copy, sorted[i] + 1) == INDICES_NONE,
              "index %u is found", sorted[i] + 1);
    }
    indices_free(&indices);
    indices_free(&copy);
}

static void check_lists(void) {
    static const size_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 1000, MOST};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (unsigned bits = 4; bits <= 32; bits += 4) {
            check_list(sizes[s], bits, false);
            check_list(sizes[s], bits, true);
        }
    }
    struct indices indices;
    const struct indices_part whole = {NULL, 1000};
    MUST(indices_list(&indices, &whole, 1, &err));
    CHECK(indices.n == 1000 && indices.at[999] == 999, "%u columns of dense rows", indices.n);
    indices_free(&indices);
    /* so many that a window of bits is larger than at first, and no multiple of 64 entries */
    const size_t many = ((size_t)1 << 19) + 1;
    uint32_t *column = memory_zeros(many, sizeof *column, "columns", &err);
    CHECK(column, "%s", err.text);
    const struct indices_part part = {column, many};
    for (uint32_t last = (1 << 24) - 40; last < (1 << 24) + 80; last++) {
        column[many - 1] = last;
        MUST(indices_list(&indices, &part, 1, &err));
        CHECK(indices.n == 2 && indices.at[1] == last, "column %u is not listed", last);
        indices_free(&indices);
    }
    free(column);
    puts("ok: indices that occur are listed and found");
}

static void check_few(void) {
    static uint32_t column[MOST];
    for (uint32_t i = 0; i < MOST; i++) {
        column[i] = i;
    }
    CHECK_TRUE(indices_few(column, 499, 999, &err) == 0);   /* too few columns for a list */
    CHECK_TRUE(indices_few(column, 999, 2000, &err) == 1);  /* fewer than half */
    CHECK_TRUE(indices_few(column, 1000, 2000, &err) == 0); /* half */
    CHECK_TRUE(indices_few(column, 1, UINT32_MAX, &err) == 1);
    for (uint32_t i = 0; i < MOST; i++) {
        column[i] = i % 999;
    }
    CHECK_TRUE(indices_few(column, MOST, 2000, &err) == 1);
    puts("ok: few indices are told from many");
}

/* Rows of three values each at random columns; the last value of the last row is at the largest. */
static struct data make_rows(size_t n, uint32_t largest) {
    struct data data = {.n_rows = n, .n_features = largest, .labels = DATA_NUMBER};
    data.row_start = sample_array(n + 1, sizeof *data.row_start);
    data.column = sample_array(3 * n, sizeof *data.column);
    data.value = sample_array(3 * n, sizeof *data.value);
    data.target = sample_array(n, sizeof *data.target);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 3; k++) {
            data.column[3 * i + k] =
                (uint32_t)(random_below(&state, largest / 3) + k * (largest / 3));
            data.value[3 * i + k] = (float)(random_below(&state, 100) + 1);
        }
        data.row_start[i + 1] = 3 * (i + 1);
    }
    data.column[3 * n - 1] = largest - 1;
    return data;
}

static void check_rows(bool dense) {
    enum { N = 20 };
    const uint32_t LARGEST = 3000000000u;
    struct data data = make_rows(N, LARGEST), same;
    uint32_t all[N];
    for (uint32_t i = 0; i < N; i++) {
        all[i] = i;
    }
    MUST(data_subset(&data, all, N, &same, &err));
    MUST(data_compact(&data, &err));
    CHECK(data.indices.at && data.n_features <= 3 * N, "%u columns", data.n_features);
    CHECK_TRUE(data_largest(&data) == LARGEST);
    for (size_t k = 0; k < (size_t)3 * N; k++) {
        CHECK_TRUE(data_index(&data, data.column[k]) == same.column[k]);
    }
    CHECK_TRUE(!dense || data_make_dense(&data, 0, true, &err) == 0);
    MUST(data_expand(&data, &err));
    CHECK_TRUE(!data.indices.at && data.n_features == LARGEST);
    CHECK_TRUE(memcmp(data.column, same.column, sizeof(uint32_t) * 3 * N) == 0);
    CHECK_TRUE(memcmp(data.value, same.value, sizeof(float) * 3 * N) == 0);
    CHECK_TRUE(memcmp(data.row_start, same.row_start, sizeof(uint64_t) * (N + 1)) == 0);
    data_free(&data);
    data_free(&same);
}

/* Rows 1 .. 6 in one line each, restricted to columns 1, 4 and 9. */
static void check_select(bool dense) {
    static const uint32_t wanted[] = {1, 4, 9};
    struct indices indices;
    struct data data = {.n_rows = 2, .n_features = 6, .labels = DATA_NUMBER};
    data.value = sample_array(12, sizeof *data.value);
    data.target = sample_array(2, sizeof *data.target);
    for (uint32_t k = 0; k < 12; k++) {
        data.value[k] = (float)(k + 1);
    }
    if (!dense) {
        MUST(data_make_sparse(&data, &err));
    }
    uint32_t *at = sample_array(3, sizeof *at);
    memcpy(at, wanted, sizeof wanted);
    MUST(indices_take(&indices, at, 3, &err));
    MUST(data_select(&data, &indices, &err));
    for (size_t i = 0; i < 2; i++) {
        double row[3];
        data_row_dense(&data, i, 3, row);
        CHECK(row[0] == (double)(6 * i + 2) && row[1] == (double)(6 * i + 5) && row[2] == 0,
              "row %zu: %g %g %g", i, row[0], row[1], row[2]);
    }
    CHECK_TRUE(data_values(&data) == (dense ? 6 : 4));
    data_free(&data);
    indices_free(&indices);
}

int main(void) {
    random_start(&state, 1, 0);
    check_lists();
    check_few();
    check_rows(false);
    check_rows(true);
    check_select(false);
    check_select(true);
    puts("ok: compact rows hold what the rows held");
    return 0;
}
