/* Groups rows by qid: consecutive rows of a query go to its state of the measures together. */
#include "driver/by_query.h"

#include "common/base/memory.h"
#include "common/base/order.h"
#include "common/data/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct query {
    size_t n_rows;
    double *target; /* (n_targets) if labels are numbers */
    size_t n_targets;
    void *measures; /* state of the family's measures */
};

struct by_query {
    const struct measures *measures;
    const struct options *options;
    const struct model *model;
    bool named;          /* some row has a qid */
    bool numeric_labels; /* labels are numbers */
    struct names names;  /* qids in order of first occurrence */
    struct query *query; /* (names.n) */
};

int by_query_create(struct by_query **queries, const struct measures *measures,
                    const struct options *options, const struct model *model, struct error *err) {
    struct by_query *created = memory_zeros(1, sizeof *created, "queries", err);
    if (!created) {
        return -1;
    }
    created->measures = measures;
    created->options = options;
    created->model = model;
    *queries = created;
    return 0;
}

void by_query_free(struct by_query *queries) {
    if (!queries) {
        return;
    }
    for (size_t q = 0; q < queries->names.n; q++) {
        free(queries->query[q].target);
        if (queries->query[q].measures) {
            queries->measures->free(queries->query[q].measures);
        }
    }
    names_free(&queries->names);
    free(queries->query);
    free(queries);
}

/* Finds the query with this qid, or adds it. */
static struct query *find_query(struct by_query *queries, const char *name, struct error *err) {
    size_t n = queries->names.n;
    uint32_t number;
    if (names_add(&queries->names, name, strlen(name), &number, err) < 0) {
        return NULL;
    }
    if (number == n) {
        if (memory_grow(&queries->query, memory_room(0, n), n + 1, sizeof *queries->query,
                        "queries", err) < 0) {
            names_truncate(&queries->names, n);
            return NULL;
        }
        queries->query[n] = (struct query){0};
    }
    struct query *query = &queries->query[number];
    if (!query->measures &&
        queries->measures->create(&query->measures, queries->options, queries->model, err) < 0) {
        query->measures = NULL;
        return NULL;
    }
    return query;
}

static int add_targets(struct query *query, const double *target, size_t n, struct error *err) {
    size_t wanted = query->n_targets + n;
    if (memory_grow(&query->target, memory_room(0, query->n_targets), wanted, sizeof *query->target,
                    "queries", err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        if (!isnan(target[i])) {
            query->target[query->n_targets++] = target[i];
        }
    }
    return 0;
}

/* Adds rows first..first + n, which belong to one query. */
static int add_run(struct by_query *queries, const struct data *data, size_t first, size_t n,
                   const double *scores, size_t n_scores, struct error *err) {
    char text[DATA_QUERY_TEXT];
    uint64_t qid = data->query ? data->query[first] : 0;
    struct query *query = find_query(queries, data_query_text(&data->queries, qid, text), err);
    if (!query || (data->target && add_targets(query, data->target + first, n, err) < 0)) {
        return -1;
    }
    query->n_rows += n;
    const struct data rows = data_view(data, first, n);
    return queries->measures->add(query->measures, &rows, NULL, n, scores + first * n_scores,
                                  n_scores, err);
}

int by_query_add(struct by_query *queries, const struct data *data, const double *scores,
                 size_t n_scores, struct error *err) {
    queries->named |= data->query != NULL;
    queries->numeric_labels |= data->labels == DATA_NUMBER;
    for (size_t first = 0, end; first < data->n_rows; first = end) {
        for (end = first + 1; end < data->n_rows; end++) {
            if (data->query && data->query[end] != data->query[first]) {
                break;
            }
        }
        if (add_run(queries, data, first, end - first, scores, n_scores, err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The number of pairs with different targets; sorts the targets. */
static double count_pairs(struct query *query) {
    double n = (double)query->n_targets, pairs = n > 1 ? n * (n - 1) / 2 : 0;
    if (query->n_targets > 0) {
        qsort(query->target, query->n_targets, sizeof *query->target, order_double);
    }
    for (size_t first = 0, end; first < query->n_targets; first = end) {
        for (end = first; end < query->n_targets && query->target[end] == query->target[first];) {
            end++;
        }
        double tied = (double)(end - first);
        pairs -= tied * (tied - 1) / 2;
    }
    return pairs;
}

char *by_query_header(enum data_labels labels, const struct measure *list, size_t n,
                      struct error *err) {
    return table_header(labels == DATA_NUMBER ? "file\tquery\trows\tpairs" : "file\tquery\trows",
                        list, n, err);
}

int by_query_write(const struct by_query *queries, const char *path, const struct measure *list,
                   size_t n, const double *file_value, struct output *output, struct error *err) {
    double *value = memory_array(n, sizeof *value, "measures", err);
    int status = value ? 0 : -1;
    for (size_t q = 0; q < queries->names.n && status == 0; q++) {
        struct query *query = &queries->query[q];
        struct measured_rows rows;
        status = measures_of_test(queries->measures, query->measures, list, n, value, &rows, err);
        if (status < 0) {
            break;
        }
        table_name(output, path);
        output_format(output, "\t%s\t%zu", queries->named ? queries->names.name[q] : "",
                      query->n_rows);
        if (queries->numeric_labels) {
            table_number(output, count_pairs(query));
        }
        for (size_t k = 0; k < n; k++) {
            table_number(output, isnan(file_value[k]) ? (double)NAN : value[k]);
        }
        output_format(output, "\n");
    }
    free(value);
    return status < 0 ? -1 : output_flush(output, err);
}
