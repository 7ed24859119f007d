/* Quadratic programs on the unit simplex: the master problem of cutting planes. */
#ifndef METHODS_SIMPLEX_QP_H
#define METHODS_SIMPLEX_QP_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Maximises linear'mu - 1/2 mu' G mu over mu >= 0, sum mu = 1.
 * G (p, p) is positive semidefinite, row-major with rows `stride` apart; linear and mu have p
 * entries. mu is feasible on entry and the start of the search; on return it is feasible and not
 * worse. A primal active-set method with exact steps: on the free entries a Newton step in the
 * differences to the largest of them, cut where an entry reaches 0; then the entry with the
 * steepest slope is freed. Ends when no slope exceeds the mean by more than `tolerance`, or
 * where rounding lets no step do that: then *settled is false. */
int simplex_maximise(size_t p, const double *G, size_t stride, const double *linear,
                     double tolerance, double *mu, bool *settled, struct error *err);

#endif
