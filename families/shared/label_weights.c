/* Parsing and look-up of LABEL:W (label_weights.h). */
#include "families/shared/label_weights.h"

int label_weights_check(const struct options *options, const struct data *data, struct error *err) {
    const struct option *option = options_find(options, "weight");
    for (size_t i = 0; i < option->n_weights; i++) {
        const struct option_weight *given = &option->weights[i];
        if (names_find(&data->names, given->key, given->key_length) == UINT32_MAX) {
            return error_set(err, ERROR_USAGE,
                             "option --weight: no training row has the label '%.*s'",
                             (int)given->key_length, given->key);
        }
    }
    return 0;
}

void label_weights_read(const struct options *options, const struct data *data, double *weight) {
    const struct option *option = options_find(options, "weight");
    for (size_t i = 0; i < data->names.n; i++) {
        weight[i] = 1;
    }
    for (size_t i = 0; i < option->n_weights; i++) {
        const struct option_weight *given = &option->weights[i];
        uint32_t label = names_find(&data->names, given->key, given->key_length);
        if (label != UINT32_MAX) {
            weight[label] = given->weight;
        }
    }
}

void label_weights_prove(const struct options *options, struct proof_writer *proof) {
    const struct option *option = options_find(options, "weight");
    for (size_t i = 0; i < option->n_weights; i++) {
        const struct option_weight *given = &option->weights[i];
        proof_writer_pair(proof, "weight", given->key, given->key_length, given->weight);
    }
}
