#include "families/top/labels.h"

#include "common/data/decimal.h"

#include <string.h>

int top_labels_class(const char *name, const char *positive) {
    struct decimal number;
    if (positive) {
        return names_equal(name, positive) ? TOP_POSITIVE : TOP_NEGATIVE;
    }
    if (!decimal_read(&number, name, strlen(name))) {
        return TOP_UNKNOWN;
    }
    return decimal_is_positive(&number) ? TOP_POSITIVE : TOP_NEGATIVE;
}

int top_labels_check(const struct data *data, const char *positive, struct error *err) {
    bool found = false;
    for (size_t i = 0; i < data->names.n; i++) {
        const char *name = data->names.name[i];
        int class = top_labels_class(name, positive);
        if (class == TOP_UNKNOWN) {
            return error_set(err, ERROR_RUNTIME,
                             "label '%s' is not a number: say by --positive which one is positive",
                             name);
        }
        found |= class == TOP_POSITIVE;
    }
    return positive && !found
               ? error_set(err, ERROR_USAGE,
                           "option --positive: no training row has the label '%s'", positive)
               : 0;
}

void top_labels_read(const struct data *data, const char *positive, bool *is_positive) {
    for (size_t i = 0; i < data->names.n; i++) {
        is_positive[i] = top_labels_class(data->names.name[i], positive) == TOP_POSITIVE;
    }
}

const char *top_labels_name(const struct data *data, const char *positive, bool of_positive) {
    const char *name = NULL;
    for (size_t i = 0; i < data->names.n; i++) {
        if ((top_labels_class(data->names.name[i], positive) == TOP_POSITIVE) != of_positive) {
            continue;
        }
        if (name) {
            return of_positive ? "+1" : positive ? "rest" : "-1";
        }
        name = data->names.name[i];
    }
    return name ? name : of_positive ? "+1" : "-1";
}
