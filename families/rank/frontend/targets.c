/* The maps of all queries: fits them, writes and reads their lines in a model, and adds those of
 * new queries. */
#include "families/rank/frontend/targets.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/base/order.h"
#include "common/base/random.h"
#include "common/base/text.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_STREAM = 7 };

/* A row and its query. */
struct member {
    uint64_t query;
    struct target_row row;
};

static int compare_members(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    int order = order_integers(x->query, y->query);
    order = order ? order : order_doubles(x->row.score, y->row.score);
    return order ? order : order_doubles(x->row.label, y->row.label);
}

static int compare_maps(const void *a, const void *b) {
    return strcmp(((const struct target_map *)a)->query, ((const struct target_map *)b)->query);
}

void targets_free(struct targets *targets) {
    for (size_t i = 0; i < targets->n_maps; i++) {
        target_map_free(&targets->map[i]);
    }
    free(targets->map);
    *targets = (struct targets){0};
}

static void clear_few(struct targets *targets) {
    for (size_t n = 0; n < TARGETS_MIN_ROWS; n++) {
        targets->few[n] = INFINITY;
    }
}

/* Lowers the bound of intervals if a label is negative. */
static void find_lowest(struct targets *targets, const struct member *member, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (member[i].row.label < 0) {
            targets->lowest = -INFINITY;
        }
    }
}

/* ---- intervals of few rows ---- */

/* Residuals over the range of the labels, of maps of m rows of a query at other rows of it:
 * TARGETS_MIN_ROWS random maps, as many other rows for each. */
struct few {
    double *residual; /* (n) */
    size_t n;
};

static int add_few_residuals(struct few *few, const struct member *member, size_t n, size_t m,
                             struct random *random, struct error *err) {
    struct target_row drawn[TARGETS_MIN_ROWS];
    uint32_t *order = memory_array(n, sizeof *order, "targets", err);
    double no_few[TARGETS_MIN_ROWS] = {0};
    int status = order ? 0 : -1;
    for (size_t draw = 0; draw < TARGETS_MIN_ROWS && status == 0; draw++) {
        struct target_map map;
        for (size_t i = 0; i < n; i++) {
            order[i] = (uint32_t)i;
        }
        random_shuffle(random, order, n);
        for (size_t i = 0; i < m; i++) {
            drawn[i] = member[order[i]].row;
        }
        double range = target_range(drawn, m);
        if (memory_grow(&few->residual, memory_room(0, few->n), few->n + TARGETS_MIN_ROWS,
                        sizeof *few->residual, "targets", err) < 0) {
            status = -1;
            break;
        }
        status = target_map_fit(&map, drawn, m, no_few, err);
        for (size_t i = m;
             status == 0 && map.n_knots > 0 && range > 0 && i < n && i < m + TARGETS_MIN_ROWS;
             i++) {
            const struct target_row *row = &member[order[i]].row;
            few->residual[few->n++] = fabs(row->label - target_map_value(&map, row->score)) / range;
        }
        if (status == 0) {
            target_map_free(&map);
        }
    }
    free(order);
    return status;
}

/* Fills few of struct targets, from queries of at least 2 TARGETS_MIN_ROWS rows. */
static int fit_few(struct targets *targets, const struct member *member, size_t n, uint64_t seed,
                   struct error *err) {
    struct random random;
    random_start(&random, seed, RANDOM_STREAM);
    for (size_t m = 2; m < TARGETS_MIN_ROWS; m++) {
        struct few few = {0};
        int status = 0;
        for (size_t first = 0, end; first < n && status == 0; first = end) {
            for (end = first; end < n && member[end].query == member[first].query;) {
                end++;
            }
            if (end - first >= 2 * TARGETS_MIN_ROWS) {
                status = add_few_residuals(&few, member + first, end - first, m, &random, err);
            }
        }
        if (status == 0) {
            targets->few[m] = target_quantile(few.residual, few.n);
        }
        free(few.residual);
        if (status < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- maps of queries ---- */

/* Adds a map, and sets its query. */
static int append_map(struct targets *targets, struct target_map *map, const char *query,
                      struct error *err) {
    map->query = memory_text(query, strlen(query), "targets", err);
    if (!map->query || memory_grow(&targets->map, memory_room(0, targets->n_maps),
                                   targets->n_maps + 1, sizeof *targets->map, "targets", err) < 0) {
        target_map_free(map);
        return -1;
    }
    targets->map[targets->n_maps++] = *map;
    return 0;
}

static void sort_maps(struct targets *targets) {
    if (targets->n_maps > 0) {
        qsort(targets->map, targets->n_maps, sizeof *targets->map, compare_maps);
    }
}

/* Fits a map to each query of the members, which are sorted; it replaces an existing map. path: the
 * file of the members, in which each query must have a map; NULL: queries without a map are
 * skipped. */
static int fit_maps(struct targets *targets, const struct member *member, size_t n,
                    const struct names *queries, const char *path, struct error *err) {
    struct targets existing = *targets; /* the sorted maps; new ones are appended behind them */
    struct target_row *rows = memory_array(n, sizeof *rows, "targets", err);
    int status = rows ? 0 : -1;
    for (size_t first = 0, end; status == 0 && first < n; first = end) {
        char text[DATA_QUERY_TEXT];
        const char *query = data_query_text(queries, member[first].query, text);
        struct target_map map;
        for (end = first; end < n && member[end].query == member[first].query; end++) {
            rows[end - first] = member[end].row;
        }
        status = target_map_fit(&map, rows, end - first, targets->few, err);
        if (status < 0) {
            break;
        }
        existing.map = targets->map;
        const struct target_map *before = targets_find(&existing, query);
        if (map.n_knots > 0 && before) {
            struct target_map *own = &targets->map[before - existing.map];
            map.query = own->query;
            own->query = NULL;
            target_map_free(own);
            *own = map;
        } else if (map.n_knots > 0) {
            status = append_map(targets, &map, query, err);
        } else if (path) {
            status =
                error_set(err, ERROR_RUNTIME,
                          "%s: query %.100s has no two rows with different scores", path, query);
        }
    }
    free(rows);
    sort_maps(targets);
    return status;
}

static int compare_query(const void *query, const void *map) {
    return strcmp(query, ((const struct target_map *)map)->query);
}

const struct target_map *targets_find(const struct targets *targets, const char *query) {
    return targets->n_maps > 0
               ? bsearch(query, targets->map, targets->n_maps, sizeof *targets->map, compare_query)
               : NULL;
}

/* ---- lines of a model: writing ---- */

static void add_number(struct text *line, double number) {
    char decimal[NUMBER_LENGTH] = "none";
    if (!isinf(number)) {
        number_format(number, decimal);
    }
    text_format(line, " %s", decimal);
}

static int write_maps(const struct targets *targets, struct model *model, struct error *err) {
    enum { MAPS, FEW, WIDTHS, LINES };
    static const char *const key[] = {TARGETS_KEY, TARGETS_FEW_KEY, TARGETS_WIDTHS_KEY};
    struct text line[LINES] = {{0}}; /* with a blank before each word */
    add_number(&line[MAPS], (double)targets->n_maps);
    for (size_t n = 2; n < TARGETS_MIN_ROWS; n++) {
        add_number(&line[FEW], targets->few[n]);
    }
    add_number(&line[WIDTHS], targets->lowest);
    for (size_t i = 0; i < targets->n_maps; i++) {
        const struct target_map *map = &targets->map[i];
        text_format(&line[MAPS], " %s", map->query);
        add_number(&line[MAPS], map->half_width);
        add_number(&line[MAPS], (double)map->n_knots);
        for (size_t k = 0; k < map->n_knots; k++) {
            add_number(&line[MAPS], map->score[k]);
            add_number(&line[MAPS], map->value[k]);
            add_number(&line[WIDTHS], map->width[k]);
        }
    }
    int status = 0;
    for (size_t i = 0; i < LINES; i++) {
        char *text = text_end(&line[i], "targets", err);
        status = status < 0 || !text ? -1 : model_add(model, err, key[i], "%s", text + 1);
        free(text);
    }
    return status;
}

/* Maps the scores of a fold to the scale of the model. The loss does not determine a constant, and
 * fits of fewer rows have another norm, so scores get the mean and the standard deviation that the
 * model has at the same rows. */
struct alignment {
    double ratio, level;
};

static struct alignment align_fold(const struct held_out *fold) {
    double n = (double)fold->n, own = 0, model = 0, own_squares = 0, model_squares = 0;
    for (size_t i = 0; i < fold->n; i++) {
        own += fold->scores[i] / n;
        model += fold->fitted[fold->rows[i]] / n;
    }
    for (size_t i = 0; i < fold->n; i++) {
        double x = fold->scores[i] - own, y = fold->fitted[fold->rows[i]] - model;
        own_squares += x * x;
        model_squares += y * y;
    }
    double ratio = own_squares > 0 ? sqrt(model_squares / own_squares) : 1;
    return (struct alignment){ratio, model - ratio * own};
}

int targets_fit(const struct held_out *folds, size_t n_folds, uint64_t seed, struct model *model,
                struct error *err) {
    struct targets targets = {0};
    size_t n = 0, at = 0;
    for (size_t f = 0; f < n_folds; f++) {
        n += folds[f].n;
    }
    struct member *member = memory_array(n, sizeof *member, "targets", err);
    if (!member) {
        return -1;
    }
    const struct data *data = folds[0].data;
    for (size_t f = 0; f < n_folds; f++) {
        const struct alignment aligned = align_fold(&folds[f]);
        for (size_t i = 0; i < folds[f].n; i++) {
            uint32_t row = folds[f].rows[i];
            member[at++] = (struct member){
                data->query ? data->query[row] : 0,
                {aligned.ratio * folds[f].scores[i] + aligned.level, data->target[row]}};
        }
    }
    qsort(member, n, sizeof *member, compare_members);
    clear_few(&targets);
    find_lowest(&targets, member, n);
    int status = fit_few(&targets, member, n, seed, err) < 0 ||
                         fit_maps(&targets, member, n, &data->queries, NULL, err) < 0 ||
                         write_maps(&targets, model, err) < 0
                     ? -1
                     : 0;
    free(member);
    targets_free(&targets);
    return status;
}

/* ---- lines of a model: reading ---- */

/* A line that is being read. */
struct line {
    char *rest;
    bool failed; /* something was malformed */
};

/* The next word, which is cut off with a NUL. Fails at the end of the line. */
static const char *read_word(struct line *line) {
    char *word = line->rest, *blank = strchr(word, ' ');
    line->failed = line->failed || *word == '\0';
    line->rest = blank ? blank + 1 : word + strlen(word);
    if (blank) {
        *blank = '\0';
    }
    return word;
}

/* The next number. Fails below min_value. `none` stands for INFINITY. */
static double read_number(struct line *line, double min_value) {
    const char *word = read_word(line);
    double number = INFINITY;
    bool read = strcmp(word, "none") == 0 || number_parse_whole(word, &number);
    line->failed = line->failed || !read || !(number >= min_value);
    return number;
}

/* The number of items that follow, each of at least `width` characters. */
static size_t read_count(struct line *line, size_t width) {
    double number = read_number(line, 0);
    line->failed = line->failed || number != floor(number) ||
                   number > (double)(strlen(line->rest) / width + 1);
    return line->failed ? 0 : (size_t)number;
}

static int read_map(struct target_map *map, struct line *line, struct error *err) {
    const char *query = read_word(line);
    map->half_width = read_number(line, 0);
    map->n_knots = read_count(line, 4);
    map->query = memory_text(query, strlen(query), "targets", err);
    map->score = memory_array(map->n_knots, 3 * sizeof(double), "targets", err);
    if (!map->query || !map->score) {
        return -1;
    }
    map->value = map->score + map->n_knots;
    map->width = map->value + map->n_knots;
    for (size_t k = 0; k < map->n_knots && !line->failed; k++) {
        map->score[k] = read_number(line, k > 0 ? map->score[k - 1] : -DBL_MAX);
        map->value[k] = read_number(line, -DBL_MAX);
        line->failed = line->failed || isinf(map->score[k]) || isinf(map->value[k]) ||
                       (k > 0 && map->score[k] == map->score[k - 1]);
        map->width[k] = map->half_width; /* of models without widths */
    }
    line->failed = line->failed || map->n_knots == 0;
    return 0;
}

static int read_maps(struct targets *targets, char *text, struct error *err) {
    struct line line = {.rest = text};
    size_t n = read_count(&line, 8);
    for (size_t i = 0; i < n && !line.failed; i++) {
        if (memory_grow(&targets->map, memory_room(0, i), i + 1, sizeof *targets->map, "targets",
                        err) < 0) {
            return -1;
        }
        targets->map[targets->n_maps++] = (struct target_map){0};
        if (read_map(&targets->map[i], &line, err) < 0) {
            return -1;
        }
    }
    if (line.failed || *line.rest != '\0') {
        return error_set(err, ERROR_RUNTIME, "the model's targets are not maps of queries");
    }
    sort_maps(targets);
    for (size_t i = 1; i < n; i++) {
        if (compare_maps(&targets->map[i - 1], &targets->map[i]) == 0) {
            return error_set(err, ERROR_RUNTIME, "the model's targets have query %.100s twice",
                             targets->map[i].query);
        }
    }
    return 0;
}

static int read_few(struct targets *targets, char *text, struct error *err) {
    struct line line = {.rest = text};
    for (size_t n = 2; n < TARGETS_MIN_ROWS; n++) {
        targets->few[n] = read_number(&line, 0);
    }
    return line.failed ? error_set(err, ERROR_RUNTIME, "the model's targets-few are not %d numbers",
                                   TARGETS_MIN_ROWS - 2)
                       : 0;
}

/* Reads the bound of intervals, and the widths of all maps. */
static int read_widths(struct targets *targets, char *text, struct error *err) {
    struct line line = {.rest = text};
    double lowest = read_number(&line, 0);
    targets->lowest = lowest == 0 ? 0 : -INFINITY;
    line.failed = line.failed || (lowest != 0 && isfinite(lowest));
    for (size_t i = 0; i < targets->n_maps; i++) {
        double *width = targets->map[i].width;
        for (size_t k = 0; k < targets->map[i].n_knots && !line.failed; k++) {
            width[k] = read_number(&line, 0);
            line.failed = line.failed || isinf(width[k]) != isinf(width[0]);
        }
    }
    return line.failed || *line.rest != '\0'
               ? error_set(err, ERROR_RUNTIME, "the model's targets-widths do not fit its targets")
               : 0;
}

/* Reads a line of the model with a function that overwrites its text. Nothing if it has none. */
static int read_line(struct targets *targets, const struct model *model, const char *key,
                     int (*read)(struct targets *targets, char *text, struct error *err),
                     struct error *err) {
    const char *value = model_value(model, key);
    if (!value) {
        return 0;
    }
    char *text = memory_text(value, strlen(value), "targets", err);
    int status = text ? read(targets, text, err) : -1;
    free(text);
    return status;
}

int targets_read(struct targets *targets, const struct model *model, struct error *err) {
    *targets = (struct targets){.lowest = -INFINITY};
    clear_few(targets);
    int status = read_line(targets, model, TARGETS_KEY, read_maps, err) < 0 ||
                         read_line(targets, model, TARGETS_FEW_KEY, read_few, err) < 0 ||
                         read_line(targets, model, TARGETS_WIDTHS_KEY, read_widths, err) < 0
                     ? -1
                     : 0;
    if (status < 0) {
        targets_free(targets);
    }
    return status;
}

/* ---- standards: new queries ---- */

static int score_file(const char *path, const struct model *model, struct data *data,
                      double **scores, struct error *err) {
    const struct input_format format = {.labels = DATA_NUMBER,
                                        .label_optional = true,
                                        .precomputed = model->kernel.type == KERNEL_PRECOMPUTED};
    if (input_read(data, path, &format, NULL, err) < 0) {
        return -1;
    }
    *scores = memory_array(data->n_rows, sizeof **scores, "scores", err);
    return !*scores || model_take_rows(model, data, err) < 0
               ? -1
               : model_scores(model, data, *scores, NULL, err);
}

int targets_add_file(struct targets *targets, const char *path, const struct model *model,
                     const struct target_map **only, struct error *err) {
    struct data data = {0};
    double *scores = NULL;
    struct member *member = NULL;
    int status = score_file(path, model, &data, &scores, err);
    size_t n = 0;
    if (status == 0) {
        member = memory_array(data.n_rows, sizeof *member, "targets", err);
        status = member ? 0 : -1;
    }
    for (size_t i = 0; status == 0 && i < data.n_rows; i++) {
        if (!isnan(data.target[i])) {
            member[n++] =
                (struct member){data.query ? data.query[i] : 0, {scores[i], data.target[i]}};
        }
    }
    if (status == 0 && n == 0) {
        status = error_set(err, ERROR_RUNTIME, "%s: no row has a label", path);
    }
    if (status == 0) {
        qsort(member, n, sizeof *member, compare_members);
        find_lowest(targets, member, n);
        status = fit_maps(targets, member, n, &data.queries, path, err);
    }
    if (status == 0 && only) {
        char text[DATA_QUERY_TEXT];
        bool several = member[0].query != member[n - 1].query;
        *only = several
                    ? NULL
                    : targets_find(targets, data_query_text(&data.queries, member[0].query, text));
    }
    free(member);
    free(scores);
    data_free(&data);
    return status;
}
