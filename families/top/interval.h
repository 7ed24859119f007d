/* Exact intervals of a share (Clopper and Pearson 1934). */
#ifndef FAMILIES_TOP_INTERVAL_H
#define FAMILIES_TOP_INTERVAL_H

/* The ends of the 95% interval of a probability of which `right` of n trials, n > 0, came out so:
 * at *low so many or more have probability .025, at *high so many or fewer. */
void interval_exact(double right, double n, double *low, double *high);

#endif
