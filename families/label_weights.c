#include "families/label_weights.h"

int label_weights_read(const struct data *data, const struct option *option, double *weight,
                       struct error *err) {
    for (size_t i = 0; i < data->names.n; i++) {
        weight[i] = 1;
    }
    for (size_t i = 0; i < option->n_weights; i++) {
        const struct option_weight *given = &option->weights[i];
        uint32_t label = names_find(&data->names, given->key, given->key_length);
        if (label == UINT32_MAX) {
            return error_set(err, ERROR_RUNTIME, "option --weight: no row has the label '%.*s'",
                             (int)given->key_length, given->key);
        }
        weight[label] = given->weight;
    }
    return 0;
}
