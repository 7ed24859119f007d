/* Reading of distributed rows: each process reads its part, then all agree on width, form and
 * numbers of names. */
#include "common/data/distribute.h"

#include "common/base/memory.h"
#include "common/base/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Files of parts ------------------------------------------------------------------------- */

static const char PART[] = "%d";

bool distribute_has_parts(const char *path) {
    const char *first = strstr(path, PART);
    return first && !strstr(first + 1, PART);
}

char *distribute_part_path(const char *path, size_t number, struct error *err) {
    enum { DIGITS = 24 };
    const char *at = strstr(path, PART);
    size_t size = strlen(path) + DIGITS;
    char *made = memory_array(size, 1, "a file name", err);
    if (made) {
        snprintf(made, size, "%.*s%zu%s", (int)(at - path), path, number, at + strlen(PART));
    }
    return made;
}

/* Fails if there are more files than processes. */
static int check_last(const char *path, size_t n, struct error *err) {
    char *next = distribute_part_path(path, n, err);
    if (!next) {
        return -1;
    }
    int status = access(next, F_OK) != 0
                     ? 0
                     : error_set(err, ERROR_RUNTIME,
                                 "%s: there is %s too: as many ranks as parts are wanted, not %zu",
                                 path, next, n);
    free(next);
    return status;
}

static int read_own(struct data *data, const char *path, const struct input_format *format,
                    struct input_share *share, struct threads *threads, struct input_found *found,
                    struct error *err) {
    size_t n = cluster_size(share->cluster);
    share->whole = true;
    if (cluster_agree(share->cluster, check_last(path, n, err), err) < 0) {
        return -1;
    }
    char *own = distribute_part_path(path, cluster_rank(share->cluster), err);
    if (!own) {
        return -1;
    }
    int status = input_read_part(data, own, format, share, threads, found, err);
    free(own);
    return status;
}

/* ---- Agreement on the shape ---------------------------------------------------------------- */

struct summary {
    uint64_t bytes, n_lines, n_rows;
    uint32_t n_features;
    bool dense, has_query;
    char comment[DATA_COMMENT];
};

/* *all = the summaries of all processes; the caller frees it. */
static int summarize(struct summary **all, const struct data *data, const struct input_found *found,
                     struct cluster *cluster, struct error *err) {
    struct summary own = {.bytes = found->bytes,
                          .n_lines = found->n_lines,
                          .n_rows = data->n_rows,
                          .n_features = data->n_features,
                          .dense = !data->row_start,
                          .has_query = data->query != NULL};
    size_t *start = memory_array(cluster_size(cluster) + 1, sizeof *start, "ranks", err);
    char *gathered = NULL;
    memcpy(own.comment, data->comment, sizeof own.comment);
    int status = start ? cluster_allgather(cluster, &own, sizeof own, &gathered, start, err) : -1;
    free(start);
    *all = (void *)gathered; /* aligned for all types */
    return status;
}

/* Allocates the arrays of a process without rows, of length 0. */
static int make_empty(struct data *data, struct error *err) {
    free(data->value);
    free(data->target);
    free(data->label);
    free(data->label_start);
    data->value = memory_array(0, sizeof *data->value, "rows", err);
    int status = data_make_labels(data, data->labels, err);
    return data->value ? status : -1;
}

/* Gives the rows of this process the shape of all rows. */
static int join(struct data *data, const struct summary *all, size_t n, struct error *err) {
    uint32_t width = 0;
    bool dense = true, query = false;
    const struct summary *first = NULL;
    for (size_t r = 0; r < n; r++) {
        first = !first && all[r].n_lines > 0 ? &all[r] : first;
        width = width > all[r].n_features ? width : all[r].n_features;
        query |= all[r].has_query;
    }
    for (size_t r = 0; r < n; r++) {
        dense = dense && (all[r].n_rows == 0 || (all[r].dense && all[r].n_features == width));
    }
    if (first) {
        memcpy(data->comment, first->comment, sizeof data->comment);
    }
    if (data->n_rows == 0 && make_empty(data, err) < 0) {
        return -1;
    }
    if (!dense && !data->row_start && data_make_sparse(data, err) < 0) {
        return -1;
    }
    data->n_features = width;
    if (query && !data->query) {
        data->query = memory_zeros(data->n_rows, sizeof *data->query, "queries", err);
        return data->query ? 0 : -1;
    }
    return 0;
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* Concatenates the names, each with its NUL. The caller frees *text. */
static int write_names(const struct names *names, char **text, size_t *length, struct error *err) {
    *length = 0;
    for (size_t i = 0; i < names->n; i++) {
        *length += strlen(names->name[i]) + 1;
    }
    char *at = *text = memory_array(*length, 1, "names", err);
    for (size_t i = 0; at && i < names->n; i++) {
        size_t size = strlen(names->name[i]) + 1;
        memcpy(at, names->name[i], size);
        at += size;
    }
    return *text ? 0 : -1;
}

/* Merges the names of all processes, in the order in which one process would have read them. *map
 * gets the new numbers of the old names; the caller frees it. */
static int merge_names(struct names *names, uint32_t **map, struct cluster *cluster,
                       struct error *err) {
    struct names merged = {0};
    char *own = NULL, *all = NULL;
    size_t length, *start = memory_array(cluster_size(cluster) + 1, sizeof *start, "ranks", err);
    uint32_t number;
    int status = start ? write_names(names, &own, &length, err) : -1;
    status = status < 0 ? -1 : cluster_allgather(cluster, own, length, &all, start, err);
    const char *end = status == 0 ? all + start[cluster_size(cluster)] : NULL;
    for (const char *at = all; status == 0 && at < end; at += strlen(at) + 1) {
        status = names_add(&merged, at, strlen(at), &number, err);
    }
    *map = status == 0 ? memory_array(names->n, sizeof **map, "names", err) : NULL;
    for (size_t i = 0; *map && i < names->n; i++) {
        (*map)[i] = names_find(&merged, names->name[i], strlen(names->name[i]));
    }
    free(start);
    free(own);
    free(all);
    names_free(*map ? names : &merged);
    if (*map) {
        *names = merged;
    }
    return *map ? 0 : -1;
}

static int number_labels(struct data *data, struct cluster *cluster, struct error *err) {
    uint32_t *map;
    if (data->labels == DATA_NUMBER) {
        return 0;
    }
    if (merge_names(&data->names, &map, cluster, err) < 0) {
        return -1;
    }
    size_t n = data->labels == DATA_SET ? (size_t)data->label_start[data->n_rows] : data->n_rows;
    for (size_t i = 0; i < n; i++) {
        data->label[i] = data->label[i] == UINT32_MAX ? UINT32_MAX : map[data->label[i]];
    }
    free(map);
    return 0;
}

static int number_queries(struct data *data, struct cluster *cluster, struct error *err) {
    uint32_t *map;
    if (merge_names(&data->queries, &map, cluster, err) < 0) {
        return -1;
    }
    for (size_t i = 0; data->query && i < data->n_rows; i++) {
        uint64_t *query = &data->query[i];
        *query =
            *query < DATA_QUERY_NAME ? *query : DATA_QUERY_NAME + map[*query - DATA_QUERY_NAME];
    }
    free(map);
    return 0;
}

/* ---- Consecutive rows of queries ------------------------------------------------------------ */

/* *list (*n) = the query of each run of consecutive rows, sorted; the caller frees it. */
static int list_runs(const struct data *data, uint64_t **list, size_t *n, struct error *err) {
    *n = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        size_t runs = 0;
        for (size_t i = 0; i < data->n_rows; i++) {
            uint64_t query = data->query ? data->query[i] : 0;
            if (i > 0 && (!data->query || query == data->query[i - 1])) {
                continue;
            }
            if (pass > 0) {
                (*list)[runs] = query;
            }
            runs++;
        }
        if (pass == 0 && !(*list = memory_array(runs, sizeof **list, "queries", err))) {
            return -1;
        }
        *n = runs;
    }
    if (*n > 0) {
        qsort(*list, *n, sizeof **list, order_uint64);
    }
    return 0;
}

static int refuse(const struct data *data, const char *path, uint64_t query, struct error *err) {
    char text[DATA_QUERY_TEXT];
    return error_set(err, ERROR_RUNTIME,
                     "%s: query %.100s is in two places of the file: rows of a query must stand "
                     "together for a fit over ranks",
                     path, data_query_text(&data->queries, query, text));
}

/* Compares own[0..n) with the queries of processes of lower rank, in pieces. *twice becomes true if
 * a query is on two processes. */
static int compare_runs(const uint64_t *own, size_t n, struct cluster *cluster, bool *twice,
                        uint64_t *query, struct error *err) {
    enum { PIECE = 1 << 17 };
    uint64_t *theirs = memory_array(PIECE, sizeof *theirs, "queries", err);
    if (!theirs) {
        return -1;
    }
    for (size_t r = 0; r + 1 < cluster_size(cluster); r++) {
        size_t total = n, at = 0;
        cluster_broadcast(cluster, &total, sizeof total, r);
        for (size_t first = 0; first < total; first += PIECE) {
            size_t part = total - first < PIECE ? total - first : PIECE;
            if (cluster_rank(cluster) == r) {
                memcpy(theirs, own + first, part * sizeof *own);
            }
            cluster_broadcast(cluster, theirs, part * sizeof *theirs, r);
            for (size_t k = 0; cluster_rank(cluster) > r && !*twice && k < part; k++) {
                while (at < n && own[at] < theirs[k]) {
                    at++;
                }
                *twice = at < n && own[at] == theirs[k];
                *query = theirs[k];
            }
        }
    }
    free(theirs);
    return 0;
}

static int check_queries(const struct data *data, const char *path, struct cluster *cluster,
                         struct error *err) {
    uint64_t *own = NULL, query = 0;
    size_t n;
    bool twice = false;
    if (list_runs(data, &own, &n, err) < 0) {
        return -1;
    }
    for (size_t k = 1; k < n && !twice; k++) {
        twice = own[k] == own[k - 1];
        query = own[k];
    }
    int status = compare_runs(own, n, cluster, &twice, &query, err);
    free(own);
    if (status < 0) {
        return -1;
    }
    return cluster_agree(cluster, twice ? refuse(data, path, query, err) : 0, err);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static int unite(struct data *data, struct distributed_rows *rows, const struct input_found *found,
                 const char *path, const struct input_share *share, struct error *err) {
    struct cluster *cluster = share->cluster;
    size_t n = cluster_size(cluster);
    struct summary *all;
    bool changed = false, with = false, without = false; /* some rows have qids; have none */
    *rows = (struct distributed_rows){0};
    if (summarize(&all, data, found, cluster, err) < 0) {
        return -1;
    }
    for (size_t r = 0; r < n; r++) {
        rows->first += r < cluster_rank(cluster) ? (size_t)all[r].n_rows : 0;
        rows->n += (size_t)all[r].n_rows;
        changed |= all[r].bytes != all[0].bytes;
        with |= all[r].has_query;
        without |= all[r].n_rows > 0 && !all[r].has_query;
    }
    int status = 0;
    if (changed && !share->whole) {
        status = error_set(err, ERROR_RUNTIME, "%s: ranks see files of different lengths", path);
    } else if (rows->n == 0) {
        status = error_set(err, ERROR_RUNTIME, "%s: no rows", path);
    } else if (data->labels == DATA_NUMBER && with && without) {
        status = error_set(err, ERROR_RUNTIME, "%s: some rows have a qid, others none", path);
    } else {
        status = join(data, all, n, err);
    }
    free(all);
    if (status < 0 || number_labels(data, cluster, err) < 0 ||
        number_queries(data, cluster, err) < 0) {
        return -1;
    }
    return share->queries ? check_queries(data, path, cluster, err) : 0;
}

int distribute_read(struct data *data, struct distributed_rows *rows, const char *path,
                    const struct input_format *format, bool queries, struct cluster *cluster,
                    struct threads *threads, struct error *err) {
    struct input_share share = {.cluster = cluster, .queries = queries};
    struct input_found found;
    int status = distribute_has_parts(path)
                     ? read_own(data, path, format, &share, threads, &found, err)
                     : input_read_part(data, path, format, &share, threads, &found, err);
    if (status < 0) {
        *data = (struct data){0};
        return -1;
    }
    if (unite(data, rows, &found, path, &share, err) < 0) {
        data_free(data);
        return -1;
    }
    return 0;
}

/* ---- The form of the rows ------------------------------------------------------------------- */

/* Merges other[0..n_other) into *at (*n); both ascend, and each column is kept once. */
static int add_columns(uint32_t **at, size_t *n, const uint32_t *other, size_t n_other,
                       struct error *err) {
    uint32_t *both = memory_array(*n + n_other, sizeof *both, "indices", err);
    if (!both) {
        return -1;
    }
    size_t i = 0, k = 0, m = 0;
    while (i < *n || k < n_other) {
        uint64_t a = i < *n ? (*at)[i] : UINT64_MAX, b = k < n_other ? other[k] : UINT64_MAX;
        both[m++] = (uint32_t)(a < b ? a : b);
        i += a <= b;
        k += b <= a;
    }
    free(*at);
    *at = both;
    *n = m;
    return 0;
}

/* *at (*n) = the columns that occur on any process, or more than max_columns of them; the caller
 * frees it. */
static int list_columns(const struct data *data, size_t max_columns, struct cluster *cluster,
                        uint32_t **at, size_t *n, struct error *err) {
    const struct indices_part part = {data->column, data_values(data)};
    struct indices own;
    *n = 0;
    *at = NULL;
    if (indices_list(&own, &part, 1, err) < 0) {
        return -1;
    }
    int status = 0;
    for (size_t r = 0; status == 0 && *n <= max_columns && r < cluster_size(cluster); r++) {
        size_t n_theirs = own.n;
        bool mine = cluster_rank(cluster) == r;
        cluster_broadcast(cluster, &n_theirs, sizeof n_theirs, r);
        uint32_t *theirs = mine ? own.at : memory_array(n_theirs, sizeof *theirs, "indices", err);
        if (!theirs) {
            status = -1;
            break;
        }
        cluster_broadcast(cluster, theirs, n_theirs * sizeof *theirs, r);
        status = add_columns(at, n, theirs, n_theirs, err);
        if (!mine) {
            free(theirs);
        }
    }
    indices_free(&own);
    return status;
}

static int compact_all(struct data *data, struct cluster *cluster, struct error *err) {
    uint32_t half = data->n_features / 2, *at;
    struct indices indices;
    size_t n;
    if (!data->row_start || data->indices.at || data->n_features < INDICES_WORTH) {
        return 0;
    }
    if (list_columns(data, half, cluster, &at, &n, err) < 0) {
        free(at);
        return -1;
    }
    if (n >= half) {
        free(at);
        return 0;
    }
    if (indices_take(&indices, at, n, err) < 0) {
        return -1;
    }
    int status = data_select(data, &indices, err);
    indices_free(&indices);
    return status;
}

int distribute_hold(struct data *data, uint32_t width, bool compact, struct cluster *cluster,
                    struct error *err) {
    if (compact && compact_all(data, cluster, err) < 0) {
        return -1;
    }
    double total[2] = {(double)data->n_rows, (double)data_values(data)};
    cluster_sum(cluster, total, 2);
    width = width > data->n_features ? width : data->n_features;
    if (data->row_start && !data_fills((size_t)total[0], width, (size_t)total[1])) {
        data->n_features = width;
        return 0;
    }
    return data_make_dense(data, width, true, err);
}
