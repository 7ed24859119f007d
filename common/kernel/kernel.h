/* Kernel functions, evaluated in blocks.
 *
 * With x and z rows of the data:
 *   linear x'z; polynomial (gamma x'z + coef0)^degree; rbf exp(-gamma |x-z|^2);
 *   sigmoid tanh(gamma x'z + coef0); precomputed: the stored value;
 *   tanimoto <x,z> / (|x|^2 + |z|^2 - <x,z>);
 *   minmax (|x|_1 + |z|_1 - |x-z|_1) / (|x|_1 + |z|_1 + |x-z|_1) = sum min / sum max;
 *   laplacian exp(-gamma |x-z|_1); rational 1 / (1 + gamma |x-z|_1).
 *
 * tanimoto and minmax are 1 for two zero rows, and 0 if one of the two is zero; minmax needs values
 * >= 0. Most kernels are computed from x'z, by BLAS, and the norms of the rows.
 *
 * Adding a kernel: a row in table.inc, a case in kernel_value (table.c) and in kernel_rounding
 * (rounding.c), and a function in functions.h and kernel_dd.c unless one of those that are there
 * fits. svm-check has its own evaluation, in check/points.c. */
#ifndef COMMON_KERNEL_KERNEL_H
#define COMMON_KERNEL_KERNEL_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/distributed/cluster.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers of the kernels: those of LIBSVM, then ours. A kernel is a row of table.inc. */
enum kernel_type {
#define KERNEL(number, ...) KERNEL_##number,
#include "common/kernel/table.inc"
};

struct kernel {
    enum kernel_type type;
    int degree;   /* >= 0 */
    double gamma; /* >= 0 for rbf, laplacian and rational */
    double coef0;
};

/* The names of the kernels and their formulas, in order of their numbers, ended by NULL. */
extern const char *const kernel_names[], *const kernel_formulas[];

/* The parameters of a kernel, as a bit mask. */
enum { KERNEL_DEGREE = 1, KERNEL_GAMMA = 2, KERNEL_COEF0 = 4 };
unsigned kernel_parameters(enum kernel_type type);

/* True if the model files of LIBSVM have the kernel, by the same name. */
bool kernel_in_libsvm(enum kernel_type type);

/* True if the kernel with these parameters is positive semidefinite for all rows that it accepts;
 * false if that is not known and must be tested on the matrix (doc/mathematics.md, "Kernels"). */
bool kernel_definite(const struct kernel *kernel);

/* The largest rank of a kernel matrix of rows with n_features features: the number of monomials of
 * a polynomial; INFINITY for kernels of other functions. */
double kernel_max_rank(const struct kernel *kernel, double n_features);

/* One side of a kernel evaluation: rows, with the norms that the kernel needs. Borrows data. */
struct kernel_rows {
    const struct kernel *kernel;
    const struct data *data;
    double *norm; /* (n_rows): |x|^2 or |x|_1; NULL for precomputed; owned */
    /* processes that all have these rows, and share the work on products of these with
     * themselves; NULL: none */
    struct cluster *cluster;
    bool whole; /* values are integers and norms at most 2^24: sums over two such rows are exact
                  in float, in any order */
};

/* Prepares the rows of data. Fails for values that the kernel does not accept and, if it is
 * precomputed, for a row without serial number. The caller calls kernel_rows_free. */
int kernel_rows_create(struct kernel_rows *rows, const struct kernel *kernel,
                       const struct data *data, struct error *err);
void kernel_rows_free(struct kernel_rows *rows);

/* square (n_rows) = |x|^2 of each row of data, the same bits as the norms of a kernel of products.
 */
void kernel_squares(const struct data *data, double *square);

/* True if sums over two such rows are a matrix product by BLAS: x'z of dense rows. */
bool kernel_rows_by_blas(const struct kernel_rows *rows);

/* k(x_i, z_j) in double, one pair at a time: the plain reference for the blocks. precomputed: value
 * number serial(z_j) of row x_i. */
double kernel_value(const struct kernel_rows *x, size_t i, const struct kernel_rows *z, size_t j);

/* Buffers of one thread for the blocks. The caller calls kernel_scratch_free. */
struct kernel_scratch;
int kernel_scratch_create(struct kernel_scratch **scratch, struct error *err);
void kernel_scratch_free(struct kernel_scratch *scratch);

/* What a worker of a parallel loop over blocks has for itself. */
struct kernel_worker {
    struct kernel_scratch *scratch;
    void *block;        /* of the caller's use, zero at first */
    struct error error; /* of its tasks */
};

/* n workers with blocks of so many bytes; NULL with err set if memory is short. The caller calls
 * kernel_workers_free, which does nothing with NULL. */
struct kernel_worker *kernel_workers_create(size_t n, size_t bytes, struct error *err);
void kernel_workers_free(struct kernel_worker *worker, size_t n);

/* Returns -1 with *err a copy of the first worker's error, or 0 if there is none. */
int kernel_workers_error(const struct kernel_worker *worker, size_t n, struct error *err);

/* block[r * stride + c] = k(x_{x_first + r}, z_{z_first + c}) for r < n_x, c < n_z, in single or
 * double precision. The two sides may have different numbers of features. rbf, laplacian and
 * rational are exactly 1 for identical rows; rbf and laplacian are 0 where they are below the
 * smallest normal number, but for rows that are close to each other (KERNEL_NEAR); tanimoto and
 * minmax are exactly 1 for a row and itself. Entries whose sums overflow float are computed in
 * double. `scratch` is that of the calling thread. */
int kernel_block_float(const struct kernel_rows *x, size_t x_first, size_t n_x,
                       const struct kernel_rows *z, size_t z_first, size_t n_z, float *block,
                       size_t stride, struct kernel_scratch *scratch, struct error *err);
int kernel_block_double(const struct kernel_rows *x, size_t x_first, size_t n_x,
                        const struct kernel_rows *z, size_t z_first, size_t n_z, double *block,
                        size_t stride, struct kernel_scratch *scratch, struct error *err);

/* block (n_i, n_j) = k(x_i, x_j) in single precision at rows i[0..n_i) and columns j[0..n_j). */
int kernel_block_listed(const struct kernel_rows *x, const uint32_t *i, size_t n_i,
                        const uint32_t *j, size_t n_j, float *block, struct kernel_scratch *scratch,
                        struct error *err);

/* scores (n_x, n_outputs) row-major = K coefficients, K = k(x_i, z_j) evaluated in double and not
 * stored, coefficients (rows of z, n_outputs) row-major. If x and z are the same object, K is
 * symmetric and each block is computed once. The result does not depend on the number of threads.
 * Rows of z whose coefficients are all 0 are skipped; if x and z are different objects, the bits of
 * the scores of a row depend only on that row and the rows with coefficients. If x and z are the
 * same object and have a cluster, the call is collective: each process does a part of the work, and
 * all get all scores. */
int kernel_scores(const struct kernel_rows *x, const struct kernel_rows *z,
                  const double *coefficients, size_t n_outputs, double *scores,
                  struct threads *threads, struct error *err);

/* A bound of the number of additions that a term of these sums goes through if x is z and m rows
 * have a coefficient in the output. So their error, relative to the sum of magnitudes, is at most
 * this times 2^-53, to first order (Higham, "Accuracy and stability of numerical algorithms", 2002,
 * section 4.2). */
size_t kernel_scores_additions(const struct kernel_rows *x, size_t m);

/* kernel_scores of rows x with themselves, with values in float; sums are in double. */
int kernel_scores_float(const struct kernel_rows *x, const double *coefficients, size_t n_outputs,
                        double *scores, struct threads *threads, struct error *err);

#endif
