/* Work of BLAS and LAPACK routines in multiply-adds of a scalar loop (work.h). */
#include "fit/work.h"

/* Multiply-adds in the time of one multiply-add of a scalar loop, measured by tests/bench/12-speeds
 * (Xeon with AVX-512, OpenBLAS 0.3, one thread): dsyrk 16, dgemm 18, sgemm 36, dgemv 1.8, sgemv 5;
 * dpotrf 7.4 at order 768, 15 at 2048. */
static const double BLAS3 = 16, BLAS2 = 2, BLAS2_FLOAT = 4;

double work_blas3(double multiply_adds) {
    return multiply_adds / BLAS3;
}

double work_blas2(double multiply_adds) {
    return multiply_adds / BLAS2;
}

double work_blas2_float(double multiply_adds) {
    return multiply_adds / BLAS2_FLOAT;
}

double work_scalar(double multiply_adds) {
    return multiply_adds;
}

double work_cholesky(double order) {
    return work_blas3(order * order * order / 6);
}
