/* The file of --weights: the matrices of a fit, with their singular values and vectors. */
#ifndef FAMILIES_SMM_WEIGHTS_H
#define FAMILIES_SMM_WEIGHTS_H

#include "common/base/output.h"
#include "solvers/smm/smm.h"

/* Writes the machines of the last solution. */
void smm_weights_write(const struct smm *smm, struct output *output);

#endif
