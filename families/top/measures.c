#include "families/top/measures.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "families/top/labels.h"
#include "families/top/roc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options of both programs. */
static const struct option_spec measure_options[] = {
    {.name = "tpr",
     .kind = OPTION_NUMBER,
     .level = OPTION_LIST,
     .value = "X,...",
     .initial = "1,0.01,0.05,0.1",
     .high = 1e15,
     .low_excluded = true,
     .help = "tpr@X: the share of positives strictly above a threshold: for X >= 1 the mean of the "
             "X largest negatives, for X < 1 the one that lets no more than the share X of "
             "negatives pass"},
    {.name = "pauc",
     .kind = OPTION_NUMBER,
     .level = OPTION_LIST,
     .value = "F,...",
     .initial = "0.1",
     .high = 1,
     .low_excluded = true,
     .help = "pauc@F: the area under the ROC curve up to a false positive rate of F, over F; and "
             "mcclish@F, the same scaled so that 0.5 is chance"},
    {.name = "precision",
     .kind = OPTION_COUNT,
     .level = OPTION_LIST,
     .value = "K,...",
     .initial = "10",
     .low = 1,
     .high = 1e15,
     .help = "precision@K: the share of positives among the K highest"}};

enum type { TPR, AUC, PAUC, MCCLISH, PRECISION, POS_AT_TOP, AVERAGE_PRECISION, TYPES };

static const char *const type_names[] = {
    "tpr", "auc", "pauc", "mcclish", "precision", "pos@top", "average-precision"};

struct wanted {
    enum type type;
    double at; /* what stands behind @ */
};

/* A measure by its name; false: there is none of that name. */
static bool parse_name(const char *name, struct wanted *wanted) {
    for (enum type type = TPR; type < TYPES; type++) {
        size_t length = strlen(type_names[type]);
        if (strncmp(name, type_names[type], length) != 0) {
            continue;
        }
        bool plain = type == AUC || type == POS_AT_TOP || type == AVERAGE_PRECISION;
        double at = 0;
        if (plain ? name[length] != 0
                  : name[length] != '@' || !number_parse_whole(name + length + 1, &at) ||
                        !(at > 0) || ((type == PAUC || type == MCCLISH) && at > 1) ||
                        ((at >= 1 || type == PRECISION) && type != PAUC && type != MCCLISH &&
                         at != floor(at))) {
            continue;
        }
        *wanted = (struct wanted){type, at};
        return true;
    }
    return false;
}

/* The measures that the options ask for; --select names one more, perhaps. */
static int list_wanted(const struct options *options, struct wanted **wanted, size_t *n,
                       struct error *err) {
    const struct option *tpr = options_find(options, "tpr");
    const struct option *pauc = options_find(options, "pauc");
    const struct option *precision = options_find(options, "precision");
    const char *select = options_given(options, "select") ? options_text(options, "select") : NULL;
    size_t most = tpr->n + 2 * pauc->n + precision->n + 4, k = 0;
    struct wanted *list = memory_array(most, sizeof *list, "measures", err);
    if (!list) {
        return -1;
    }
    for (size_t i = 0; i < tpr->n; i++) {
        if (tpr->number[i] >= 1 && tpr->number[i] != floor(tpr->number[i])) {
            free(list);
            return error_set(err, ERROR_USAGE, "option --tpr: %g is not whole, nor below 1",
                             tpr->number[i]);
        }
        list[k++] = (struct wanted){TPR, tpr->number[i]};
    }
    list[k++] = (struct wanted){AUC, 0};
    for (size_t i = 0; i < pauc->n; i++) {
        list[k++] = (struct wanted){PAUC, pauc->number[i]};
        list[k++] = (struct wanted){MCCLISH, pauc->number[i]};
    }
    for (size_t i = 0; i < precision->n; i++) {
        list[k++] = (struct wanted){PRECISION, precision->number[i]};
    }
    list[k++] = (struct wanted){POS_AT_TOP, 0};
    list[k++] = (struct wanted){AVERAGE_PRECISION, 0};
    struct wanted selected;
    if (select && parse_name(select, &selected)) {
        bool there = false;
        for (size_t i = 0; i < k; i++) {
            there |= list[i].type == selected.type && list[i].at == selected.at;
        }
        if (!there) {
            list[k++] = selected;
        }
    }
    *wanted = list;
    *n = k;
    return 0;
}

static int list(const struct options *options, struct measure **measures, size_t *n,
                struct error *err) {
    struct wanted *wanted;
    if (list_wanted(options, &wanted, n, err) < 0) {
        return -1;
    }
    *measures = memory_zeros(*n, sizeof **measures, "measures", err);
    const char *select = options_given(options, "select") ? options_text(options, "select") : NULL;
    for (size_t i = 0; *measures && i < *n; i++) {
        char *name = (*measures)[i].name;
        enum type type = wanted[i].type;
        if (type == AUC || type == POS_AT_TOP || type == AVERAGE_PRECISION) {
            snprintf(name, MEASURE_NAME, "%s", type_names[type]);
            continue;
        }
        char at[NUMBER_LENGTH];
        number_format(wanted[i].at, at);
        snprintf(name, MEASURE_NAME, "%s@%.20s", type_names[type], at);
        /* as --select spells it */
        struct wanted selected;
        if (select && parse_name(select, &selected) && selected.type == type &&
            selected.at == wanted[i].at) {
            snprintf(name, MEASURE_NAME, "%s", select);
        }
    }
    free(wanted);
    return *measures ? 0 : -1;
}

/* ---- rows ---- */

/* Takes in the names of the data: the class of each. */
static int read_classes(struct top_rows *rows, const struct names *names, struct error *err) {
    if (memory_grow(&rows->class, memory_room(0, rows->n_classes), names->n, sizeof *rows->class,
                    "measures", err) < 0) {
        return -1;
    }
    for (; rows->n_classes < names->n; rows->n_classes++) {
        rows->class[rows->n_classes] =
            top_labels_class(names->name[rows->n_classes], rows->positive);
    }
    return 0;
}

int top_rows_add(struct top_rows *rows, const struct data *data, const uint32_t *row, size_t n,
                 const double *scores, struct error *err) {
    size_t room = rows->room, wanted = rows->n + n;
    if (read_classes(rows, &data->names, err) < 0 ||
        memory_grow(&rows->score, room, wanted, sizeof *rows->score, "measures", err) < 0 ||
        memory_grow(&rows->is_positive, room, wanted, sizeof *rows->is_positive, "measures", err) <
            0) {
        return -1;
    }
    rows->room = memory_room(room, wanted);
    for (size_t i = 0; i < n; i++) {
        uint32_t label = data->label[row ? row[i] : i];
        if (label == UINT32_MAX) {
            continue;
        }
        int class = rows->class[label];
        if (class == TOP_UNKNOWN) {
            rows->n_unknown++;
        } else {
            rows->score[rows->n] = scores[i];
            rows->is_positive[rows->n++] = class == TOP_POSITIVE;
        }
    }
    return 0;
}

void top_rows_free(struct top_rows *rows) {
    free(rows->score);
    free(rows->is_positive);
    free(rows->class);
    *rows = (struct top_rows){0};
}

/* ---- the table ---- */

struct state {
    struct wanted *wanted;
    size_t n_wanted;
    char *positive; /* owned */
    struct top_rows rows;
};

static void free_state(void *opened) {
    struct state *state = opened;
    free(state->wanted);
    free(state->positive);
    top_rows_free(&state->rows);
    free(state);
}

static int create_state(void **opened, const struct options *options, const struct model *model,
                        struct error *err) {
    struct state *state = memory_zeros(1, sizeof *state, "measures", err);
    if (!state) {
        return -1;
    }
    const char *positive = model_value(model, "positive");
    if (positive) {
        size_t size = strlen(positive) + 1;
        state->positive = memory_array(size, 1, "a label", err);
        if (!state->positive) {
            free_state(state);
            return -1;
        }
        memcpy(state->positive, positive, size);
    }
    state->rows.positive = state->positive;
    if (list_wanted(options, &state->wanted, &state->n_wanted, err) < 0) {
        free_state(state);
        return -1;
    }
    *opened = state;
    return 0;
}

static int add(void *opened, const struct data *data, const uint32_t *rows, size_t n,
               const double *scores, size_t n_scores, struct error *err) {
    struct state *state = opened;
    (void)n_scores; /* one */
    return top_rows_add(&state->rows, data, rows, n, scores, err);
}

static double measure(const struct roc *roc, const struct wanted *wanted) {
    switch (wanted->type) {
    case TPR:
        return wanted->at >= 1 ? roc_tpr_at_count(roc, (size_t)wanted->at)
                               : roc_tpr_at_rate(roc, wanted->at);
    case AUC:
        return roc_auc(roc);
    case PAUC:
        return roc_partial_auc(roc, wanted->at);
    case MCCLISH:
        return roc_mcclish(roc, wanted->at);
    case PRECISION:
        return roc_precision(roc, (size_t)wanted->at);
    case POS_AT_TOP:
        return roc_positives_at_top(roc);
    case AVERAGE_PRECISION:
        return roc_average_precision(roc);
    case TYPES:
        break;
    }
    return (double)NAN;
}

static int values(void *opened, double *value, double *weight, struct error *err) {
    const struct state *state = opened;
    struct roc roc;
    if (roc_create(&roc, state->rows.score, state->rows.is_positive, state->rows.n, err) < 0) {
        return -1;
    }
    bool both = roc.n_positive > 0 && roc.n_negative > 0;
    for (size_t i = 0; i < state->n_wanted; i++) {
        value[i] = both ? measure(&roc, &state->wanted[i]) : (double)NAN;
        weight[i] = isnan(value[i]) ? 0 : 1;
    }
    roc_free(&roc);
    return 0;
}

static struct measured_rows rows(const void *opened) {
    const struct top_rows *rows = &((const struct state *)opened)->rows;
    return (struct measured_rows){
        .labelled = rows->n + rows->n_unknown, .unknown = rows->n_unknown, .known = rows->n};
}

const struct measures top_measures = {.options = measure_options,
                                      .n_options =
                                          sizeof measure_options / sizeof measure_options[0],
                                      .list = list,
                                      .create = create_state,
                                      .add = add,
                                      .values = values,
                                      .rows = rows,
                                      .free = free_state};
