/* Whether a method that gains a little at a time should hand over to one that takes a known amount
 * of work: by what its gap has fallen by for the work done, not by how often it has tried.
 *
 * Work is counted in operations, not seconds, so that the same is decided everywhere. */
#ifndef FIT_CONVERGENCE_RATE_H
#define FIT_CONVERGENCE_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
    double other;     /* work of the other method; INFINITY: there is none */
    double last_work; /* when the gap was last looked at, */
    double last_gap;  /* and the gap then; 0: not yet */
};

/* True if going on from a relative gap of `gap` to `wanted`, at the pace since the last look, would
 * take longer than the other method, whose work has been paid for by the `work` so far. The first
 * call only looks. */
bool pace_slow(struct pace *pace, double work, double gap, double wanted);

/* Sweeps to the next look at the gap, which costs about half a sweep: most of those that the gap
 * will take to come down to `wanted`, at the rate of the last `sweeps`, over which it fell from
 * `last` (INFINITY: not known); but few beside those so far. */
uint64_t pace_wait(double gap, double last, uint64_t sweeps, double wanted, uint64_t so_far);

#endif
