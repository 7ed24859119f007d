/* Quadratic programs on the unit simplex by a primal active-set method: the master problem of
 * cutting planes. */
#ifndef METHODS_SIMPLEX_QP_H
#define METHODS_SIMPLEX_QP_H

#include "common/base/error.h"

#include <stddef.h>

/* Maximises linear'mu - 1/2 mu' G mu over mu >= 0, sum mu = 1. G (p, p) is positive semidefinite,
 * row-major with rows `stride` apart; linear and mu have p entries. mu is feasible on entry, the
 * starting point; on return it is feasible and not worse. Each iteration takes a Newton step on the
 * free entries, in differences to the largest of them, shortened where an entry reaches 0, then
 * frees the entry with the largest gradient. Cost: O(m^3) for m free entries. Ends when no gradient
 * exceeds the mean by more than `tolerance`, or rounding prevents that. Returns -1 with err set
 * when memory is short. */
int simplex_maximise(size_t p, const double *G, size_t stride, const double *linear,
                     double tolerance, double *mu, struct error *err);

#endif
