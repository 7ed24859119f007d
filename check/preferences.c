/* Preferences are enumerated query by query. */
#include "check/preferences.h"

#include "check/grades.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_STREAM = 1 }; /* stream of the seed; doc/formats, "Proofs" */

/* ---- rows ---- */

static int compare_rows(const void *a, const void *b) {
    const struct preference_row *x = a, *y = b;
    return x->query != y->query     ? (x->query < y->query ? -1 : 1)
           : x->target != y->target ? (x->target < y->target ? -1 : 1)
                                    : (x->number > y->number) - (x->number < y->number);
}

static int sort_rows(struct preferences *preferences, bool graded, struct error *err) {
    const struct data *data = &preferences->task->data;
    struct preference_row *row = preferences->row;
    for (size_t i = 0; i < preferences->n; i++) {
        row[i] = (struct preference_row){data->query ? data->query[i] : 0, data->target[i],
                                         (uint32_t)i, 0};
        if (graded && grades_of(row[i].target, &row[i].target, err) < 0) {
            return -1;
        }
    }
    qsort(row, preferences->n, sizeof *row, compare_rows);
    for (size_t a = 0; a < preferences->n; a++) {
        if (a > 0 && row[a].query == row[a - 1].query) {
            row[a].level = row[a - 1].level + (row[a].target != row[a - 1].target ? 1 : 0);
        }
        preferences->place[row[a].number] = (uint32_t)a;
    }
    return 0;
}

size_t preferences_end(const struct preferences *preferences, size_t first) {
    size_t end = first;
    while (end < preferences->n && preferences->row[end].query == preferences->row[first].query) {
        end++;
    }
    return end;
}

double preferences_count(const struct preferences *preferences, size_t first, size_t end) {
    double n = 0;
    for (size_t a = first; a < end; a++) {
        for (size_t b = first; b < a; b++) {
            n += preferences_has(preferences, a, b) ? 1 : 0;
        }
    }
    return n;
}

struct ball preferences_total(const struct preferences *preferences, size_t first, size_t end,
                              double pairs) {
    struct ball total = ball_of(0);
    if (!preferences->gain) {
        return ball_of(pairs);
    }
    for (size_t a = first; a < end; a++) {
        for (size_t b = first; b < a; b++) {
            if (preferences_has(preferences, a, b)) {
                total = ball_add(total, preferences_weight(preferences, a, b));
            }
        }
    }
    return total;
}

/* ---- options in the proof ---- */

/* Gains and discounts, query by query. */
static int weigh(struct preferences *preferences, struct error *err) {
    size_t n = preferences->n;
    bool linear = task_text(preferences->task, "gain") != NULL;
    double *grade;
    preferences->weights = ARRAYS_CREATE(
        "grades", err, ARRAYS(n, double, &grade),
        ARRAYS(n, struct ball, &preferences->gain, &preferences->discount, &preferences->ideal));
    if (!preferences->weights) {
        return -1;
    }
    for (size_t a = 0; a < n; a++) {
        grade[a] = preferences->row[a].target;
    }
    for (size_t first = 0, end; first < n; first = end) {
        end = preferences_end(preferences, first);
        preferences->ideal[first] =
            grades_weigh(grade + first, end - first, linear, preferences->gain + first,
                         preferences->discount + first);
    }
    return 0;
}

/* LOW:HIGH; HIGH may be inf. */
static int read_window(struct preferences *preferences, struct error *err) {
    const char *text = task_text(preferences->task, "rank-gap");
    const char *end = text ? text + strlen(text) : NULL;
    preferences->low = 1;
    preferences->high = INFINITY;
    if (!text) {
        return 0;
    }
    const char *at = number_parse(text, end, &preferences->low);
    at = at && *at == ':' ? at + 1 : NULL;
    bool open = at && strcmp(at, "inf") == 0;
    at = open || !at ? at : number_parse(at, end, &preferences->high);
    if (!at || (!open && at != end) || !(preferences->low >= 1)) {
        return error_set(err, ERROR_RUNTIME, "not a window of ranks: '%.100s'", text);
    }
    return 0;
}

int preferences_cost(const struct preferences *preferences, size_t first, double pairs,
                     struct ball *cost, struct error *err) {
    const struct task *task = preferences->task;
    double weight = 1;
    for (size_t e = 0; e < task->proof.n_entries; e++) {
        const struct model_entry *entry = &task->proof.entry[e];
        size_t length = 0;
        uint64_t query;
        double own;
        if (strcmp(entry->key, "weight") != 0) {
            continue;
        }
        if (task_split(entry->value, &length, &own, err) < 0) {
            return -1;
        }
        bool found = data_find_query(&task->data.queries, entry->value, length, &query);
        weight = found && query == preferences->row[first].query ? own : weight;
    }
    *cost = ball_multiply(task_scaled(task, task->model.cost), ball_of(weight));
    bool by_gain = preferences->gain && !preferences->discount;
    if (task_text(task, "cost-per") && pairs > 0 && !by_gain) {
        *cost = ball_divide(*cost, preferences->gain ? preferences->ideal[first] : ball_of(pairs));
    }
    return 0;
}

/* ---- the sample ---- */

/* Reads the share and the seed; *share 1: there is no sample. */
static int read_share(const struct task *task, double *share, uint64_t *seed, struct error *err) {
    const char *text = task_text(task, "seed"), *end = text ? text + strlen(text) : NULL;
    if (task_proof_number(task, "pairs", 1, share, err) < 0) {
        return -1;
    }
    if (!(*share > 0 && *share <= 1)) {
        return error_set(err, ERROR_RUNTIME, "not a share of the pairs: %g", *share);
    }
    if (*share < 1 && (!text || number_parse_unsigned(text, end, seed) != end)) {
        return error_set(err, ERROR_RUNTIME, "a share of the pairs wants a whole number as seed");
    }
    return 0;
}

/* Allocates a bit for each two rows of a query. */
static int make_bits(struct preferences *preferences, struct error *err) {
    size_t bits = 0;
    for (size_t first = 0, end; first < preferences->n; first = end) {
        end = preferences_end(preferences, first);
        for (size_t a = first; a < end; a++) {
            preferences->bit[a] = bits - first; /* unsigned: + b below */
            bits += a - first;
        }
    }
    preferences->sampled = memory_zeros(bits / 8 + 1, 1, "a sample of the pairs", err);
    return preferences->sampled ? 0 : -1;
}

/* Draws the sample: `still` of the `left` pairs, in the order of their positions (that of the
 * preferred row first): a pair is kept if a random number below `left` is below `still` (Knuth,
 * vol. 2, 3.4.2, algorithm S). */
static int draw(struct preferences *preferences, double share, uint64_t seed, struct error *err) {
    double left = 0;
    for (size_t first = 0, end; first < preferences->n; first = end) {
        end = preferences_end(preferences, first);
        left += preferences_count(preferences, first, end);
    }
    double still = round(share * left);
    if (make_bits(preferences, err) < 0) {
        return -1;
    }
    uint8_t *sampled = preferences->sampled;
    preferences->sampled = NULL; /* so that preferences_has accepts all pairs */
    struct random random;
    random_start(&random, seed, SAMPLE_STREAM);
    for (size_t first = 0, end; first < preferences->n; first = end) {
        end = preferences_end(preferences, first);
        for (size_t a = first; a < end; a++) {
            for (size_t b = first; b < a; b++) {
                size_t bit = preferences->bit[a] + b;
                if (preferences_has(preferences, a, b)) {
                    bool take = random_unit(&random) * left-- < still;
                    sampled[bit / 8] |= (uint8_t)(take << bit % 8);
                    still -= take ? 1 : 0;
                }
            }
        }
    }
    preferences->sampled = sampled;
    return 0;
}

/* ---- all ---- */

int preferences_create(struct preferences *preferences, const struct task *task,
                       struct error *err) {
    double share;
    uint64_t seed = 0;
    *preferences = (struct preferences){.task = task, .n = task->data.n_rows};
    size_t n = preferences->n;
    preferences->block = ARRAYS_CREATE(
        "rows", err, ARRAYS(n, struct preference_row, &preferences->row),
        ARRAYS(n, uint32_t, &preferences->place), ARRAYS(n, size_t, &preferences->bit));
    const char *unit = task_text(task, "cost-per");
    bool by_gain = unit && strcmp(unit, "gain") == 0;
    bool graded = by_gain || (unit && strcmp(unit, "ndcg") == 0);
    if (!preferences->block || read_window(preferences, err) < 0 ||
        read_share(task, &share, &seed, err) < 0 || sort_rows(preferences, graded, err) < 0 ||
        (graded && weigh(preferences, err) < 0)) {
        return -1;
    }
    preferences->discount = by_gain ? NULL : preferences->discount;
    return share < 1 ? draw(preferences, share, seed, err) : 0;
}

void preferences_free(struct preferences *preferences) {
    free(preferences->block);
    free(preferences->weights);
    free(preferences->sampled);
    *preferences = (struct preferences){0};
}
