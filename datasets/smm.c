/* Matrices of two classes: the two simulations of the literature on support matrix machines.
 *
 *   1  entries of X, and of the factors of B = U V' (height x rank, width x rank), uniform on
 *      (-1, 1); label = sign(<B, X> + bias)
 *   2  label +1 or -1, half and half; X = u v' + noise with a u and v for each label, standard
 *      normal entries, and normal noise of standard deviation --noise
 *
 * Values have four decimals, and labels are those of the values as written. Normal numbers are sums
 * of twelve uniform ones. Only +, -, * and comparisons on doubles, and no fused operations: the
 * text is the same on every machine. */
#include "common/base/arrays.h"
#include "datasets/draw.h"
#include "datasets/family.h"
#include "datasets/writer.h"
#include "driver/run_files.h"

#include <stdlib.h>

enum { UNITS = 10000 /* of a value: four digits */ };

struct set {
    size_t n, height, width, rank;
    int simulation;
    double bias, noise;
    uint64_t seed, part;
    double *mean[2]; /* (height, width), by label -1, +1; simulation 1: B is mean[1] */
    double *factor;  /* (height + width, rank) */
    int64_t *row;    /* (height, width) in units */
};

static int64_t rounded(double value) {
    return (int64_t)(value * UNITS + (value < 0 ? -0.5 : 0.5));
}

/* matrix = U V' of new factors, uniform or normal. */
static void draw_matrix(const struct set *set, size_t rank, bool uniform, struct random *random,
                        double *matrix) {
    for (size_t j = 0; j < (set->height + set->width) * rank; j++) {
        set->factor[j] = uniform ? 2 * random_unit(random) - 1 : draw_normal(random);
    }
    const double *V = set->factor + set->height * rank;
    for (size_t a = 0; a < set->height; a++) {
        for (size_t c = 0; c < set->width; c++) {
            double sum = 0;
            for (size_t k = 0; k < rank; k++) {
                sum += set->factor[a * rank + k] * V[c * rank + k];
            }
            matrix[a * set->width + c] = sum;
        }
    }
}

/* Draws a row and returns its label, as 0 or 1. */
static int draw_row(const struct set *set, struct random *random) {
    size_t cells = set->height * set->width;
    if (set->simulation == 2) {
        int label = (int)random_below(random, 2);
        for (size_t j = 0; j < cells; j++) {
            set->row[j] = rounded(set->mean[label][j] + set->noise * draw_normal(random));
        }
        return label;
    }
    double score = set->bias;
    for (size_t j = 0; j < cells; j++) {
        set->row[j] = rounded(2 * random_unit(random) - 1);
        score += set->mean[1][j] * ((double)set->row[j] / UNITS);
    }
    return score >= 0;
}

static void write_rows(const void *context, struct output *out) {
    const struct set *set = context;
    struct random random; /* rows have a stream of their own: more do not change the first ones */
    random_start(&random, set->seed, 41 + set->part);
    output_format(out, "# matrix %zu %zu row-major\n", set->height, set->width);
    for (size_t i = 0; i < set->n; i++) {
        output_text(out, draw_row(set, &random) ? "+1" : "-1");
        for (size_t j = 0; j < set->height * set->width; j++) {
            writer_feature(out, j, set->row[j], UNITS);
        }
        output_text(out, "\n");
    }
}

/* B, or the difference of the two means, in six decimals. */
static void write_truth(const void *context, struct output *out) {
    const struct set *set = context;
    for (size_t a = 0; a < set->height; a++) {
        for (size_t c = 0; c < set->width; c++) {
            size_t at = a * set->width + c;
            double value = set->mean[1][at] - (set->simulation == 2 ? set->mean[0][at] : 0);
            int64_t millionths = (int64_t)(value * 1e6 + (value < 0 ? -0.5 : 0.5));
            output_text(out, c > 0 ? " " : "");
            if (millionths != 0 && -10 < millionths && millionths < 10) { /* without exponent */
                output_format(out, "%.6f", (double)millionths / 1e6);
            } else {
                output_number(out, (double)millionths / 1e6);
            }
        }
        output_text(out, "\n");
    }
}

/* Two outputs to one file are refused. */
static int check_files(const struct options *options, struct error *err) {
    struct run_files files = {0};
    int status = run_files_write(&files, options_text(options, "output"), err) < 0 ||
                         run_files_write(&files, options_text(options, "truth"), err) < 0
                     ? -1
                     : run_files_check(&files, err);
    run_files_free(&files);
    return status;
}

static int draw_set(struct set *set, const struct options *options, struct error *err) {
    size_t cells = set->height * set->width;
    struct random random;
    size_t factors = (set->height + set->width) * set->rank;
    void *block =
        ARRAYS_CREATE("means", err, ARRAYS(cells, double, &set->mean[0], &set->mean[1]),
                      ARRAYS(factors, double, &set->factor), ARRAYS(cells, int64_t, &set->row));
    if (!block) {
        return -1;
    }
    random_start(&random, set->seed, 40);
    if (set->simulation == 2) {
        draw_matrix(set, 1, false, &random, set->mean[0]);
        draw_matrix(set, 1, false, &random, set->mean[1]);
    } else {
        draw_matrix(set, set->rank, true, &random, set->mean[1]);
    }
    const char *truth = options_text(options, "truth");
    int status = truth ? writer_write(truth, NULL, set, write_truth, err) : 0;
    if (status == 0) {
        status = writer_write(options_text(options, "output"), NULL, set, write_rows, err);
    }
    free(block);
    return status;
}

static int generate(const struct options *options, struct error *err) {
    struct set set = {.n = (size_t)options_number(options, "rows"),
                      .height = (size_t)options_number(options, "height"),
                      .width = (size_t)options_number(options, "width"),
                      .rank = (size_t)options_number(options, "rank"),
                      .simulation = (int)options_number(options, "simulation"),
                      .bias = options_number(options, "bias"),
                      .noise = options_number(options, "noise"),
                      .seed = (uint64_t)options_number(options, "seed"),
                      .part = (uint64_t)options_number(options, "part")};
    return check_files(options, err) < 0 ? -1 : draw_set(&set, options, err);
}

static const struct option_spec specs[] = {
    {.name = "simulation", .kind = OPTION_COUNT, .initial = "1", .low = 1, .high = 2},
    {.name = "rows", .kind = OPTION_COUNT, .initial = "400", .low = 1, .high = 1e9},
    {.name = "height", .kind = OPTION_COUNT, .initial = "10", .low = 1, .high = 1e4},
    {.name = "width", .kind = OPTION_COUNT, .initial = "8", .low = 1, .high = 1e4},
    {.name = "rank", .kind = OPTION_COUNT, .initial = "5", .low = 1, .high = 1e4},
    {.name = "bias", .kind = OPTION_NUMBER, .initial = "0.1", .low = -1e3, .high = 1e3},
    {.name = "noise", .kind = OPTION_NUMBER, .initial = "4", .low = 0, .high = 1e3},
    {.name = "part", .kind = OPTION_COUNT, .initial = "0", .low = 0, .high = 1e6},
    {.name = "truth", .kind = OPTION_TEXT},
};

const struct family family_smm = {
    .name = "smm",
    .help = "  matrices of two classes, for support matrix machines\n"
            "  --simulation 1|2 (1: sign(<B,X> + bias); 2: two rank-one means with noise)\n"
            "  --rows N (400)  --height R (10)  --width C (8)  --rank K (5)  --bias B (0.1)\n"
            "  --noise S (4)  --part N (0; other rows of the same B or means)\n"
            "  --truth FILE (B, or the difference of the means)  --seed N (1)  --output FILE (-)\n",
    TABLE(specs, specs),
    .generate = generate,
};
