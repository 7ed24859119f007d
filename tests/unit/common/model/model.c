/* Models are the same to the bit after writing and reading, and score the same. Damage is tested in
 * tamper. */
#define _GNU_SOURCE
#include "common/model/model.h"
#include "driver/fit.h"

#include "tests/unit/compute.h"

#include <unistd.h>

static const char *const own_keys[] = {"labels", "threshold", NULL};

static char path[600];

/* Fills the header of a model. */
static void fill(struct model *model, enum kernel_type type, const struct data *data) {
    *model = (struct model){.cost = 0.1,
                            .kernel = {type, 3, 1.0 / 3, -0.25},
                            .n_rows = data->n_rows,
                            .n_features = data->n_features};
    model->formulation = strdup("plain");
    model->loss = strdup("hinge");
}

/* A solution of random weights, some of them zero. */
static struct solution random_solution(size_t n, size_t n_outputs, uint64_t seed) {
    struct random random = sample_random(seed, 0);
    struct solution solution = {.n_outputs = n_outputs,
                                .primal = 1e5 / 3,
                                .dual = 1e5 / 3 - 1.0 / 7,
                                .iterations = 12345678901};
    solution.weights = sample_array(n * n_outputs, sizeof(double));
    for (size_t i = 0; i < n * n_outputs; i++) {
        double size = exp2((double)random_below(&random, 120) - 60);
        solution.weights[i] = i / n_outputs % 5 == 1 ? 0 : (random_unit(&random) - .5) * size;
    }
    return solution;
}

static bool same_bits(const double *a, const double *b, size_t n) {
    return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

static void write_and_read(const struct model *model, struct model *back) {
    struct output *output = NULL;
    MUST(output_open(&output, path, &err));
    MUST(model_write(model, "test", output, NULL, NULL, &err));
    MUST(output_end(output, 0, &err));
    MUST(model_read(back, "test", own_keys, false, path, &err));
}

static void check_header(const struct model *model, const struct model *back) {
    const struct kernel *a = &model->kernel, *b = &back->kernel;
    unsigned used = a->type == KERNEL_POLYNOMIAL ? 7U : a->type == KERNEL_RBF ? 2U : 0;
    CHECK(strcmp(back->formulation, "plain") == 0 && strcmp(back->loss, "hinge") == 0, "names");
    CHECK(back->cost == model->cost && back->n_rows == model->n_rows, "figures");
    CHECK(back->n_features == model->n_features && back->n_outputs == model->n_outputs, "sizes");
    CHECK(back->primal == model->primal && back->dual == model->dual, "bounds");
    CHECK(back->iterations == model->iterations, "iterations");
    CHECK(a->type == b->type, "kernel");
    CHECK(!(used & 1) || a->degree == b->degree, "degree");
    CHECK(!(used & 2) || a->gamma == b->gamma, "gamma");
    CHECK(!(used & 4) || a->coef0 == b->coef0, "coef0");
    CHECK(back->n_entries == 2 && strcmp(model_value(back, "labels"), "a b  c") == 0, "labels");
    double threshold;
    CHECK(model_number(back, "threshold", 0, &threshold, &err) == 0 && threshold == -0.5, "number");
    CHECK(model_number(back, "shape", 7, &threshold, &err) == 0 && threshold == 7, "missing");
    CHECK(model_number(back, "labels", 7, &threshold, &err) == -1, "text as number");
}

/* Writes and reads the model of a random solution. */
static void check_round_trip(enum kernel_type type, size_t n_outputs, bool sparse,
                             enum scale_kind scaling, const char *name) {
    struct data data = sample_data(60, 7, sparse ? .3 : 1, SAMPLE_COUNTS, sparse, true, 5);
    struct data test = sample_data(20, 9, sparse ? .3 : 1, SAMPLE_COUNTS, sparse, true, 6);
    struct model model, back;
    for (size_t i = 0; i < data.n_rows && !sparse; i++) {
        data.value[i * data.n_features + 2] = 4; /* a constant feature: the quantiles have one
                                                    breakpoint */
    }
    fill(&model, type, &data);
    MUST(scale_fit(&model.scale, scaling, &data, NULL, &err));
    MUST(scale_apply(&model.scale, &data, &err));
    size_t n = type == KERNEL_LINEAR ? data.n_features : data.n_rows;
    struct solution solution = random_solution(n, n_outputs, 3);
    struct problem problem = {.data = &data, .n = data.n_rows};
    MUST(fit_body(&model, &problem, &solution, &err));
    MUST(model_prepare(&model, &err));
    MUST(model_add(&model, &err, "labels", "%s", "a b  c"));
    MUST(model_add(&model, &err, "threshold", "%s", "-0.5"));
    write_and_read(&model, &back);
    check_header(&model, &back);
    if (type == KERNEL_LINEAR) {
        CHECK(same_bits(model.weights, back.weights, n * n_outputs), "weights");
    } else {
        CHECK(model.vectors.n_rows == 48 && back.vectors.n_rows == 48, "support vectors");
        CHECK(same_bits(model.coefficients, back.coefficients, 48 * n_outputs), "coefficients");
        for (size_t i = 0; i < 48; i++) {
            double a[9], b[9];
            data_row_dense(&model.vectors, i, 9, a);
            data_row_dense(&back.vectors, i, 9, b);
            CHECK(same_bits(a, b, 9), "support vector %zu", i);
        }
    }
    MUST(scale_apply(&back.scale, &test, &err));
    double *a = check_numbers(test.n_rows * n_outputs);
    double *b = check_numbers(test.n_rows * n_outputs);
    CHECK(model_n_scores(&back) == n_outputs, "scores");
    MUST(model_scores(&model, &test, a, NULL, &err));
    MUST(model_scores(&back, &test, b, NULL, &err));
    CHECK(same_bits(a, b, test.n_rows * n_outputs), "scores");
    model_free(&model);
    model_free(&back);
    solution_free(&solution);
    data_free(&data);
    data_free(&test);
    printf("ok: %s\n", name);
}

int main(void) {
    const char *temporary = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/dualsvm-model-%ld", temporary ? temporary : "/tmp",
             (long)getpid());
    check_round_trip(KERNEL_LINEAR, 1, false, SCALE_NONE, "linear");
    check_round_trip(KERNEL_LINEAR, 4, true, SCALE_STD, "linear, four outputs, scaled");
    check_round_trip(KERNEL_RBF, 1, false, SCALE_MINMAX, "rbf, scaled to a range");
    check_round_trip(KERNEL_POLYNOMIAL, 3, true, SCALE_L2, "polynomial, sparse, three outputs");
    check_round_trip(KERNEL_MINMAX, 1, true, SCALE_NONE, "minmax, sparse");
    check_round_trip(KERNEL_LAPLACIAN, 1, true, SCALE_QUANTILE, "laplacian, sparse, ranks");
    check_round_trip(KERNEL_LINEAR, 2, false, SCALE_QUANTILE, "linear, two outputs, ranks");
    remove(path);
    size_t length = strlen(path);
    snprintf(path + length, sizeof path - length, ".gz");
    check_round_trip(KERNEL_TANIMOTO, 2, false, SCALE_STD_CENTER, "tanimoto, gzip");
    remove(path);
    return 0;
}
