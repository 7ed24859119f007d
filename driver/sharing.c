#include "driver/sharing.h"

/* Bytes of a row, and of each of its values, with what solvers keep beside them. */
static const double ROW_BYTES = 64, VALUE_BYTES = 16;

static struct family_size size_of(const struct training_data *read, size_t cache_bytes,
                                  struct cluster *cluster) {
    const struct data *data = &read->data;
    double total[2] = {(double)data->n_rows, (double)data_values(data)};
    cluster_sum(read->spread, total, 2);
    return (struct family_size){.rows = total[0],
                                .values = total[1],
                                .features = data->n_features,
                                .labels = (double)data->names.n,
                                .ranks = (double)cluster_size(cluster),
                                .room = ROW_BYTES * total[0] + VALUE_BYTES * total[1] <=
                                        (double)cache_bytes};
}

int sharing_settle(struct training_data *read, const struct family *family, struct point point,
                   size_t cache_bytes, struct cluster *cluster, enum family_share *share,
                   struct error *err) {
    struct family_size size = size_of(read, cache_bytes, cluster);
    *share = family->share ? family->share(point, &size) : FAMILY_APART;
    if (read->spread) {
        return *share == FAMILY_APART ? 0 : training_data_gather(read, err);
    }
    *share = *share == FAMILY_STARTS ? FAMILY_STARTS : FAMILY_ALONE;
    return 0;
}
