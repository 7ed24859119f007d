/* The work model: estimates of the cost of algorithms, which the policies compare. The unit is the
 * time of one multiply-add in a scalar loop. Work is computed from operation counts, never
 * measured, so that decisions are the same on every machine. */
#ifndef FIT_WORK_H
#define FIT_WORK_H

/* Work of a number of multiply-adds: in matrix products and rank-k updates (gemm, syrk); in
 * matrix-vector products and other loops that the compiler vectorises (gemv, axpy), in double and
 * in float; and in a scalar loop, such as a sum whose terms depend on one another. */
double work_blas3(double multiply_adds);
double work_blas2(double multiply_adds);
double work_blas2_float(double multiply_adds);
double work_scalar(double multiply_adds);

/* Work of the Cholesky factorisation of a matrix of order `order`. */
double work_cholesky(double order);

#endif
