/* Prints svmlight text as input reads it, or the error on stderr:
 *   dump FILE number|name|set [optional] [precomputed] [stream] [head] [threads=N]
 * By default the file is read whole: a line tells how many rows and features are held, and how,
 * the rows follow but for `head`. With `stream` the rows come block by block. */
#include "common/base/number.h"
#include "common/data/input.h"

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
                   data->row_start ? data->column[k] + UINT64_C(1) : k - first + 1, text);
        }
        putchar('\n');
    }
}

static void dump_head(const struct data *data) {
    printf("%zu rows, %" PRIu32 " features, %s\n", data->n_rows, data->n_features,
           data->row_start ? "sparse" : "dense");
}

/* Reads argv[1] as the words behind it say and prints its rows. */
static int dump(int argc, char **argv, struct error *err) {
    struct input_format format = {0};
    bool stream = false, head_only = false;
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
        } else if (strncmp(word, "threads=", 8) == 0) {
            n_threads = strtoul(word + 8, NULL, 10);
        }
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
