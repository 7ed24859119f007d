/* What OpenBLAS does before main, when it is loaded: it starts threads, and waits for ever for
 * memory that a limit withholds. Linked into the programs, this keeps it from both. Part of
 * main. */
#ifndef DRIVER_BLAS_START_H
#define DRIVER_BLAS_START_H

/* Leaves threads to us. A program that calls it has what acts before main, too: OpenBLAS finds
 * OPENBLAS_NUM_THREADS=1, since threads are ours alone and results do not depend on how many there
 * are; where the user's environment has no OPENBLAS_CORETYPE, the kernels of the vectors that the
 * processor has (x86-64); and where the address space is limited (ulimit -v) to less than OpenBLAS
 * waits for, or the stack to very little, the program ends with a line on standard error and exit
 * code 1. */
void blas_start(void);

#endif
