/* The options of a sweep, checked before any work. */
#include "common/base/number.h"
#include "driver/spelling.h"
#include "driver/sweep.h"

#include <stdio.h>
#include <string.h>

/* Parses I/N. */
static int read_shard(struct sweep *sweep, const char *text, struct error *err) {
    const char *end = text + strlen(text), *slash = strchr(text, '/');
    uint64_t number = 0, n = 0;
    if (!slash || number_parse_unsigned(text, slash, &number) != slash ||
        number_parse_unsigned(slash + 1, end, &n) != end || number < 1 || number > n ||
        n > UINT32_MAX) {
        return error_set(err, ERROR_USAGE,
                         "option --shard: not a part I/N, from 1/N to N/N: '%.100s'", text);
    }
    sweep->shard = (size_t)number - 1;
    sweep->n_shards = (size_t)n;
    return 0;
}

int sweep_create(struct sweep *sweep, const struct family *family, const struct options *options,
                 struct error *err) {
    *sweep = (struct sweep){.n_shards = 1};
    const char *shard = options_text(options, "shard");
    if ((shard && read_shard(sweep, shard, err) < 0) ||
        grid_create(&sweep->grid, family, options, err) < 0 ||
        measures_list(family->measures, options, &sweep->measure, &sweep->n_measures, err) < 0) {
        return -1;
    }
    const char *name = options_text(options, "select");
    for (size_t k = 0; name && k < sweep->n_measures; k++) {
        if (strcmp(sweep->measure[k].name, name) == 0) {
            sweep->selected = k;
            return 0;
        }
    }
    if (!name) {
        return 0;
    }
    char list[512] = "", hint[SPELLING_HINT];
    struct spelling spelling = spelling_of(name, strlen(name));
    for (size_t k = 0; k < sweep->n_measures; k++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", k ? ", " : "", sweep->measure[k].name);
        spelling_add(&spelling, sweep->measure[k].name);
    }
    return error_set(err, ERROR_USAGE, "option --select: must be one of %s: '%s'%s", list, name,
                     spelling_hint(&spelling, "", hint));
}
