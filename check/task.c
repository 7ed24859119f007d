/* Reading of the three files, repairs of the dual point, and the bounds from both functions. */
#include "check/task.h"

#include "check/definite.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/data/fingerprint.h"
#include "common/data/input.h"
#include "common/data/scale.h"
#include "common/model/label_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct check_family *const families[] = {&check_rank, &check_top, &check_mc, &check_ml,
                                                      &check_smm};

/* ---- findings ---- */

void task_wrong(struct task *task, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!task->findings->wrong[0]) {
        vsnprintf(task->findings->wrong, sizeof task->findings->wrong, format, arguments);
    }
    va_end(arguments);
}

void task_unknown(struct task *task, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!task->findings->unknown[0]) {
        vsnprintf(task->findings->unknown, sizeof task->findings->unknown, format, arguments);
    }
    va_end(arguments);
}

/* ---- keys ---- */

const char *task_text(const struct task *task, const char *key) {
    for (size_t i = 0; i < task->proof.n_entries; i++) {
        if (strcmp(task->proof.entry[i].key, key) == 0) {
            return task->proof.entry[i].value;
        }
    }
    return NULL;
}

static int parse_number(const char *text, const char *key, double missing, double *number,
                        struct error *err) {
    *number = missing;
    if (text && !number_parse_whole(text, number)) {
        return error_set(err, ERROR_RUNTIME, "not a number for %s: '%.100s'", key, text);
    }
    return 0;
}

int task_proof_number(const struct task *task, const char *key, double missing, double *number,
                      struct error *err) {
    return parse_number(task_text(task, key), key, missing, number, err);
}

int task_model_number(const struct task *task, const char *key, double missing, double *number,
                      struct error *err) {
    return parse_number(model_value(&task->model, key), key, missing, number, err);
}

static bool listed(const char *key, const char *const *list) {
    for (; list && *list; list++) {
        if (strcmp(key, *list) == 0) {
            return true;
        }
    }
    return false;
}

/* Fails for unknown keys, which might change the problem, and for keys that occur twice, except
 * weights and points. */
static int check_keys(const struct task *task, struct error *err) {
    static const char *const all[] = {"constant", "row-weight", NULL};
    static const char *const repeated[] = {"point", "weight", "row-weight", NULL};
    for (size_t i = 0; i < task->proof.n_entries; i++) {
        const char *key = task->proof.entry[i].key;
        if (!listed(key, all) && !listed(key, task->family->proof_keys)) {
            return error_set(err, ERROR_RUNTIME, "the proof has an unknown key: '%.100s'", key);
        }
        if (task_text(task, key) != task->proof.entry[i].value && !listed(key, repeated)) {
            return error_set(err, ERROR_RUNTIME, "the proof has a key twice: '%.100s'", key);
        }
    }
    return 0;
}

/* ---- the unit ---- */

static int find_half_unit(const struct model *model) {
    const double ordinary = 0x1p-200;
    double size = model->primal > 0 ? model->primal : model->cost;
    return size > 0 && size < ordinary ? ilogb(size) / 2 : 0;
}

struct ball task_scaled(const struct task *task, double value) {
    return ball_scale(ball_of(value), -2 * task->half_unit);
}

/* ---- the dual point ---- */

bool task_within(const struct task *task, struct ball number, struct ball bound) {
    const double part = 1e-9;
    const int min_exponent = -1074; /* the smallest double, once for each row */
    double underflow = ldexp((double)task->data.n_rows + 1, min_exponent - 2 * task->half_unit);
    struct ball excused = ball_add(ball_multiply(bound, ball_of(1 + part)), ball_of(underflow));
    return ball_at_most(number, bound) || ball_at_most(number, excused);
}

void task_repair(struct task *task, struct ball *number, struct ball repaired) {
    task->findings->moved += ball_magnitude(ball_subtract(*number, repaired));
    *number = repaired;
}

bool task_clip(struct task *task, struct ball bound, struct ball *number) {
    if (!task_within(task, *number, bound)) {
        return false;
    }
    task_repair(task, number, ball_minimum(*number, bound));
    return true;
}

struct ball task_linear(struct task *task, struct ball weight, struct ball alpha) {
    if (!task->squared || ball_is_zero(alpha)) {
        return alpha;
    }
    struct ball ratio = ball_divide(alpha, ball_add(weight, weight));
    task->findings->ratio = fmax(task->findings->ratio, ball_magnitude(ratio));
    struct ball half = ball_multiply(ball_of(0.5), ball_multiply(alpha, ratio));
    return ball_subtract(alpha, half);
}

/* ---- weights and labels ---- */

int task_split(const char *text, size_t *length, double *number, struct error *err) {
    const char *blank = strchr(text, ' ');
    if (!blank || !number_parse_whole(blank + 1, number) || *number < 0) {
        return error_set(err, ERROR_RUNTIME, "not a name and a number: '%.100s'", text);
    }
    *length = (size_t)(blank - text);
    return 0;
}

static int read_row_weight(struct task *task, const char *text, struct error *err) {
    size_t length = 0;
    double weight;
    uint64_t row = 0;
    if (task_split(text, &length, &weight, err) < 0) {
        return -1;
    }
    if (number_parse_unsigned(text, text + length, &row) != text + length || row < 1 ||
        row > task->data.n_rows) {
        return error_set(err, ERROR_RUNTIME, "not a row of a weight: '%.100s'", text);
    }
    struct ball *own = &task->weight[row - 1];
    *own = ball_multiply(*own, ball_of(weight));
    return 0;
}

static int read_label_weight(struct task *task, const char *text, struct error *err) {
    size_t length = 0;
    double weight;
    if (task_split(text, &length, &weight, err) < 0) {
        return -1;
    }
    uint32_t name = names_find(&task->data.names, text, length);
    if (name == UINT32_MAX) {
        return error_set(err, ERROR_RUNTIME, "a weight of a label that no row has: '%.100s'", text);
    }
    for (size_t i = 0; i < task->data.n_rows; i++) {
        if (task->data.label[i] == name) {
            task->weight[i] = ball_multiply(task->weight[i], ball_of(weight));
        }
    }
    return 0;
}

static int read_weights(struct task *task, struct error *err) {
    task->weight = memory_array(2 * task->data.n_rows, sizeof *task->weight, "weights", err);
    for (size_t i = 0; task->weight && i < task->data.n_rows; i++) {
        task->weight[i] = ball_of(1);
    }
    for (size_t e = 0; task->weight && e < task->proof.n_entries; e++) {
        const struct model_entry *entry = &task->proof.entry[e];
        if ((strcmp(entry->key, "row-weight") == 0 &&
             read_row_weight(task, entry->value, err) < 0) ||
            (task->data.labels == DATA_NAME && strcmp(entry->key, "weight") == 0 &&
             read_label_weight(task, entry->value, err) < 0)) {
            return -1;
        }
    }
    if (!task->weight) {
        return -1;
    }
    task->cost = task->weight + task->data.n_rows;
    for (size_t i = 0; i < task->data.n_rows; i++) {
        task->cost[i] = ball_multiply(task_scaled(task, task->model.cost), task->weight[i]);
    }
    return 0;
}

static int read_labels(struct task *task, struct error *err) {
    if (!task->family->many) {
        return 0;
    }
    if (label_line_read(&task->labels, &task->model, true, err) < 0) {
        return -1;
    }
    const struct names *names = &task->data.names;
    task->class = memory_array(names->n, sizeof *task->class, "labels", err);
    if (!task->class) {
        return -1;
    }
    labels_map(&task->labels, names, task->class);
    for (size_t l = 0; l < names->n; l++) {
        if (task->class[l] == LABELS_UNKNOWN) {
            task_wrong(task, "the model has no label '%.100s'", names->name[l]);
        }
    }
    return 0;
}

/* ---- opening ---- */

static int find_family(struct task *task, struct error *err) {
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (strcmp(families[i]->name, task->proof.family) == 0) {
            task->family = families[i];
            return 0;
        }
    }
    return error_set(err, ERROR_RUNTIME, "the proof is of an unknown family: '%.100s'",
                     task->proof.family);
}

/* Rows and model get the columns that either has, if few of the indices occur. */
static int share_columns(struct task *task, struct error *err) {
    struct data *rows = &task->data, *vectors = &task->model.vectors;
    struct model *model = &task->model;
    size_t width = rows->row_start ? 0 : rows->n_features;
    const struct indices_part parts[] = {
        {rows->column, rows->row_start ? data_values(rows) : width},
        {vectors->column, vectors->row_start ? data_values(vectors) : 0},
        {model->columns.at, model->columns.at ? model->columns.n : 0}};
    struct indices all;
    if (indices_list(&all, parts, sizeof parts / sizeof parts[0], err) < 0) {
        return -1;
    }
    int status = data_select(rows, &all, err);
    if (status == 0 && vectors->row_start) {
        status = data_select(vectors, &all, err);
    }
    status = status < 0 ? -1 : model_align(model, &all, err);
    indices_free(&all);
    return status;
}

/* Gives the rows and the model the same columns. Columns of matrices (smm) and of precomputed
 * kernels are numbers, and are not mapped. */
static int align_columns(struct task *task, struct error *err) {
    struct model *model = &task->model;
    struct data *rows = &task->data;
    if (task->family == &check_smm) {
        return model_expand(model, err);
    }
    if (scale_by_column(&model->scale)) {
        return model->columns.at ? data_select(rows, &model->columns, err) : 0;
    }
    if (model->kernel.type == KERNEL_PRECOMPUTED || scale_by_query(&model->scale)) {
        return 0; /* features of queries follow the columns of the rows */
    }
    int few = model->columns.at != NULL;
    if (rows->row_start && model->vectors.row_start) {
        few = indices_few(rows->column, data_values(rows), rows->n_features, err);
    }
    return few > 0 ? share_columns(task, err) : few;
}

static int read_rows(struct task *task, const char *path, struct error *err) {
    const struct input_format format = {.labels = task->family->labels,
                                        .precomputed =
                                            task->model.kernel.type == KERNEL_PRECOMPUTED};
    if (input_read(&task->data, path, &format, task->threads, err) < 0) {
        return -1;
    }
    uint32_t print = data_fingerprint(&task->data, task->data.n_rows);
    if (task->data.n_rows != task->proof.n_rows || print != task->proof.training) {
        task_wrong(task,
                   "the proof is of other training rows: %zu rows %08" PRIx32 ", not %" PRIu64
                   " rows %08" PRIx32,
                   task->data.n_rows, print, task->proof.n_rows, task->proof.training);
        return 0;
    }
    return align_columns(task, err) < 0 ? -1 : scale_apply(&task->model.scale, &task->data, err);
}

/* Checks the header of the model. */
static void check_model(struct task *task) {
    const struct model *model = &task->model;
    bool free_bias = task_text(task, "free-bias") || task->family == &check_smm;
    if (model->checksum != task->proof.model) {
        task_wrong(task, "the proof is of another model: checksum %08" PRIx32 ", not %08" PRIx32,
                   model->checksum, task->proof.model);
    } else if (model->n_rows != task->proof.n_rows) {
        task_wrong(task, "the model is of %" PRIu64 " rows", model->n_rows);
    } else if (!model->certified || isnan(model->gap)) {
        task_wrong(task, "the model claims no gap");
    }
    for (size_t c = 0; model->bias && c < model->n_outputs; c++) {
        if (model->bias[c] != 0 && task->constant == 0 && !free_bias) {
            task_wrong(task, "the model has a bias, and the problem none");
        }
    }
}

int task_open(struct task *task, const char *const paths[3], struct threads *threads,
              struct findings *findings, struct error *err) {
    *findings =
        (struct findings){.primal = ball_of(0), .dual = ball_of(0), .zero_primal = ball_of(0)};
    *task = (struct task){.threads = threads, .findings = findings};
    if (proof_read(&task->proof, paths[2], err) < 0 || find_family(task, err) < 0 ||
        check_keys(task, err) < 0 ||
        model_read(&task->model, task->family->name, task->family->model_keys, false, paths[1],
                   err) < 0 ||
        task_proof_number(task, "constant", 0, &task->constant, err) < 0) {
        return -1;
    }
    task->squared = task->model.loss && strcmp(task->model.loss, "squared-hinge") == 0;
    check_model(task);
    if (findings->wrong[0] || read_rows(task, paths[0], err) < 0 || findings->wrong[0]) {
        return findings->wrong[0] ? 0 : -1;
    }
    if (!(task->constant >= 0)) {
        return error_set(err, ERROR_RUNTIME, "a constant feature below 0");
    }
    task->half_unit = find_half_unit(&task->model);
    return read_weights(task, err) < 0 || read_labels(task, err) < 0 ||
                   points_create(&task->points, &task->data, &task->model, task->half_unit, err) < 0
               ? -1
               : 0;
}

void task_close(struct task *task) {
    points_free(&task->points);
    function_free(&task->f);
    function_free(&task->g);
    labels_free(&task->labels);
    data_free(&task->data);
    model_free(&task->model);
    proof_free(&task->proof);
    free(task->weight);
    free(task->class);
}

/* ---- bounds ---- */

int task_shift(struct task *task, struct definite *definite, struct error *err) {
    if (definite->m > DEFINITE_MAX) {
        task_unknown(task, "the kernel may be indefinite, and %zu rows are too many to see",
                     definite->m);
        return 0;
    }
    if (definite_shift(definite, &task->points, task->threads, err) < 0) {
        return -1;
    }
    if (!definite->found) {
        task_unknown(task, "the kernel matrix is not %s",
                     definite->symmetric ? "positive semidefinite" : "symmetric");
    }
    for (size_t p = 0; p < definite->m; p++) {
        definite->shift[p] *= 2; /* as in the trainer's bounds: the scores are not shifted */
    }
    return 0;
}

/* Both functions with coefficients aggregated over equal points. */
struct joined {
    size_t k;
    struct ball *f, *g; /* (n_all, k) */
    struct definite definite;
};

static void join_points(struct joined *joined, const struct task *task) {
    const struct points *points = &task->points;
    size_t k = joined->k;
    for (size_t p = 0; p < points->n_all; p++) {
        size_t to = points->first[p];
        bool any = false;
        for (size_t c = 0; c < k; c++) {
            struct ball own = task->f.coefficients[p * k + c];
            struct ball other = p < points->n ? task->g.coefficients[p * k + c] : ball_of(0);
            any = any || !ball_is_zero(own) || !ball_is_zero(other);
            joined->f[to * k + c] = ball_add(joined->f[to * k + c], own);
            joined->g[to * k + c] = ball_add(joined->g[to * k + c], other);
        }
        joined->definite.copies[to] += any;
    }
}

/* Lists all points except those that need no shift, since a model may have coefficients at any. */
static void list_points(struct joined *joined, const struct points *points) {
    struct definite *definite = &joined->definite;
    for (size_t p = 0, k = joined->k; p < points->n_all; p++) {
        const struct ball *f = joined->f + p * k, *g = joined->g + p * k;
        size_t m = definite->m;
        definite->point[m] = (uint32_t)p;
        definite->copies[m] = fmax(1, definite->copies[p]);
        definite->cost[m] = ball_magnitude(ball_dot(f, f, k)) + ball_magnitude(ball_dot(g, g, k));
        definite->m += points->first[p] == p && !points_is_zero(points, p);
    }
}

/* The increase of a squared norm by the shift. */
static struct ball increase_of(const struct joined *joined, const struct ball *function,
                               int half_unit) {
    struct ball sum = ball_of(0);
    for (size_t i = 0; i < joined->definite.m; i++) {
        const struct ball *row = function + joined->definite.point[i] * joined->k;
        struct ball shift = ball_scale(ball_of(joined->definite.shift[i]), 2 * half_unit);
        sum = ball_add(sum, ball_multiply(shift, ball_dot(row, row, joined->k)));
    }
    return sum;
}

/* The increase of |f|^2 and of |g|^2 by the shift of the diagonal. */
static int find_increases(struct task *task, struct ball increase[2], struct error *err) {
    size_t n = task->points.n_all, k = task->f.k;
    struct joined joined = {.k = k};
    increase[0] = increase[1] = ball_of(0);
    if (!task->f.coefficients || definite_always(&task->points.kernel)) {
        return 0;
    }
    struct definite *definite = &joined.definite;
    void *block =
        ARRAYS_CREATE("points", err, ARRAYS(n * k, struct ball, &joined.f, &joined.g),
                      ARRAYS(n, uint32_t, &definite->point),
                      ARRAYS(n, double, &definite->copies, &definite->cost, &definite->shift));
    int status = -1;
    if (block) {
        join_points(&joined, task);
        list_points(&joined, &task->points);
        status = task_shift(task, definite, err);
        increase[0] = increase_of(&joined, joined.f, task->half_unit);
        increase[1] = increase_of(&joined, joined.g, task->half_unit);
    }
    free(block);
    return status;
}

/* An upper bound of the dual near the repaired point. D is concave: at points up to FARTHER times
 * as far from the point of the proof as the repaired point, it is at most D plus its derivatives
 * times the distance. A derivative is at most 1 + alpha / (2 C v) + a difference of two scores of
 * g. */
static struct ball highest_dual(const struct task *task, struct ball bound, double g_norm) {
    const double FARTHER = 4;
    const struct findings *findings = task->findings;
    if (findings->moved == 0) {
        return bound;
    }
    double diagonal = points_largest_own(&task->points) + task->constant * task->constant;
    diagonal = ldexp(diagonal, 2 * task->half_unit) * BALL_UP;
    diagonal = task->model.pairs ? 2 * diagonal * diagonal : diagonal;
    double slope = 1 + findings->ratio + 2 * sqrt(g_norm) * sqrt(diagonal);
    double more = FARTHER * findings->moved * slope;
    return ball_add(bound, (struct ball){{more / 2, 0}, more / 2 * BALL_UP});
}

void task_set_dual(struct task *task, struct ball linear, struct ball g_norm) {
    struct ball half = ball_multiply(ball_of(0.5), ball_positive(g_norm));
    struct ball bound = ball_subtract(linear, half);
    task->findings->dual = ball_positive(bound);
    task->findings->highest = ball_positive(highest_dual(task, bound, ball_magnitude(g_norm)));
}

void task_bounds(struct task *task, struct ball f_norm, struct ball linear, struct ball g_norm) {
    task->findings->primal = ball_multiply(ball_of(0.5), ball_positive(f_norm));
    task_set_dual(task, linear, g_norm);
}

int task_functions(struct task *task, double constant, struct error *err) {
    return function_create(&task->f, &task->g, &task->model, &task->points, constant, err);
}

int task_evaluate(struct task *task, struct ball linear, bool with_g, struct error *err) {
    struct function *f = &task->f, *g = &task->g;
    struct ball increase[2];
    if (function_evaluate(f, g, &task->points, task->constant, with_g, task->threads, err) < 0 ||
        find_increases(task, increase, err) < 0) {
        return -1;
    }
    /* the squared norms are between those with and without the shift */
    task_bounds(task, ball_join(f->norm, ball_add(f->norm, increase[0])), linear,
                ball_join(g->norm, ball_add(g->norm, increase[1])));
    return 0;
}

void task_add_loss(struct task *task, struct ball loss) {
    task->findings->primal = ball_add(task->findings->primal, loss);
}
