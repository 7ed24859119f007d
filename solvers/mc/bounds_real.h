/* Bounds at the weights as they stand, included by linear_real.h for float and for double. Not a header for
 * anybody else. */

struct NAME(evaluation) {
    const struct NAME(engine) * engine;
    const struct mc_linear *linear;
    double *loss;  /* (tasks) */
    REAL *s;       /* (workers, width) */
    double *score; /* (workers, k) */
};

static void NAME(evaluate_task)(void *argument, size_t task, size_t worker) {
    const struct NAME(evaluation) *evaluation = argument;
    const struct mc_linear *linear = evaluation->linear;
    size_t width = evaluation->engine->blocks.width, k = linear->shape.k;
    size_t first = task * MC_TASK_ROWS, end = first + MC_TASK_ROWS;
    end = end < linear->n ? end : linear->n;
    REAL *s = evaluation->s + worker * width;
    double *score = evaluation->score + worker * k, loss = 0;
    for (size_t i = first; i < end; i++) {
        struct mc_row row = mc_linear_row(linear, i);
        NAME(row_scores)(&row, linear->bias, evaluation->engine->W, linear->n_features, width, s);
        for (size_t c = 0; c < k; c++) {
            score[c] = (double)s[c];
        }
        loss += linear->cap[linear->y[i]] * mc_loss(&linear->shape, linear->y[i], score);
    }
    evaluation->loss[task] = loss;
}

/* |W|^2, means taken off where they count. */
static double NAME(norm)(const struct NAME(engine) * engine, const struct mc_linear *linear) {
    size_t width = engine->blocks.width, k = linear->shape.k;
    double norm = 0;
    for (size_t f = 0; f <= linear->n_features; f++) {
        const REAL *w = engine->W + f * width;
        double square = 0, sum = 0;
        for (size_t c = 0; c < k; c++) {
            square += (double)w[c] * (double)w[c];
            sum += (double)w[c];
        }
        norm += square - (linear->shape.form->centred ? sum * sum / (double)k : 0);
    }
    return norm;
}

/* Both bounds at W, as good as its type is. */
static int NAME(evaluate)(const struct NAME(engine) * engine, const struct mc_linear *linear,
                          double *primal, double *dual, struct error *err) {
    struct threads *threads = linear->task->problem->threads;
    size_t tasks = (linear->n + MC_TASK_ROWS - 1) / MC_TASK_ROWS;
    size_t workers = threads_count(threads), width = engine->blocks.width, k = linear->shape.k;
    struct NAME(evaluation)
        evaluation = {.engine = engine,
                      .linear = linear,
                      .loss = memory_array(tasks, sizeof(double), "losses", err),
                      .s = memory_array(workers * width, sizeof(REAL), "scores", err),
                      .score = memory_array(workers * k, sizeof(double), "scores", err)};
    int status = -1;
    if (evaluation.loss && evaluation.s && evaluation.score) {
        threads_run(threads, tasks, NAME(evaluate_task), &evaluation);
        double loss = 0, norm = NAME(norm)(engine, linear);
        for (size_t task = 0; task < tasks; task++) {
            loss += evaluation.loss[task];
        }
        loss = cluster_total(linear->cluster, loss);
        *primal = norm / 2 + loss;
        *dual = mc_linear_sum(linear) - norm / 2;
        status = 0;
    }
    free(evaluation.loss);
    free(evaluation.s);
    free(evaluation.score);
    return status;
}
