/* Prints svmlight text as input reads it, or the error on stderr:
 *   dump FILE number|name|set [optional] [precomputed] [stream] [head] [threads=N] [held|ranks=NAME
 *        [queries]]
 * By default the file is read whole: a line tells how many rows and features are held, and how,
 * the rows follow but for `head`. With `stream` the rows come block by block. With `held` rows are
 * made compact or dense, and the names and the first comment are told too; with `ranks` the same of
 * the rows of rank r, in the file NAME.r, but for those lines, which are rank 0's alone. */
#include "common/base/number.h"
#include "common/data/distribute.h"
#include "common/data/input.h"
#include "common/distributed/cluster.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void dump_rows(const struct data *data) {
    for (size_t i = 0; i < data->n_rows; i++) {
        char text[NUMBER_LENGTH];
        switch (data->labels) {
        case DATA_NUMBER:
            if (isnan(data->target[i])) {
                printf("none");
            } else {
                number_format(data->target[i], text);
                printf("%s", text);
            }
            break;
        case DATA_NAME:
            printf("%s", data->label[i] == UINT32_MAX ? "none" : data->names.name[data->label[i]]);
            break;
        case DATA_SET:
            printf("{");
            for (uint64_t k = data->label_start[i]; k < data->label_start[i + 1]; k++) {
                printf("%s%s", k > data->label_start[i] ? "," : "",
                       data->names.name[data->label[k]]);
            }
            printf("}");
            break;
        }
        if (data->query) {
            char number[DATA_QUERY_TEXT];
            printf(" qid:%s", data_query_text(&data->queries, data->query[i], number));
        }
        if (data->serial) {
            printf(" 0:%" PRIu64, data->serial[i]);
        }
        uint64_t first = data->row_start ? data->row_start[i] : (uint64_t)i * data->n_features;
        uint64_t last = data->row_start ? data->row_start[i + 1] : first + data->n_features;
        for (uint64_t k = first; k < last; k++) {
            number_format_float(data->value[k], text);
            printf(" %" PRIu64 ":%s",
                   data_index(data, data->row_start ? data->column[k] : k - first) + UINT64_C(1),
                   text);
        }
        putchar('\n');
    }
}

static void dump_head(const struct data *data) {
    printf("%zu rows, %" PRIu32 " features, %s\n", data->n_rows, data->n_features,
           data->row_start ? "sparse" : "dense");
}

static void dump_names(const char *what, const struct names *names) {
    printf("%s:", what);
    for (size_t i = 0; i < names->n; i++) {
        printf(" %s", names->name[i]);
    }
    putchar('\n');
}

static void dump_held(const struct data *data, size_t n_rows, bool head) {
    if (head) {
        printf("%zu rows, %" PRIu32 " features up to %" PRIu32 ", %s\n%s\n", n_rows,
               data->n_features, data_largest(data), data->row_start ? "sparse" : "dense",
               data->comment);
        dump_names("labels", &data->names);
        dump_names("queries", &data->queries);
    }
    dump_rows(data);
}

static int dump_alone(const char *path, const struct input_format *format, struct error *err) {
    struct data data;
    if (input_read(&data, path, format, NULL, err) < 0) {
        return -1;
    }
    int status = data_compact(&data, err);
    status = status < 0 ? -1 : data_make_dense(&data, 0, false, err);
    if (status == 0) {
        dump_held(&data, data.n_rows, true);
    }
    data_free(&data);
    return status;
}

static void tell(void *context, const struct error *err) {
    (void)context;
    fprintf(stderr, "%s\n", err->text);
}

/* Process 0 prints errors, and all end in the same way. */
static int dump_ranks(const char *path, const struct input_format *format, bool queries,
                      const char *name, struct error *err) {
    struct cluster *cluster;
    struct distributed_rows rows;
    struct data data = {0};
    char own[4096];
    if (cluster_open(&cluster, tell, NULL, err) < 0) {
        return -1;
    }
    int status = distribute_read(&data, &rows, path, format, queries, cluster, NULL, err);
    status = status < 0 ? -1 : distribute_hold(&data, 0, true, cluster, err);
    snprintf(own, sizeof own, "%s.%zu", name, cluster_rank(cluster));
    if (status == 0 && freopen(own, "w", stdout)) {
        dump_held(&data, rows.n, cluster_is_root(cluster));
    }
    data_free(&data);
    if (status < 0) {
        cluster_fail(cluster, err);
    }
    cluster_close(cluster);
    return status;
}

/* Reads argv[1] as the words after it say, and prints its rows. */
static int dump(int argc, char **argv, struct error *err) {
    struct input_format format = {0};
    bool stream = false, head_only = false, held = false, queries = false;
    const char *ranks = NULL;
    size_t n_threads = 1;
    for (int i = 2; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "name") == 0) {
            format.labels = DATA_NAME;
        } else if (strcmp(word, "set") == 0) {
            format.labels = DATA_SET;
        } else if (strcmp(word, "optional") == 0) {
            format.label_optional = true;
        } else if (strcmp(word, "precomputed") == 0) {
            format.precomputed = true;
        } else if (strcmp(word, "stream") == 0) {
            stream = true;
        } else if (strcmp(word, "head") == 0) {
            head_only = true;
        } else if (strcmp(word, "held") == 0) {
            held = true;
        } else if (strcmp(word, "queries") == 0) {
            queries = true;
        } else if (strncmp(word, "ranks=", 6) == 0) {
            ranks = word + 6;
        } else if (strncmp(word, "threads=", 8) == 0) {
            n_threads = strtoul(word + 8, NULL, 10);
        }
    }
    if (held || ranks) {
        return ranks ? dump_ranks(argv[1], &format, queries, ranks, err)
                     : dump_alone(argv[1], &format, err);
    }
    struct threads *threads = NULL;
    if (threads_create(&threads, n_threads, err) != 0) {
        return -1;
    }
    struct data data = {0};
    int status = 0;
    if (stream) {
        struct input *input;
        status = input_open(&input, argv[1], &format, threads, err);
        if (status == 0) {
            while ((status = input_next(input, &data, err)) == 0 && data.n_rows > 0) {
                dump_rows(&data);
            }
            input_close(input);
        }
    } else {
        status = input_read(&data, argv[1], &format, threads, err);
        if (status == 0) {
            dump_head(&data);
            if (!head_only) {
                dump_rows(&data);
            }
        }
    }
    data_free(&data);
    threads_free(threads);
    return status;
}

int main(int argc, char **argv) {
    struct error err;
    if (argc < 3) {
        fprintf(stderr, "usage: dump FILE number|name|set [WORDS]\n");
        return 2;
    }
    if (dump(argc, argv, &err) < 0) {
        fflush(stdout);
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    return 0;
}
