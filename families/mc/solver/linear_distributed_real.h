/* Rounds over processes (methods/distributed_ascent.h): included by linear_descent_real.h for float
 * and for double.
 *
 * In a round each process ascends in its own rows; then the changes of W are summed, and a line
 * search sets the step. If a round is a sweep or more, processes work against each other: a change
 * that is good in the rows of two processes together is bad for each alone. Such rounds are
 * accelerated (Nesterov 1983): they start from an extrapolation of the last step, clipped to the
 * feasible set row by row. The line search starts before the extrapolation, so the dual never
 * falls. */

/* step (n_features + 1, k) = the sum of the changes of W over all processes, followed by the sum of
 * `gained`. products = <W, step> and |step|^2, W that of the start of the round. */
static void NAME(join_steps)(struct NAME(descent) * descent, const struct mc_linear *linear,
                             double gained, double products[2]) {
    size_t width = descent->blocks.width, k = linear->shape.k, d = linear->n_features;
    double *step = descent->step;
    for (size_t f = 0; f <= d; f++) {
        const REAL *to = descent->W + f * width, *from = descent->start + f * width;
        const REAL *own = descent->own + f * width;
        for (size_t c = 0; c < k; c++) {
            step[f * k + c] = ((double)to[c] - (double)from[c]) / (double)descent->factor;
            step[f * k + c] += descent->extrapolation * (double)own[c];
        }
    }
    for (size_t f = 0; f <= d; f++) {
        for (size_t c = 0; c < k; c++) {
            descent->own[f * width + c] = (REAL)step[f * k + c];
        }
    }
    step[(d + 1) * k] = gained;
    cluster_sum(linear->cluster, step, (d + 1) * k + 1);
    products[0] = products[1] = 0;
    for (size_t f = 0; f <= d; f++) {
        const REAL *w = descent->common + f * width;
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

/* W = W at the start of the round + theta step. */
static void NAME(move)(struct NAME(descent) * descent, const struct mc_linear *linear,
                       double theta) {
    size_t width = descent->blocks.width, k = linear->shape.k;
    for (size_t f = 0; f <= linear->n_features; f++) {
        const REAL *from = descent->common + f * width;
        for (size_t c = 0; c < k; c++) {
            descent->W[f * width + c] = (REAL)((double)from[c] + theta * descent->step[f * k + c]);
            descent->own[f * width + c] *= (REAL)theta;
        }
    }
}

/* Extrapolates W and alpha along the last step. */
static int NAME(run_ahead)(struct NAME(descent) * descent, struct mc_linear *linear,
                           struct error *err) {
    size_t width = descent->blocks.width, k = linear->shape.k;
    size_t entries = (linear->n_features + (size_t)1) * width;
    descent->extrapolation = linear->rounds.parts > 1 ? 0 : rounds_extrapolation(&linear->rounds);
    for (size_t e = 0; e < entries; e++) {
        REAL moved = descent->W[e] - descent->common[e];
        descent->common[e] = descent->W[e];
        descent->W[e] += (REAL)descent->extrapolation * moved;
    }
    memcpy(descent->start, descent->W, entries * sizeof *descent->W);
    for (size_t i = 0; descent->extrapolation > 0 && i < linear->n; i++) {
        int cut = mc_linear_extrapolate(linear, i, descent->extrapolation, err);
        if (cut < 0) {
            return -1;
        }
        if (cut == 0 || linear->q[i] == 0) {
            continue;
        }
        for (size_t c = 0; c < k; c++) {
            descent->u[c] = (REAL)linear->u[c] * descent->factor;
        }
        struct stored_row row = mc_linear_row(linear, i);
        NAME(row_update)(&row, linear->bias, descent->W, linear->n_features, width, descent->u);
    }
    return 0;
}

/* One round: `repeats` sweeps, or the rows order[0..n) of one. */
static int NAME(round)(struct NAME(descent) * descent, struct mc_linear *linear,
                       const uint32_t *order, size_t n, struct error *err) {
    size_t weights = (linear->n_features + (size_t)1) * linear->shape.k, repeats = 0;
    double products[2];
    descent->factor = (REAL)linear->rounds.factor;
    if (NAME(run_ahead)(descent, linear, err) < 0) {
        return -1;
    }
    do {
        if (NAME(sweep)(descent, linear, order, n, NULL, err) < 0) {
            return -1;
        }
        for (int few = 0; few < FEW_SWEEPS && mc_linear_has_lists(linear); few++) {
            NAME(sweep_few)(descent, linear, order, n);
        }
        if (++repeats < linear->rounds.repeats) {
            n = mc_sampling_sweep(&linear->sampling);
        }
    } while (repeats < linear->rounds.repeats);
    bool all = linear->rounds.parts == 1;
    order = all ? NULL : order;
    n = all ? linear->n : n;
    NAME(join_steps)(descent, linear, mc_linear_alpha_gain(linear, order, n), products);
    double slope = descent->step[weights] - products[0];
    double theta = rounds_step_length(&linear->rounds, slope, products[1]);
    NAME(move)(descent, linear, theta);
    return mc_linear_apply_step(linear, theta, order, n, err);
}

/* The rounds of one sweep, or one round of several sweeps. */
static int NAME(sweep_together)(struct NAME(descent) * descent, struct mc_linear *linear,
                                const struct monitor *monitor, struct error *err) {
    size_t n = mc_sampling_sweep(&linear->sampling);
    double unwatched = 0;
    linear->sweeps += linear->rounds.repeats;
    for (size_t part = 0; part < linear->rounds.parts; part++) {
        size_t first, end = rounds_rows(&linear->rounds, n, part, &first);
        if (NAME(round)(descent, linear, linear->sampling.order + first, end - first, err) < 0) {
            return -1;
        }
        unwatched += linear->rounds.work;
        if (unwatched > MC_TIME_CHECK_WORK) {
            unwatched = 0;
            if (monitor_past_deadline(monitor)) {
                break;
            }
        }
    }
    return 0;
}
