/* Rounds of ranks (solvers/methods/rounds.h), included by linear_real.h for float and for double. Not a
 * header for anybody else. */

/* step (n_features + 1, k) = what W has changed by on all ranks together, and behind it `gained`, of
 * all; products = <W, step> and |step|^2 for the W that all had. */
static void NAME(join_steps)(struct NAME(engine) * engine, const struct mc_linear *linear,
                             double gained, double products[2]) {
    size_t width = engine->blocks.width, k = linear->shape.k, d = linear->n_features;
    double *step = engine->step;
    for (size_t f = 0; f <= d; f++) {
        const REAL *to = engine->W + f * width, *from = engine->common + f * width;
        for (size_t c = 0; c < k; c++) {
            step[f * k + c] = ((double)to[c] - (double)from[c]) / (double)engine->factor;
        }
    }
    step[(d + 1) * k] = gained;
    cluster_sum(linear->cluster, step, (d + 1) * k + 1);
    products[0] = products[1] = 0;
    for (size_t f = 0; f <= d; f++) {
        const REAL *w = engine->common + f * width;
        double inner = 0, square = 0, sum = 0, step_sum = 0;
        for (size_t c = 0; c < k; c++) {
            double x = step[f * k + c];
            inner += x * (double)w[c];
            square += x * x;
            sum += (double)w[c];
            step_sum += x;
        }
        double centred = linear->shape.form->centred ? step_sum / (double)k : 0;
        products[0] += inner - centred * sum;
        products[1] += square - centred * step_sum;
    }
}

/* W goes theta of the step on from the W that all had. */
static void NAME(go)(struct NAME(engine) * engine, const struct mc_linear *linear, double theta) {
    size_t width = engine->blocks.width, k = linear->shape.k;
    for (size_t f = 0; f <= linear->n_features; f++) {
        const REAL *from = engine->common + f * width;
        for (size_t c = 0; c < k; c++) {
            engine->W[f * width + c] = (REAL)((double)from[c] + theta * engine->step[f * k + c]);
        }
    }
}

/* One round, of `repeats` sweeps, or of the rows order[0..n) of one. */
static int NAME(round)(struct NAME(engine) * engine, struct mc_linear *linear,
                       const uint32_t *order, size_t n, struct error *err) {
    size_t entries = (linear->n_features + (size_t)1) * engine->blocks.width, repeats = 0;
    double products[2];
    memcpy(engine->common, engine->W, entries * sizeof *engine->W);
    engine->factor = (REAL)linear->rounds.factor;
    do {
        if (NAME(sweep)(engine, linear, order, n, NULL, err) < 0) {
            return -1;
        }
        for (int few = 0; few < FEW_SWEEPS && mc_linear_few(linear); few++) {
            NAME(sweep_few)(engine, linear, order, n);
        }
        if (++repeats < linear->rounds.repeats) {
            n = mc_sampling_sweep(&linear->sampling);
        }
    } while (repeats < linear->rounds.repeats);
    bool all = linear->rounds.repeats > 1;
    order = all ? NULL : order;
    n = all ? linear->n : n;
    NAME(join_steps)(engine, linear, mc_linear_gained(linear, order, n), products);
    double slope = engine->step[entries / engine->blocks.width * linear->shape.k] - products[0];
    double theta = rounds_go(&linear->rounds, slope, products[1]);
    NAME(go)(engine, linear, theta);
    return mc_linear_settle(linear, theta, order, n, err);
}

/* The rounds of a sweep, or of `repeats` of them, which are counted. */
static int NAME(sweep_together)(struct NAME(engine) * engine, struct mc_linear *linear,
                                const struct monitor *monitor, struct error *err) {
    size_t n = mc_sampling_sweep(&linear->sampling);
    double unwatched = 0;
    linear->sweeps += linear->rounds.repeats;
    for (size_t part = 0; part < linear->rounds.parts; part++) {
        size_t first, end = rounds_part(&linear->rounds, n, part, &first);
        if (NAME(round)(engine, linear, linear->sampling.order + first, end - first, err) < 0) {
            return -1;
        }
        unwatched += linear->rounds.work;
        if (unwatched > MC_UNWATCHED) {
            unwatched = 0;
            if (monitor_late(monitor)) {
                break;
            }
        }
    }
    return 0;
}
