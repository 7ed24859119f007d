/* Thresholds as options, as lines of a model, and applied to scores (threshold.h). */
#include "families/ml/frontend/threshold.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"ew", "global", "scut", "top", "zero", NULL};

void ml_threshold_free(struct ml_threshold *threshold) {
    free(threshold->value);
    threshold->value = NULL;
}

size_t ml_threshold_count(const struct ml_threshold *threshold) {
    switch (threshold->kind) {
    case ML_EW:
        return (size_t)threshold->q + 1;
    case ML_GLOBAL:
        return 1;
    case ML_SCUT:
        return threshold->q;
    default:
        return 0;
    }
}

static bool parse_count(const char *text, uint32_t *count) {
    uint64_t value;
    const char *end = text + strlen(text);
    if (number_parse_unsigned(text, end, &value) != end || value < 1 || value > UINT32_MAX) {
        return false;
    }
    *count = (uint32_t)value;
    return true;
}

int ml_threshold_parse(struct ml_threshold *threshold, const char *text, struct error *err) {
    *threshold = (struct ml_threshold){0};
    for (size_t kind = 0; names[kind]; kind++) {
        size_t length = strlen(names[kind]);
        if (strncmp(text, names[kind], length) != 0) {
            continue;
        }
        threshold->kind = (enum ml_threshold_kind)kind;
        if (kind == ML_TOP ? text[length] == ':' && parse_count(text + length + 1, &threshold->top)
                           : text[length] == '\0') {
            return 0;
        }
    }
    return error_set(err, ERROR_USAGE,
                     "option --threshold: must be ew, global, scut, top:K or zero: '%s'", text);
}

/* ---- the model's lines ---- */

int ml_numbers_write(const char *key, const char *word, const double *number, size_t n,
                     struct model *model, struct error *err) {
    struct text line = {0};
    text_take(&line, word, strlen(word));
    for (size_t k = 0; k < n; k++) {
        char decimal[NUMBER_LENGTH];
        text_take(&line, " ", *word || k > 0);
        text_take(&line, decimal, number_format(number[k], decimal));
    }
    char *bytes = text_end(&line, "a model line", err);
    int status = bytes ? model_add(model, err, key, "%s", bytes) : -1;
    free(bytes);
    return status;
}

int ml_threshold_write(const struct ml_threshold *threshold, struct model *model,
                       struct error *err) {
    const double top = threshold->top;
    bool counts = threshold->kind == ML_TOP;
    int status =
        ml_numbers_write(ML_THRESHOLD_KEY, names[threshold->kind], counts ? &top : threshold->value,
                         counts ? 1 : threshold->n, model, err);
    return status == 0 && threshold->at_least_one ? model_add(model, err, ML_AT_LEAST_ONE_KEY, "1")
                                                  : status;
}

static int read_values(struct ml_threshold *threshold, const char *at, struct error *err) {
    const char *end = at + strlen(at);
    if (threshold->kind == ML_TOP) {
        return *at == ' ' && parse_count(at + 1, &threshold->top) ? 0 : 1;
    }
    threshold->n = ml_threshold_count(threshold);
    threshold->value = memory_array(threshold->n, sizeof(double), "a threshold", err);
    if (!threshold->value) {
        return -1;
    }
    for (size_t k = 0; k < threshold->n; k++) {
        at = *at == ' ' ? number_parse(at + 1, end, &threshold->value[k]) : NULL;
        if (!at || !isfinite(threshold->value[k])) {
            return 1;
        }
    }
    return *at == '\0' ? 0 : 1;
}

int ml_threshold_read(struct ml_threshold *threshold, const struct model *model, uint32_t q,
                      struct error *err) {
    *threshold = (struct ml_threshold){.q = q};
    const char *line = model_value(model, ML_THRESHOLD_KEY);
    const char *at_least_one = model_value(model, ML_AT_LEAST_ONE_KEY);
    threshold->at_least_one = at_least_one != NULL;
    int status = 1;
    for (size_t kind = 0; line && names[kind]; kind++) {
        size_t length = strlen(names[kind]);
        if (strncmp(line, names[kind], length) == 0 &&
            (line[length] == ' ' || line[length] == '\0')) {
            threshold->kind = (enum ml_threshold_kind)kind;
            status = read_values(threshold, line + length, err);
        }
    }
    if (status == 0 && (!at_least_one || strcmp(at_least_one, "1") == 0)) {
        return 0;
    }
    ml_threshold_free(threshold);
    return status < 0 ? -1
                      : error_set(err, ERROR_RUNTIME, "the model's threshold is not one: '%.100s'",
                                  line ? line : "");
}

/* ---- label sets ---- */

static uint32_t choose_above(const struct ml_threshold *threshold, const double *s, bool *chosen) {
    uint32_t q = threshold->q, n = 0;
    const double *value = threshold->value;
    double level = 0;
    if (threshold->kind == ML_EW) {
        level = value[q] + array_dot(value, s, q);
    } else if (threshold->kind == ML_GLOBAL) {
        level = value[0];
    }
    for (uint32_t k = 0; k < q; k++) {
        chosen[k] = s[k] > (threshold->kind == ML_SCUT ? value[k] : level);
        n += chosen[k];
    }
    return n;
}

/* Chooses the label of the largest score that is not chosen yet, the first of equals. */
static void choose_largest(const double *s, uint32_t q, bool *chosen) {
    uint32_t best = q;
    for (uint32_t k = 0; k < q; k++) {
        if (!chosen[k] && (best == q || s[k] > s[best])) {
            best = k;
        }
    }
    chosen[best] = true;
}

uint32_t ml_threshold_apply(const struct ml_threshold *threshold, const double *s, bool *chosen) {
    uint32_t q = threshold->q;
    if (threshold->kind == ML_TOP) {
        uint32_t n = threshold->top < q ? threshold->top : q;
        memset(chosen, 0, q * sizeof *chosen);
        for (uint32_t k = 0; k < n; k++) {
            choose_largest(s, q, chosen);
        }
        return n;
    }
    uint32_t n = choose_above(threshold, s, chosen);
    if (n == 0 && threshold->at_least_one) {
        choose_largest(s, q, chosen);
        n = 1;
    }
    return n;
}
