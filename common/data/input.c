/* Parallel reading of a file. One long file, since its tasks, their results and the order of both
 * are one protocol. */
#include "common/data/input.h"

#include "common/base/memory.h"
#include "common/data/allgather.h"
#include "common/data/lines.h"
#include "common/data/svmlight.h"

#include <stdlib.h>
#include <string.h>

/* Text is read in batches. A batch is divided at line ends into blocks, each of which a worker
 * parses into rows of its own (small enough to stay in its cache). When all are parsed, the
 * position of the rows of each block in the data is known, and they are copied there, in parallel
 * again. So the arrays of the data hold exactly what is stored, and grow without being copied
 * twice.
 *
 * While every row so far has the columns 1..d, columns are not stored: the data is dense and takes
 * 4 bytes for each value. The first row that differs converts it to CSR. */

static const size_t BLOCK_BYTES = (size_t)1 << 18;
static const size_t WORKER_BATCH_BYTES = (size_t)2
                                         << 20; /* for each worker, if there are several */
static const size_t MAX_BATCH_BYTES = (size_t)32 << 20;
static const size_t SERIAL_BATCH_BYTES = (size_t)1
                                         << 19; /* for one worker: no balancing is needed */
static const size_t MAX_ROWS = UINT32_MAX - 1;  /* row numbers have 32 bits */

struct block {
    struct svmlight rows;
    struct svmlight_fault fault;
    const char *text, *end;
    bool failed;
    uint32_t *names; /* numbers in the data of the names of the block; owned */
    size_t names_capacity;
    uint32_t *queries; /* the same for qids that are words */
    size_t queries_capacity;
    size_t first_row, first_value, first_label,
        first_remark; /* positions of the contents of the block in the data */
};

struct input {
    struct input_format format;
    struct threads *threads;
    struct lines *lines;
    struct block *blocks;
    size_t n_blocks, blocks_capacity;
    uint64_t n_lines;    /* lines before this batch */
    struct block *fault; /* the block of this batch with an error, or NULL */
    bool zero_based;     /* see svmlight.h; of all blocks so far */
    uint64_t n_taken;    /* rows of earlier blocks (input_next) */
    uint64_t n_bytes;    /* bytes up to the end of this batch */
    bool whole;      /* all of the file goes into one struct data: arrays may be allocated for rows
                  still to come */
    bool later_part; /* not the first of several parts of a file */
    bool has_rows, has_query; /* rows have been read; some had a qid */
    struct data *data;        /* being filled */
    bool dense;       /* all rows so far are dense; columns and row starts are then not allocated */
    size_t n_values;  /* stored in data */
    size_t n_labels;  /* DATA_SET: stored in data */
    size_t n_remarks; /* bytes of comments in data */
    size_t rows_capacity; /* items of the arrays by row */
    size_t values_capacity, labels_capacity, remarks_capacity;
};

/* ---- Capacity of the arrays ----------------------------------------------------------------- */

/* Resizes *array, of `capacity` items, to `wanted` items. */
static int resize(void *array, size_t capacity, size_t wanted, size_t size, const char *what,
                  struct error *err) {
    void *old, *block;
    memcpy(&old, array, sizeof old);
    block = capacity > 0 ? memory_resize(old, wanted, size, what, err)
                         : memory_array(wanted, size, what, err);
    if (!block) {
        return -1;
    }
    if (capacity == 0) {
        free(old); /* allocated for no items */
    }
    memcpy(array, &block, sizeof block);
    return 0;
}

/* The capacity to allocate if n items are needed now: an estimate for the whole file by the rate so
 * far and a little more, or half as much again. */
static size_t room_for(const struct input *input, size_t n, size_t capacity) {
    if (n <= capacity) {
        return capacity;
    }
    size_t size = lines_size(input->lines);
    if (!input->whole) {
        return n;
    }
    size_t more = n + n / 2;
    if (size >= input->n_bytes) {
        double expected = (double)n * ((double)size / (double)input->n_bytes);
        size_t promised = (size_t)(expected * 1.02) + 64;
        more = promised > n ? promised : n;
    }
    return more;
}

static int reserve_rows(struct input *input, size_t n, struct error *err) {
    struct data *data = input->data;
    size_t old = input->rows_capacity, wanted = room_for(input, n, old);
    if (wanted == old) {
        return 0;
    }
    static const char what[] = "rows";
    if ((input->format.labels == DATA_NUMBER &&
         resize(&data->target, old, wanted, sizeof *data->target, what, err) < 0) ||
        (input->format.labels == DATA_NAME &&
         resize(&data->label, old, wanted, sizeof *data->label, what, err) < 0) ||
        (input->format.labels == DATA_SET &&
         resize(&data->label_start, old, wanted + 1, sizeof *data->label_start, what, err) < 0) ||
        (input->format.precomputed &&
         resize(&data->serial, old, wanted, sizeof *data->serial, what, err) < 0) ||
        (input->format.remarks &&
         resize(&data->remark_start, old, wanted + 1, sizeof *data->remark_start, what, err) < 0) ||
        (data->query && resize(&data->query, old, wanted, sizeof *data->query, what, err) < 0) ||
        (!input->dense &&
         resize(&data->row_start, old, wanted + 1, sizeof *data->row_start, what, err) < 0)) {
        return -1;
    }
    input->rows_capacity = wanted;
    return 0;
}

static int reserve_values(struct input *input, size_t n, struct error *err) {
    struct data *data = input->data;
    size_t old = input->values_capacity, wanted = room_for(input, n, old);
    if (wanted == old && old > 0) {
        return 0;
    }
    if (resize(&data->value, old, wanted, sizeof *data->value, "values", err) < 0 ||
        (!input->dense &&
         resize(&data->column, old, wanted, sizeof *data->column, "columns", err) < 0)) {
        return -1;
    }
    input->values_capacity = wanted;
    return 0;
}

/* Grows *array, of *capacity items, for n items. */
static int reserve(const struct input *input, void *array, size_t *capacity, size_t n, size_t size,
                   const char *what, struct error *err) {
    size_t wanted = room_for(input, n, *capacity);
    if (wanted == *capacity && wanted > 0) {
        return 0;
    }
    if (resize(array, *capacity, wanted, size, what, err) < 0) {
        return -1;
    }
    *capacity = wanted;
    return 0;
}

/* Rows before the first that has a qid are of query 0; there are some only where labels are no
 * numbers, and queries are not used. */
static int begin_queries(struct input *input, struct error *err) {
    struct data *data = input->data;
    data->query = memory_array(input->rows_capacity, sizeof *data->query, "queries", err);
    if (!data->query) {
        return -1;
    }
    memset(data->query, 0, data->n_rows * sizeof *data->query);
    return 0;
}

/* Converts the dense rows so far to CSR without zeros. */
static int make_sparse(struct input *input, struct error *err) {
    struct data *data = input->data;
    if (data_make_sparse(data, err) < 0) {
        return -1;
    }
    input->n_values = data_values(data);
    input->dense = false;
    return resize(&data->row_start, data->n_rows + 1, input->rows_capacity + 1,
                  sizeof *data->row_start, "rows", err) < 0
               ? -1
               : resize(&data->column, input->n_values, input->values_capacity,
                        sizeof *data->column, "columns", err);
}

/* Shrinks an array to its n items. */
static void shrink(void *array, size_t n, size_t size) {
    void *block;
    struct error ignored;
    memcpy(&block, array, sizeof block);
    if (block && (block = memory_resize(block, n, size, "", &ignored)) != NULL) {
        memcpy(array, &block, sizeof block);
    }
}

static void shrink_all(struct input *input) {
    struct data *data = input->data;
    size_t n = data->n_rows;
    shrink(&data->value, input->n_values, sizeof *data->value);
    shrink(&data->column, input->n_values, sizeof *data->column);
    shrink(&data->row_start, n + 1, sizeof *data->row_start);
    shrink(&data->target, n, sizeof *data->target);
    shrink(&data->label, data->labels == DATA_SET ? input->n_labels : n, sizeof *data->label);
    shrink(&data->label_start, n + 1, sizeof *data->label_start);
    shrink(&data->query, n, sizeof *data->query);
    shrink(&data->serial, n, sizeof *data->serial);
}

/* ---- One batch ------------------------------------------------------------------------------ */

static void parse_block(void *argument, size_t task, size_t worker) {
    (void)worker;
    struct input *input = argument;
    struct block *block = &input->blocks[task];
    block->failed =
        svmlight_parse(&block->rows, block->text, block->end, &input->format, &block->fault) < 0;
}

/* Divides the batch into blocks at line ends. */
static int cut_blocks(struct input *input, const char *text, size_t length, struct error *err) {
    size_t old = input->blocks_capacity, wanted = memory_room(old, length / BLOCK_BYTES + 1);
    if (memory_grow(&input->blocks, old, wanted, sizeof *input->blocks, "blocks of text", err) <
        0) {
        return -1;
    }
    memset(input->blocks + old, 0, (wanted - old) * sizeof *input->blocks);
    input->blocks_capacity = wanted;
    input->n_blocks = 0;
    for (const char *end = text + length; text < end;) {
        struct block *block = &input->blocks[input->n_blocks++];
        block->text = text;
        block->end = end;
        if ((size_t)(end - text) > BLOCK_BYTES) {
            const char *cut = text + BLOCK_BYTES - 1;
            block->end = (const char *)memchr(cut, '\n', (size_t)(end - cut)) + 1;
        }
        text = block->end;
    }
    return 0;
}

/* number (names->n, allocated for *capacity) = the numbers of the names of a block among all names.
 */
static int number_names(struct names *all, const struct names *names, uint32_t **number,
                        size_t *capacity, struct error *err) {
    if (memory_grow(number, *capacity, names->n, sizeof **number, "names", err) < 0) {
        return -1;
    }
    *capacity = memory_room(*capacity, names->n);
    for (size_t i = 0; i < names->n; i++) {
        if (names_add(all, names->name[i], strlen(names->name[i]), &(*number)[i], err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int number_block(struct input *input, struct block *block, struct error *err) {
    struct data *data = input->data;
    return number_names(&data->names, &block->rows.names, &block->names, &block->names_capacity,
                        err) < 0
               ? -1
               : number_names(&data->queries, &block->rows.queries, &block->queries,
                              &block->queries_capacity, err);
}

/* Bytes of the comments of a block's rows. */
static size_t count_remarks(const struct svmlight *rows) {
    size_t bytes = 0;
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct svmlight_row *row = &rows->row[i];
        bytes += row->remark ? (size_t)(row->remark_end - row->remark) : 0;
    }
    return bytes;
}

static void copy_remarks(struct data *data, const struct block *block) {
    size_t at = block->first_remark;
    for (size_t i = 0; i < block->rows.n_rows; i++) {
        const struct svmlight_row *row = &block->rows.row[i];
        size_t length = row->remark ? (size_t)(row->remark_end - row->remark) : 0;
        if (length > 0) {
            memcpy(data->remark + at, row->remark, length);
        }
        at += length;
        data->remark_start[block->first_row + i + 1] = at;
    }
}

static void copy_features(const struct input *input, const struct block *block) {
    struct data *data = input->data;
    const struct svmlight *rows = &block->rows;
    float *value = data->value + block->first_value;
    if (input->dense) {
        memcpy(value, rows->value, rows->n_values * sizeof *value);
        return;
    }
    uint32_t *column = data->column + block->first_value;
    uint64_t *row_start = data->row_start + block->first_row;
    if (rows->n_zeros == 0) {
        memcpy(value, rows->value, rows->n_values * sizeof *value);
        memcpy(column, rows->column, rows->n_values * sizeof *column);
        for (size_t i = 0; i < rows->n_rows; i++) {
            row_start[i + 1] = block->first_value + rows->row[i].end;
        }
        return;
    }
    size_t n = 0, k = 0;
    for (size_t i = 0; i < rows->n_rows; i++) {
        for (; k < rows->row[i].end; k++) {
            if (rows->value[k] != 0) {
                value[n] = rows->value[k];
                column[n++] = rows->column[k];
            }
        }
        row_start[i + 1] = block->first_value + n;
    }
}

static void copy_block(void *argument, size_t task, size_t worker) {
    (void)worker;
    struct input *input = argument;
    const struct block *block = &input->blocks[task];
    const struct svmlight *rows = &block->rows;
    struct data *data = input->data;
    copy_features(input, block);
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct svmlight_row *row = &rows->row[i];
        size_t to = block->first_row + i;
        size_t labels_first = i > 0 ? (size_t)rows->row[i - 1].labels_end : 0;
        switch (data->labels) {
        case DATA_NUMBER:
            data->target[to] = row->target;
            break;
        case DATA_NAME:
            data->label[to] = row->labels_end > labels_first
                                  ? block->names[rows->label[labels_first]]
                                  : UINT32_MAX;
            break;
        case DATA_SET:
            data->label_start[to + 1] = block->first_label + row->labels_end;
            break;
        }
        if (data->query) {
            data->query[to] =
                row->names_query ? DATA_QUERY_NAME + block->queries[row->query] : row->query;
        }
        if (data->serial) {
            data->serial[to] = row->serial;
        }
    }
    if (data->remark_start) {
        copy_remarks(data, block);
    }
    if (data->labels == DATA_SET) {
        for (size_t k = 0; k < rows->n_labels; k++) {
            data->label[block->first_label + k] = block->names[rows->label[k]];
        }
    }
}

/* The ends of the arrays of the data. */
struct ends {
    size_t rows, values, labels, remarks;
};

/* Assigns positions to the blocks, from the ends on, and advances the ends. */
static int place_blocks(struct input *input, struct ends *ends, struct error *err) {
    for (size_t b = 0; b < input->n_blocks; b++) {
        struct block *block = &input->blocks[b];
        const struct svmlight *rows = &block->rows;
        block->first_row = ends->rows;
        block->first_value = ends->values;
        block->first_label = ends->labels;
        block->first_remark = ends->remarks;
        ends->rows += rows->n_rows;
        ends->values += rows->n_values - (input->dense ? 0 : rows->n_zeros);
        ends->labels += rows->n_labels;
        ends->remarks += input->format.remarks ? count_remarks(rows) : 0;
        if (number_block(input, block, err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Appends the parsed blocks to the data. */
static int append_blocks(struct input *input, struct error *err) {
    struct data *data = input->data;
    size_t n_rows = data->n_rows;
    uint32_t n_features = data->n_features;
    bool dense = input->dense, queries = false;
    for (size_t b = 0; b < input->n_blocks; b++) {
        const struct svmlight *rows = &input->blocks[b].rows;
        if (rows->n_rows == 0) {
            continue;
        }
        uint32_t width = n_rows > 0 ? n_features : rows->n_features;
        dense = dense && rows->uniform && rows->n_features == width;
        queries |= rows->has_query;
        n_features = n_features > rows->n_features ? n_features : rows->n_features;
        n_rows += rows->n_rows;
    }
    if (n_rows > MAX_ROWS) {
        return error_set(err, ERROR_RUNTIME, "%s: more than %zu rows", lines_name(input->lines),
                         MAX_ROWS);
    }
    if (input->dense && !dense) {
        if (data->n_rows > 0 && make_sparse(input, err) < 0) {
            return -1;
        }
        input->dense = false;
    }
    struct ends ends = {data->n_rows, input->n_values, input->n_labels, input->n_remarks};
    if (place_blocks(input, &ends, err) < 0 || reserve_rows(input, n_rows, err) < 0 ||
        reserve_values(input, ends.values, err) < 0 ||
        (data->labels == DATA_SET &&
         reserve(input, &data->label, &input->labels_capacity, ends.labels, sizeof *data->label,
                 "labels", err) < 0) ||
        (input->format.remarks && reserve(input, &data->remark, &input->remarks_capacity,
                                          ends.remarks, 1, "comments", err) < 0) ||
        (queries && !data->query && begin_queries(input, err) < 0)) {
        return -1;
    }
    uint64_t *starts[] = {data->row_start, data->label_start, data->remark_start};
    for (size_t k = 0; data->n_rows == 0 && k < sizeof starts / sizeof starts[0]; k++) {
        if (starts[k]) {
            starts[k][0] = 0;
        }
    }
    threads_run(input->threads, input->n_blocks, copy_block, input);
    data->n_rows = n_rows;
    data->n_features = n_features;
    input->n_values = ends.values;
    input->n_labels = ends.labels;
    input->n_remarks = ends.remarks;
    return 0;
}

/* Stores the first line of the file if it is a comment: it may describe the rows. */
static void keep_comment(struct input *input, const char *text) {
    size_t length = 0;
    while (*text == '#' && text[length] != '\n' && text[length] != '\r' &&
           length < DATA_COMMENT - 1) {
        length++;
    }
    memcpy(input->data->comment, text, length);
    input->data->comment[length] = '\0';
}

/* Sets err to the parse error, for a file with lines_before more lines before those read here.
 * Returns -1. */
static int describe(const struct input *input, uint64_t lines_before, struct error *err) {
    input->fault->fault.zero_based |= input->zero_based;
    return svmlight_describe(&input->fault->fault, lines_name(input->lines),
                             lines_before + input->n_lines, err);
}

/* Sets the fault of a block whose rows have qids while the rows before have none, or the other way
 * round. */
static void check_queries(struct input *input, struct block *block) {
    const struct svmlight *rows = &block->rows;
    if (input->format.labels != DATA_NUMBER || rows->n_rows == 0) {
        return;
    }
    if (input->has_rows && input->has_query != rows->has_query) {
        block->failed = true;
        block->fault = (struct svmlight_fault){.what = svmlight_query_fault(rows->has_query),
                                               .at = rows->first_line,
                                               .line = rows->first_line,
                                               .line_number = rows->first_line_number};
    }
    input->has_rows = true;
    input->has_query = rows->has_query;
}

/* Reads, parses and appends a batch. *end: the file has ended. */
static int read_batch(struct input *input, bool *end, struct error *err) {
    const char *text;
    size_t length;
    if (lines_next(input->lines, &text, &length, err) < 0) {
        return -1;
    }
    *end = length == 0;
    if (*end) {
        return 0;
    }
    if (input->n_bytes == 0) {
        struct input_format *format = &input->format;
        if (!input->later_part) {
            keep_comment(input, text);
        }
        if (format->find_limit) {
            format->find_limit(format->context, input->data->comment, &format->limit);
        }
    }
    input->n_bytes += length;
    if (cut_blocks(input, text, length, err) < 0) {
        return -1;
    }
    threads_run(input->threads, input->n_blocks, parse_block, input);
    for (size_t b = 0; b < input->n_blocks; b++) {
        struct block *block = &input->blocks[b];
        check_queries(input, block);
        if (block->failed) {
            input->fault = block;
            return describe(input, 0, err);
        }
        input->n_lines += block->rows.n_lines;
        input->zero_based |= block->rows.zero_based;
    }
    return append_blocks(input, err);
}

/* Resets data, except its names and those of its queries. */
static void begin_data(struct input *input, struct data *data) {
    struct names names = data->names, queries = data->queries;
    data->names = data->queries = (struct names){0};
    data_free(data);
    data->names = names;
    data->queries = queries;
    data->labels = input->format.labels;
    input->data = data;
    input->dense = true;
    input->n_values = input->n_labels = input->n_remarks = 0;
    input->rows_capacity = input->values_capacity = input->labels_capacity = 0;
    input->remarks_capacity = 0;
}

/* ---- Whole files and streams ---------------------------------------------------------------- */

static int open_input(struct input **input, const char *path, const struct input_format *format,
                      const struct lines_part *part, struct threads *threads, struct error *err) {
    struct input *opened = memory_zeros(1, sizeof *opened, "reading", err);
    if (!opened) {
        return -1;
    }
    opened->format = *format;
    opened->threads = threads;
    opened->later_part = part && part->number > 0;
    size_t workers = threads_count(threads);
    size_t batch_bytes = SERIAL_BATCH_BYTES;
    if (workers > 1) {
        batch_bytes = workers < MAX_BATCH_BYTES / WORKER_BATCH_BYTES ? workers * WORKER_BATCH_BYTES
                                                                     : MAX_BATCH_BYTES;
    }
    if (lines_open(&opened->lines, path, part, batch_bytes, threads, err) < 0) {
        input_close(opened);
        return -1;
    }
    *input = opened;
    return 0;
}

int input_open(struct input **input, const char *path, const struct input_format *format,
               struct threads *threads, struct error *err) {
    return open_input(input, path, format, NULL, threads, err);
}

int input_next(struct input *input, struct data *block, struct error *err) {
    begin_data(input, block);
    block->rows_before = input->n_taken;
    bool end = false;
    while (!end && block->n_rows == 0) {
        if (read_batch(input, &end, err) < 0) {
            return -1;
        }
    }
    input->n_taken += block->n_rows;
    return 0;
}

void input_close(struct input *input) {
    if (!input) {
        return;
    }
    lines_close(input->lines);
    for (size_t b = 0; b < input->blocks_capacity; b++) {
        svmlight_free(&input->blocks[b].rows);
        free(input->blocks[b].names);
        free(input->blocks[b].queries);
    }
    free(input->blocks);
    free(input);
}

/* Reads all batches. */
static int read_whole(struct input *input, struct data *data, struct error *err) {
    bool end = false;
    int status = 0;
    input->whole = true;
    begin_data(input, data);
    while (!end && status == 0) {
        status = read_batch(input, &end, err);
    }
    return status;
}

int input_read(struct data *data, const char *path, const struct input_format *format,
               struct threads *threads, struct error *err) {
    struct input *input;
    *data = (struct data){0};
    if (input_open(&input, path, format, threads, err) < 0) {
        return -1;
    }
    int status = read_whole(input, data, err);
    if (status == 0 && data->n_rows == 0) {
        status = error_set(err, ERROR_RUNTIME, "%s: no rows", lines_name(input->lines));
    }
    if (status == 0) {
        shrink_all(input);
    } else {
        data_free(data);
    }
    input_close(input);
    return status;
}

static int read_part(struct input **input, struct data *data, const char *path,
                     const struct input_format *format, const struct input_share *share,
                     struct threads *threads, struct error *err) {
    const struct lines_part part = {cluster_rank(share->cluster), cluster_size(share->cluster),
                                    share->queries};
    if (open_input(input, path, format, share->whole ? NULL : &part, threads, err) < 0 ||
        read_whole(*input, data, err) < 0) {
        return -1;
    }
    shrink_all(*input);
    return 0;
}

int input_read_part(struct data *data, const char *path, const struct input_format *format,
                    const struct input_share *share, struct threads *threads,
                    struct input_found *found, struct error *err) {
    struct input *input = NULL;
    struct error uncounted;
    uint64_t before = 0;
    *data = (struct data){0};
    *found = (struct input_found){0};
    int status = read_part(&input, data, path, format, share, threads, err);
    if (input) {
        *found = (struct input_found){lines_bytes(input->lines), input->n_lines};
    }
    if (!share->whole &&
        gather_count_before(share->cluster, found->n_lines, &before, &uncounted) < 0) {
        *err = uncounted;
        status = -1;
    } else {
        if (input && input->fault) {
            describe(input, before, err);
        }
        status = cluster_agree(share->cluster, status, err);
    }
    input_close(input);
    if (status < 0) {
        data_free(data);
    }
    return status;
}
