/* Rescaling of the primal point: a line search for the multiple theta of W with the least primal.
 *
 * For large C, W(alpha) is a poor primal point: margins that are short by 1e-4 cost C times that.
 * theta W with theta slightly above 1 has nearly the same norm and no short margins. theta = 0 is
 * the zero solution, so no fit is worse than that. The dual point is not changed. */
#ifndef FAMILIES_MC_SOLVER_RESCALING_H
#define FAMILIES_MC_SOLVER_RESCALING_H

/* phi(theta) = squared_norm / 2 theta^2 - linear theta + losses(theta), losses convex. */
struct mc_line {
    double squared_norm, linear;
    /* Returns the losses; *slope is their derivative. */
    double (*losses)(void *context, double theta, double *slope);
    void *context;
};

/* Returns theta >= 0 with phi near its minimum, and phi there in *value. Ends at a value of at most
 * `target`. */
double mc_rescale(const struct mc_line *line, double target, double *value);

#endif
