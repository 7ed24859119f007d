/* The unit of work in which algorithms are compared before one is chosen: the time of one
 * multiply-add in a scalar loop. Counts of operations, not seconds, so that the same is decided on
 * every machine. */
#ifndef FIT_WORK_H
#define FIT_WORK_H

/* Work of so many multiply-adds: in matrix products and rank-k updates (gemm, syrk); in products
 * with a vector and other loops that the compiler vectorises (gemv, axpy), in double and in float;
 * and in a scalar loop, such as a sum in which each term waits for the one before. */
double work_blas3(double multiply_adds);
double work_blas2(double multiply_adds);
double work_blas2_float(double multiply_adds);
double work_scalar(double multiply_adds);

/* Work of the Cholesky factorisation of a matrix of that order. */
double work_cholesky(double order);

#endif
