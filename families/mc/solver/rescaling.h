/* The best multiple of a solution.
 *
 * W(alpha) is a poor point of the primal where C is large: margins that are short by 1e-4 cost C
 * times that. theta W, theta a little above 1, costs next to nothing more and is short no longer;
 * and theta = 0 is the point without weights, so that no fit is worse than none. The dual point
 * stays what it is. */
#ifndef FAMILIES_MC_SOLVER_RESCALING_H
#define FAMILIES_MC_SOLVER_RESCALING_H

/* phi(theta) = norm / 2 theta^2 - lean theta + losses(theta), losses convex. */
struct mc_line {
    double norm, lean;
    /* Returns the losses; *slope is their derivative. */
    double (*losses)(void *context, double theta, double *slope);
    void *context;
};

/* Returns theta >= 0 with phi near its minimum, and phi there in *value. Ends at a value of at most
 * `target`; does not search if less than a tenth of `gap` could be gained over theta = 1. */
double mc_scale(const struct mc_line *line, double target, double gap, double *value);

#endif
