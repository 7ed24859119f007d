/* Sweeps of steps, row by row: included by linear_descent_real.h for float and for double. */

/* Prefetches rows among order[0..left), those still to come, whose random order the processor
 * cannot predict. */
static inline __attribute__((always_inline)) void
NAME(prefetch)(const struct NAME(descent) * descent, const struct mc_linear *linear,
               const uint32_t *order, size_t left) {
    enum { LINE = 64 / sizeof(float) };
    if (left > 2 * MC_PREFETCH_ROWS) {
        size_t i = order[2 * MC_PREFETCH_ROWS], width = descent->blocks.width;
        __builtin_prefetch(linear->q + i);
        __builtin_prefetch(linear->y + i);
        __builtin_prefetch(linear->row_cap + i);
        __builtin_prefetch(linear->sampling.preference + i);
        if (linear->data->row_start) {
            __builtin_prefetch(linear->data->row_start + i);
        }
        for (size_t c = 0; descent->alphas && c < width; c += NAME(LANES)) {
            __builtin_prefetch(descent->alphas + i * width + c);
        }
    }
    if (left > MC_PREFETCH_ROWS) {
        struct stored_row row = mc_linear_row(linear, order[MC_PREFETCH_ROWS]);
        size_t max = row.n < MC_MAX_PREFETCH ? row.n : MC_MAX_PREFETCH;
        for (size_t t = 0; t < max; t += LINE) {
            __builtin_prefetch(row.value + t);
            __builtin_prefetch(row.column + t);
        }
    }
}

/* The factor of |x|^2 in a step, which over-relaxes it. Distributed rounds have their own factor
 * instead. */
static REAL NAME(square)(const struct NAME(descent) * descent, const struct mc_linear *linear) {
    REAL margin = descent->blocks.margin;
    return descent->factor * margin * margin / (linear->cluster ? 1 : (REAL)OVER_RELAXATION);
}

/* W (features + 1, width) += x u' for a row x of the data and u (width). If few classes have
 * changed, only these are updated, and u is overwritten. */
static inline __attribute__((always_inline)) void
NAME(update_changed)(struct NAME(descent) * descent, struct mc_linear *linear,
                     const struct stored_row *row, size_t width, REAL *u) {
    size_t n_changed = width, d = linear->n_features;
    if (width > MC_FEW_CLASSES) {
        n_changed = 0;
        for (size_t c = 0; c < descent->blocks.k; c++) {
            linear->changed[n_changed] = (uint32_t)c;
            n_changed += u[c] != 0;
        }
    }
    if (n_changed * 8 < width) {
        for (size_t e = 0; e < n_changed; e++) {
            u[e] = u[linear->changed[e]];
        }
        NAME(update_some)
        (row, linear->bias, descent->W, d, width, u, linear->changed, n_changed);
    } else {
        NAME(update_inline)(row, linear->bias, descent->W, d, width, u);
    }
}

/* Does a step at each of the rows order[0..n) until the time limit, updates alpha and W, and passes
 * the gains to the sampling. -1: no memory for a list of classes. */
DISPATCH static int NAME(sweep)(struct NAME(descent) * descent, struct mc_linear *linear,
                                const uint32_t *order, size_t n, const struct monitor *monitor,
                                struct error *err) {
    const struct NAME(blocks) blocks = descent->blocks;
    REAL *s = descent->s, *u = descent->u;
    size_t width = blocks.width, work = 0, d = linear->n_features;
    REAL square = NAME(square)(descent, linear);
    for (size_t t = 0; t < n; t++) {
        size_t i = order[t], y = linear->y[i];
        NAME(prefetch)(descent, linear, order + t, n - t);
        if (linear->q[i] == 0) {
            continue;
        }
        struct stored_row row = mc_linear_row(linear, i);
        work += width * (row.n + 1);
        if (work > MC_TIME_CHECK_WORK) {
            work = 0;
            if (monitor_past_deadline(monitor)) {
                break;
            }
        }
        NAME(row_scores)(&row, linear->bias, descent->W, d, width, s);
        REAL *alpha = descent->alphas ? descent->alphas + i * width : descent->alpha;
        if (!descent->alphas) {
            NAME(load)(descent, &linear->alpha, i);
        }
        REAL gain = NAME(step)(&blocks, y, NAME(at_most)(linear->row_cap[i]),
                               square * (REAL)linear->q[i], s, alpha, u);
        mc_sampling_gain(&linear->sampling, i, (double)gain);
        if (gain == 0) {
            continue;
        }
        NAME(scale_change)(descent);
        NAME(update_changed)(descent, linear, &row, width, u);
        if (!descent->alphas && NAME(store)(descent, &linear->alpha, i, err) < 0) {
            return -1;
        }
    }
    return 0;
}
