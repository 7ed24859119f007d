/* The handover rule: when an iterative solver that converges slowly should give way to a solver
 * with a known amount of work. The decision follows from the measured convergence rate, the fall of
 * the log of the gap per unit of work. Work is counted in operations (fit/work.h), not seconds, so
 * that decisions are the same on every machine. */
#ifndef FIT_CONVERGENCE_RATE_H
#define FIT_CONVERGENCE_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct convergence_rate {
    double other;     /* work of the other solver; INFINITY: there is none */
    double last_work; /* at the last evaluation of the gap */
    double last_gap;  /* the gap then; 0: none so far */
};

/* True if, at the convergence rate since the last evaluation, the remaining way from a relative gap
 * of `gap` to `target` takes more work than the other solver. False while the `work` so far is
 * small beside the other solver's. The first call only stores the gap. */
bool convergence_is_slow(struct convergence_rate *rate, double work, double gap, double target);

/* Sweeps to the next evaluation of the gap, which costs about half a sweep. It is 0.7 times the
 * number of sweeps that the gap will need to reach `target`, at the rate of the last `sweeps`, over
 * which it fell from `last` (INFINITY: unknown); but at most a sixteenth of the sweeps so far, or
 * 3. */
uint64_t sweeps_to_next_evaluation(double gap, double last, uint64_t sweeps, double target,
                                   uint64_t so_far);

#endif
