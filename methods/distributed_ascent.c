#include "methods/distributed_ascent.h"

#include <math.h>

enum { MOST_PARTS = 64, MOST_REPEATS = 4 };

/* Products of a round for each weight, and at the least. */
static const double FOR_WEIGHT = 32, LEAST = 1 << 17;

/* Rounds for a sweep of one process, since steps of one rank do not see those of others: 1.2 to 4
 * on two ranks, on the data of doc/scaling.md. */
static const double MORE_ROUNDS = 4;

/* Most that the factor changes by from one round to the next. */
static const double SLOWER = 0.9, FASTER = 1.25;

/* A step of which less is best has started too far ahead. */
static const double TOO_FAR = 0.5;

void rounds_plan(struct rounds *rounds, struct cluster *cluster, double sweep, double weights) {
    double most = cluster_largest(cluster, sweep), least = fmax(FOR_WEIGHT * weights, LEAST);
    double parts = fmax(1, fmin(floor(most / least), MOST_PARTS));
    double repeats = fmax(1, fmin(ceil(least / fmax(most, 1)), MOST_REPEATS));
    *rounds = (struct rounds){.cluster = cluster,
                              .parts = (size_t)parts,
                              .repeats = (size_t)repeats,
                              .work = most * repeats / parts,
                              .factor = 1,
                              .momentum = 1};
}

bool rounds_pay(double ranks, double values, double weights) {
    double sweep = 2 * values;
    return MORE_ROUNDS * (sweep / ranks + FOR_WEIGHT * weights) < sweep;
}

double rounds_ahead(struct rounds *rounds) {
    double now = rounds->momentum;
    rounds->momentum = (1 + sqrt(1 + 4 * now * now)) / 2;
    return (now - 1) / rounds->momentum;
}

double rounds_go(struct rounds *rounds, double slope, double curvature) {
    double best = curvature > 0 ? slope / curvature : 1,
           most = (double)cluster_size(rounds->cluster);
    double change = best > 0 ? fmin(fmax(1 / best, SLOWER), FASTER) : FASTER;
    rounds->factor = fmin(fmax(rounds->factor * change, 1), most);
    rounds->momentum = best < TOO_FAR ? 1 : rounds->momentum;
    return best < 1 ? fmax(best, 0) : 1;
}
