/* Parts of a kernel matrix are its connected components, as a plain search over its entries finds
 * them, small ones put together; one with more than half of the rows leaves nothing to part. */
#include "solvers/methods/parts.h"

#include "tests/unit/compute.h"

#include <cblas.h>

enum { N = 700, WIDTH = 5, GROUPS = 30 };
static const double NOTHING = 0x1p-40;

/* component[i]: the smallest row that entries above NOTHING lead to from row i. */
static void search(const struct problem *problem, uint32_t *component) {
    const struct kernel_rows *rows = gram_rows(problem->gram);
    size_t n = problem->n, n_queue = 0;
    uint32_t *queue = sample_array(n, sizeof *queue);
    double *size = sample_array(n, sizeof *size);
    for (size_t i = 0; i < n; i++) {
        size_t at = problem->rows ? problem->rows[i] : i;
        component[i] = UINT32_MAX;
        size[i] = sqrt(kernel_value(rows, at, rows, at));
    }
    for (uint32_t first = 0; first < n; first++) {
        if (component[first] != UINT32_MAX) {
            continue;
        }
        component[first] = first;
        queue[0] = first;
        n_queue = 1;
        while (n_queue > 0) {
            uint32_t i = queue[--n_queue];
            for (uint32_t j = 0; j < n; j++) {
                size_t at = problem->rows ? problem->rows[i] : i;
                size_t other = problem->rows ? problem->rows[j] : j;
                double value = kernel_value(rows, at, rows, other);
                if (component[j] == UINT32_MAX && fabs(value) > NOTHING * size[i] * size[j]) {
                    component[j] = first;
                    queue[n_queue++] = j;
                }
            }
        }
    }
    free(queue);
    free(size);
}

/* Every row is in one part, with all of its component; parts of several are no longer than `least`,
 * and cannot take the next one. Returns how many components there are; 0: none was expected. */
static size_t check_parts(const struct problem *problem, size_t least) {
    size_t n = problem->n, n_components = 0, largest = 0;
    uint32_t *component = sample_array(n, sizeof *component);
    size_t *count = sample_array(n, sizeof *count), *part = sample_array(n, sizeof *part);
    struct parts parts;
    struct error err;
    CHECK(parts_find(&parts, problem, least, NULL, &err) == 0, "%s", err.text);
    search(problem, component);
    for (size_t i = 0; i < n; i++) {
        n_components += component[i] == i;
        largest = ++count[component[i]] > largest ? count[component[i]] : largest;
        part[i] = SIZE_MAX;
    }
    if (largest > n / 2) {
        CHECK(parts.n == 0, "%zu parts of a matrix in one", parts.n);
        n_components = 0;
    } else {
        CHECK(parts.n > 0 && parts.start[0] == 0 && parts.start[parts.n] == n, "rows are missing");
    }
    for (size_t p = 0; p < parts.n; p++) {
        size_t m = parts.start[p + 1] - parts.start[p], within = 0;
        CHECK(m > 0, "part %zu is empty", p);
        for (size_t at = parts.start[p]; at < parts.start[p + 1]; at++) {
            uint32_t i = parts.row[at];
            CHECK(i < n && part[i] == SIZE_MAX, "row %u twice", i);
            CHECK(at == parts.start[p] || parts.row[at - 1] < i, "rows do not ascend");
            part[i] = p;
            within += component[i] == i;
        }
        CHECK(within > 0 && (m <= least || within == 1), "part %zu: %zu rows of %zu components", p,
              m, within);
        size_t next = p + 1 < parts.n ? component[parts.row[parts.start[p + 1]]] : SIZE_MAX;
        CHECK(next == SIZE_MAX || m + count[next] > least, "part %zu has room for the next", p);
    }
    for (size_t i = 0; parts.n > 0 && i < n; i++) {
        CHECK(part[i] == part[component[i]], "row %zu is in another part than row %u", i,
              component[i]);
    }
    parts_free(&parts);
    free(component);
    free(count);
    free(part);
    return n_components;
}

/* Of all rows and of some, on any number of threads. */
static void check_kernel(const struct data *data, const struct kernel *kernel,
                         struct threads *threads, bool apart) {
    struct gram *gram;
    struct error err;
    uint32_t rows[N];
    size_t n = 0;
    for (uint32_t i = 0; i < N; i++) {
        rows[n] = i;
        n += i % 3 != 1;
    }
    CHECK(gram_create(&gram, kernel, data, 0, false, NULL, &err) == 0, "%s", err.text);
    for (int some = 0; some < 2; some++) {
        for (int t = 0; t < 2; t++) {
            const struct problem problem = {.data = data,
                                            .gram = gram,
                                            .rows = some ? rows : NULL,
                                            .n = some ? n : N,
                                            .threads = t ? threads : NULL};
            size_t own = check_parts(&problem, 1), together = check_parts(&problem, 100);
            CHECK(own == together && (own > 1) == apart, "%zu and %zu components", own, together);
        }
    }
    gram_free(gram);
}

/* Rows of as many groups, of sizes of their own, far from one another in the first feature; of
 * which one has most rows, if `giant`. */
static struct data far_groups(bool giant) {
    struct data data = sample_data(N, WIDTH, 1, SAMPLE_SIGNED, false, false, 5);
    struct random random;
    random_start(&random, 9, giant);
    for (size_t i = 0; i < N; i++) {
        double u = random_unit(&random);
        size_t group = giant && u < .7 ? 0 : (size_t)(GROUPS * u * u);
        data.value[i * WIDTH] = (float)(100 * (double)group);
    }
    return data;
}

static bool always(void *context) {
    (void)context;
    return true;
}

/* Without time nothing is said. */
static void check_late(const struct data *data, const struct kernel *kernel) {
    const struct monitor monitor = {.late = always};
    struct parts parts = {.n = 7};
    struct gram *gram;
    struct error err;
    CHECK(gram_create(&gram, kernel, data, 0, false, NULL, &err) == 0, "%s", err.text);
    const struct problem problem = {.data = data, .gram = gram, .n = N};
    CHECK(parts_find(&parts, &problem, 1, &monitor, &err) == 1 && parts.n == 0, "%zu parts late",
          parts.n);
    gram_free(gram);
}

int main(void) {
    const struct kernel rbf = {.type = KERNEL_RBF, .gamma = .5},
                        product = {.type = KERNEL_POLYNOMIAL, .gamma = 1, .degree = 2},
                        tiny = {.type = KERNEL_POLYNOMIAL, .gamma = 1e-24, .degree = 2};
    struct threads *threads;
    struct error err;
    openblas_set_num_threads(1);
    CHECK(threads_create(&threads, 3, &err) == 0, "%s", err.text);
    struct data apart = far_groups(false), giant = far_groups(true);
    struct data one = sample_data(N, WIDTH, 1, SAMPLE_SIGNED, false, false, 5);
    check_kernel(&apart, &rbf, threads, true);
    check_kernel(&giant, &rbf, threads, false);
    check_kernel(&one, &rbf, threads, false);
    check_kernel(&one, &tiny, threads, false); /* some 1e-48, which float does not have */
    check_late(&apart, &rbf);
    /* few values: rows without a feature in common, and rows of zeros, which have nothing to do
     * with themselves */
    struct data few = sample_data(N, 40 * WIDTH, .01, SAMPLE_COUNTS, true, true, 2);
    uint64_t at = 0, before = 0;
    for (size_t i = 0; i < N; i++) { /* one value of a row is left, of ten features */
        uint64_t end = few.row_start[i + 1];
        if (end > before) {
            few.column[at] = few.column[before] - few.column[before] % (4 * WIDTH);
            few.value[at++] = few.value[before];
        }
        before = end;
        few.row_start[i + 1] = at;
    }
    CHECK(at < N && at > N / 2, "%zu rows with a value", (size_t)at);
    check_kernel(&few, &product, threads, true);
    data_free(&apart);
    data_free(&giant);
    data_free(&one);
    data_free(&few);
    threads_free(threads);
    parts_free(&(struct parts){0});
    printf("ok: parts of kernel matrices\n");
    return 0;
}
