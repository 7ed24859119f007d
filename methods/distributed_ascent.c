/* The length of rounds, the step length and the extrapolation. */
#include "methods/distributed_ascent.h"

#include <math.h>

enum { MAX_PARTS = 64, MAX_REPEATS = 4 };

/* The minimal number of products of a round: per weight, and in all. */
static const double PER_WEIGHT = 32, MIN_PRODUCTS = 1 << 17;

/* The number of distributed sweeps per sweep of one process, since processes do not see one
 * another's steps: 1.2 to 4 with two processes on the data of doc/scaling.md. */
static const double MORE_SWEEPS = 4;

/* The factor changes by at most these from one round to the next. */
static const double MIN_CHANGE = 0.9, MAX_CHANGE = 1.25;

/* If the optimal step length is below this, the extrapolation went too far. */
static const double TOO_FAR = 0.5;

void rounds_plan(struct rounds *rounds, struct cluster *cluster, double sweep, double weights) {
    double max_products = cluster_largest(cluster, sweep),
           min_products = fmax(PER_WEIGHT * weights, MIN_PRODUCTS);
    double parts = fmax(1, fmin(floor(max_products / min_products), MAX_PARTS));
    double repeats = fmax(1, fmin(ceil(min_products / fmax(max_products, 1)), MAX_REPEATS));
    *rounds = (struct rounds){.cluster = cluster,
                              .parts = (size_t)parts,
                              .repeats = (size_t)repeats,
                              .work = max_products * repeats / parts,
                              .factor = 1,
                              .momentum = 1};
}

bool rounds_are_faster(double ranks, double values, double weights) {
    double sweep = 2 * values;
    return MORE_SWEEPS * (sweep / ranks + PER_WEIGHT * weights) < sweep;
}

double rounds_extrapolation(struct rounds *rounds) {
    double now = rounds->momentum;
    rounds->momentum = (1 + sqrt(1 + 4 * now * now)) / 2;
    return (now - 1) / rounds->momentum;
}

double rounds_step_length(struct rounds *rounds, double slope, double curvature) {
    double best = curvature > 0 ? slope / curvature : 1,
           max_factor = (double)cluster_size(rounds->cluster);
    double change = best > 0 ? fmin(fmax(1 / best, MIN_CHANGE), MAX_CHANGE) : MAX_CHANGE;
    rounds->factor = fmin(fmax(rounds->factor * change, 1), max_factor);
    rounds->momentum = best < TOO_FAR ? 1 : rounds->momentum;
    return best < 1 ? fmax(best, 0) : 1;
}
