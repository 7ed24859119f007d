/* Evaluation of the bounds: included by linear_descent_real.h for float and for double.
 *
 * The dual is that of W = W(alpha). W fluctuates from sweep to sweep. So the primal is the lower
 * of two: that of W, and that of the mean of W over the last sweeps. */

/* The context of the tasks. */
struct NAME(evaluation) {
    const struct NAME(descent) * descent;
    const struct mc_linear *linear;
    double *loss;  /* (tasks, MC_POINTS) */
    REAL *s;       /* (workers, width) */
    double *score; /* (workers, k) */
};

/* The loss of a row of class y with scores s (width), for relative margins. */
static inline __attribute__((always_inline)) REAL NAME(loss)(const struct NAME(blocks) * blocks,
                                                             size_t y, const REAL *s) {
    const NAME(vector) zero = {0};
    NAME(vector) sums = zero, max = zero;
    NAME(lanes) number;
    NAME(count)(&number, 0);
    REAL base = 1 - blocks->margin * s[y];
    for (size_t c = 0; c < blocks->width; c += NAME(LANES), number += NAME(LANES)) {
        NAME(vector) u = base + blocks->margin * *(const NAME(vector) *)(s + c);
        NAME(lanes) out = (u <= zero) | (number == (SIGNED)y) | (number >= (SIGNED)blocks->k);
        u = (NAME(vector))(~out & (NAME(lanes))u); /* keeps NaN */
        sums += u;
        NAME(lanes) above = u > max;
        max = (NAME(vector))((above & (NAME(lanes))u) | (~above & (NAME(lanes))max));
    }
    REAL sum = NAME(total)(&sums);
    return blocks->simplex && sum < NAME(HUGE) ? NAME(largest)((const REAL *)&max, NAME(LANES))
                                               : sum;
}

/* The loss of a row of class y with scores s (width), for any formulation; score (k) is work. */
static inline __attribute__((always_inline)) double
NAME(row_loss)(const struct NAME(evaluation) * evaluation, size_t y, const REAL *s, double *score) {
    const struct mc_shape *shape = &evaluation->linear->shape;
    if (shape->form->relative) {
        return (double)NAME(loss)(&evaluation->descent->blocks, y, s);
    }
    for (size_t c = 0; c < shape->k; c++) {
        score[c] = (double)s[c];
    }
    return mc_loss(shape, y, score);
}

/* loss[0..MC_POINTS) = the sum of the losses of rows first .. end at each point; s (width) and
 * score (k) are work. */
DISPATCH static void NAME(evaluate_rows)(const struct NAME(evaluation) * evaluation, size_t first,
                                         size_t end, REAL *s, double *score, double *loss) {
    const struct mc_linear *linear = evaluation->linear;
    const struct NAME(descent) *descent = evaluation->descent;
    size_t width = descent->blocks.width, d = linear->n_features;
    double sum[MC_POINTS] = {0};
    for (size_t i = first; i < end; i++) {
        struct stored_row row = mc_linear_row(linear, i);
        size_t y = linear->y[i];
        double cap = linear->row_cap[i];
        NAME(row_scores)(&row, linear->bias, descent->W, d, width, s);
        sum[MC_LAST] += cap * NAME(row_loss)(evaluation, y, s, score);
        if (descent->mean) {
            NAME(row_scores)(&row, linear->bias, descent->mean, d, width, s);
            sum[MC_MEAN] += cap * NAME(row_loss)(evaluation, y, s, score);
        }
    }
    memcpy(loss, sum, sizeof sum);
}

/* evaluate_rows for the rows of a task: a threads_task. */
static void NAME(evaluate_task)(void *argument, size_t task, size_t worker) {
    const struct NAME(evaluation) *evaluation = argument;
    size_t width = evaluation->descent->blocks.width, n = evaluation->linear->n;
    size_t first = task * MC_TASK_ROWS, end = first + MC_TASK_ROWS;
    NAME(evaluate_rows)
    (evaluation, first, end < n ? end : n, evaluation->s + worker * width,
     evaluation->score + worker * evaluation->linear->shape.k, evaluation->loss + task * MC_POINTS);
}

/* The squared norm of weights (n_features + 1, width), centred if the form is. */
static double NAME(square_of)(const struct mc_linear *linear, size_t width, const REAL *weights) {
    size_t k = linear->shape.k;
    double square = 0;
    for (size_t f = 0; f <= linear->n_features; f++) {
        const REAL *w = weights + f * width;
        double inner = 0, sum = 0;
        for (size_t c = 0; c < k; c++) {
            inner += (double)w[c] * (double)w[c];
            sum += (double)w[c];
        }
        square += inner - (linear->shape.form->centred ? sum * sum / (double)k : 0);
    }
    return square;
}

/* The linear part of the dual, over all processes. */
static double NAME(sum)(const struct NAME(descent) * descent, const struct mc_linear *linear) {
    size_t width = descent->blocks.width;
    double total = 0, *sum = descent->row;
    if (!descent->alphas) {
        return mc_linear_sum(linear);
    }
    memset(sum, 0, width * sizeof *sum);
    for (size_t i = 0; i < linear->n; i++) {
        const REAL *alpha = descent->alphas + i * width; /* 0 if q is */
        for (size_t c = 0; c < width; c++) {
            sum[c] += (double)alpha[c];
        }
        total += linear->q[i] > 0 ? 0 : linear->row_cap[i] * mc_max_alpha_sum(&linear->shape);
    }
    for (size_t c = 0; c < width; c++) {
        total += sum[c];
    }
    return total;
}

/* The lower primal of the points, and which has it. */
static double NAME(best_primal)(const struct NAME(descent) * descent,
                                const struct mc_linear *linear, const double *loss,
                                double squared_norm, enum mc_point *point) {
    size_t width = descent->blocks.width;
    double primal = squared_norm / 2 + loss[MC_LAST];
    *point = MC_LAST;
    if (descent->mean) {
        double of_mean = NAME(square_of)(linear, width, descent->mean) / 2 + loss[MC_MEAN];
        *point = of_mean < primal ? MC_MEAN : *point;
        primal = of_mean < primal ? of_mean : primal;
    }
    return primal;
}

/* Evaluates both bounds in this type, and which point has the primal. */
static int NAME(evaluate)(const struct NAME(descent) * descent, const struct mc_linear *linear,
                          double *primal, double *dual, enum mc_point *point, struct error *err) {
    struct threads *threads = linear->task->problem->threads;
    size_t tasks = (linear->n + MC_TASK_ROWS - 1) / MC_TASK_ROWS;
    size_t workers = threads_count(threads), width = descent->blocks.width, k = linear->shape.k;
    struct NAME(evaluation)
        evaluation = {.descent = descent,
                      .linear = linear,
                      .loss = memory_array(tasks, MC_POINTS * sizeof(double), "losses", err),
                      .s = memory_array(workers * width, sizeof(REAL), "scores", err),
                      .score = memory_array(workers * k, sizeof(double), "scores", err)};
    int status = -1;
    if (evaluation.loss && evaluation.s && evaluation.score) {
        threads_run(threads, tasks, NAME(evaluate_task), &evaluation);
        double loss[MC_POINTS] = {0}, squared_norm = NAME(square_of)(linear, width, descent->W);
        for (size_t task = 0; task < tasks; task++) {
            for (size_t p = 0; p < MC_POINTS; p++) {
                loss[p] += evaluation.loss[task * MC_POINTS + p];
            }
        }
        cluster_sum(linear->cluster, loss, MC_POINTS);
        *primal = NAME(best_primal)(descent, linear, loss, squared_norm, point);
        *dual = NAME(sum)(descent, linear) - squared_norm / 2;
        status = 0;
    }
    free(evaluation.loss);
    free(evaluation.s);
    free(evaluation.score);
    return status;
}

/* Updates the mean of W after a sweep. */
static void NAME(update_mean)(struct NAME(descent) * descent, const struct mc_linear *linear,
                              uint64_t sweeps) {
    size_t entries = (linear->n_features + (size_t)1) * descent->blocks.width;
    REAL weight = sweeps <= MC_MEAN_SWEEPS ? 1 / (REAL)sweeps : 1 / (REAL)MC_MEAN_SWEEPS;
    for (size_t e = 0; descent->mean && e < entries; e++) {
        descent->mean[e] += weight * (descent->W[e] - descent->mean[e]);
    }
}

/* Copies the primal point to linear->weights if it is not W(alpha). */
static void NAME(give_weights)(const struct NAME(descent) * descent, struct mc_linear *linear,
                               enum mc_point point) {
    size_t width = descent->blocks.width, k = linear->shape.k;
    linear->has_own_primal = point != MC_LAST;
    for (size_t f = 0; linear->has_own_primal && f <= linear->n_features; f++) {
        double sum = 0, *to = linear->weights + f * k;
        for (size_t c = 0; c < k; c++) {
            to[c] = (double)descent->mean[f * width + c];
            sum += to[c];
        }
        for (size_t c = 0; linear->shape.form->centred && c < k; c++) {
            to[c] -= sum / (double)k;
        }
    }
}
