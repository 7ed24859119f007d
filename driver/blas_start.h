/* Settings that OpenBLAS reads when it is loaded, before main. By default it starts threads, and
 * waits for ever for memory that a limit withholds. Part of the main functions. */
#ifndef DRIVER_BLAS_START_H
#define DRIVER_BLAS_START_H

/* Limits OpenBLAS to one thread. Linking this module also acts before main. OpenBLAS finds
 * OPENBLAS_NUM_THREADS=1: the programs have threads of their own, and results must not depend on
 * their number. Without OPENBLAS_CORETYPE in the environment it finds the kernels of this
 * processor's vectors (x86-64). If the address space is limited (ulimit -v) to less than OpenBLAS
 * waits for, or the stack to very little, the program ends with a line on standard error and exit
 * code 1. */
void blas_start(void);

#endif
