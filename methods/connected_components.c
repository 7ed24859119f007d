/* Union-find over blocks of the kernel matrix, which threads compute. */
#include "methods/connected_components.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "fit/score_map.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    ROWS = 64,     /* of a block of kernel values */
    COLUMNS = 1024 /* of a block */
};
/* Kernel values up to this, relative to the diagonal, are negligible. */
static const double NEGLIGIBLE = 0x1p-40;

/* The components so far, as a forest whose roots are the smallest rows (union by index with path
 * halving). */
struct search {
    const struct problem *problem;
    size_t first, n_rows;            /* the current rows; columns start at the first of them */
    uint32_t *all;                   /* (n) rows of the gram */
    double *size;                    /* (n) sqrt(K_ii) */
    float *block;                    /* (workers, ROWS, COLUMNS) */
    struct kernel_scratch **scratch; /* (workers) */
    pthread_mutex_t mutex;           /* guards what follows */
    uint32_t *parent;                /* (n) */
    uint32_t *count;                 /* (n) rows of a root's component */
    uint32_t largest;
    struct error *err;
    int status;
};

static uint32_t root_of(struct search *search, uint32_t i) {
    uint32_t *parent = search->parent;
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join(struct search *search, uint32_t i, uint32_t j) {
    uint32_t a = root_of(search, i), b = root_of(search, j);
    if (a == b) {
        return;
    }
    uint32_t root = a < b ? a : b, other = a < b ? b : a;
    search->parent[other] = root;
    search->count[root] += search->count[other];
    search->largest = search->count[root] > search->largest ? search->count[root] : search->largest;
}

/* Task: joins the current rows with a block of columns. */
static void join_block(void *argument, size_t task, size_t worker) {
    struct search *search = argument;
    size_t n = search->problem->n, column = search->first + task * COLUMNS;
    size_t m = smaller(COLUMNS, n - column);
    struct error err = {0};
    float *block = search->block + worker * ROWS * COLUMNS;
    int status = kernel_block_listed(gram_rows(search->problem->gram), search->all + search->first,
                                     search->n_rows, search->all + column, m, block,
                                     search->scratch[worker], &err);
    pthread_mutex_lock(&search->mutex);
    if (status < 0 && search->status == 0) {
        search->status = -1;
        *search->err = err;
    }
    for (size_t r = 0; status == 0 && r < search->n_rows; r++) {
        double size = NEGLIGIBLE * search->size[search->first + r];
        for (size_t c = 0; c < m; c++) {
            double threshold = size * search->size[column + c];
            bool negligible = fabs((double)block[r * m + c]) <= threshold; /* false for NaN */
            if (!negligible || (threshold > 0 && threshold < (double)FLT_MIN)) {
                join(search, (uint32_t)(search->first + r), (uint32_t)(column + c));
            }
        }
    }
    pthread_mutex_unlock(&search->mutex);
}

static bool are_small(const struct search *search) {
    return search->largest <= smaller(search->problem->n / 2, MAX_COMPONENT_ROWS);
}

static int find_components(struct search *search, const struct monitor *monitor,
                           struct error *err) {
    size_t n = search->problem->n;
    search->err = err;
    for (size_t i = 0; i < n; i++) {
        search->parent[i] = (uint32_t)i;
        search->count[i] = 1;
    }
    search->largest = 1;
    for (size_t i = 0; i < n && search->status == 0 && are_small(search); i += ROWS) {
        if (monitor_past_deadline(monitor)) {
            return 1;
        }
        search->first = i;
        search->n_rows = smaller(ROWS, n - i);
        threads_run(search->problem->threads, (n - i + COLUMNS - 1) / COLUMNS, join_block, search);
    }
    return search->status;
}

/* Lists the components in the order of their first rows. */
static int list_parts(struct search *search, size_t together, struct components *parts,
                      struct error *err) {
    size_t n = search->problem->n, end = 0;
    uint32_t *part = memory_array(n, sizeof *part, "parts", err); /* of a root */
    parts->start = memory_zeros(n + 1, sizeof *parts->start, "parts", err);
    parts->row = memory_array(n, sizeof *parts->row, "parts", err);
    if (!part || !parts->start || !parts->row) {
        free(part);
        return -1;
    }
    /* start[p + 1] is the index of the next row of part p, initially that of its first row */
    for (size_t i = 0, first = 0; i < n; i++) {
        if (search->parent[i] == i) {
            if (end == 0 || end - first + search->count[i] > together) {
                first = parts->start[++parts->n] = end;
            }
            part[i] = (uint32_t)parts->n;
            end += search->count[i];
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        parts->row[parts->start[part[root_of(search, i)]]++] = i;
    }
    free(part);
    return 0;
}

int components_find(struct components *parts, const struct problem *problem, size_t together,
                    const struct monitor *monitor, struct error *err) {
    size_t n = problem->n;
    struct score_map map = {0};
    size_t workers = threads_count(problem->threads);
    struct search search = {.problem = problem};
    void *block = ARRAYS_CREATE(
        "parts", err, ARRAYS(workers * ROWS * COLUMNS, float, &search.block),
        ARRAYS(n, uint32_t, &search.all, &search.parent, &search.count),
        ARRAYS(n, double, &search.size), ARRAYS(workers, struct kernel_scratch *, &search.scratch));
    *parts = (struct components){0};
    pthread_mutex_init(&search.mutex, NULL);
    int status = block && score_map_create(&map, problem, err) == 0 &&
                         map.diagonal(&map, search.size, err) == 0
                     ? 0
                     : -1;
    for (size_t w = 0; status == 0 && w < workers; w++) {
        status = kernel_scratch_create(&search.scratch[w], err);
    }
    for (size_t i = 0; status == 0 && i < n; i++) {
        search.all[i] = problem->rows ? problem->rows[i] : (uint32_t)i;
        search.size[i] = sqrt(fabs(search.size[i]));
    }
    status = status < 0 ? -1 : find_components(&search, monitor, err);
    if (status == 0 && are_small(&search)) {
        status = list_parts(&search, together, parts, err);
    }
    pthread_mutex_destroy(&search.mutex);
    score_map_free(&map);
    for (size_t w = 0; block && w < workers; w++) {
        kernel_scratch_free(search.scratch[w]);
    }
    free(block);
    if (status < 0) {
        components_free(parts);
    }
    return status;
}

void components_free(struct components *parts) {
    free(parts->start);
    free(parts->row);
    *parts = (struct components){0};
}
