/* Prediction of rows in memory to arrays or text. */
#include "library/private.h"

#include "common/base/blas.h"
#include "common/base/memory.h"
#include "driver/test_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Starting threads for fewer rows takes longer than it saves. */
enum { ROWS_OF_THREADS = 256 };

/* The state of a prediction. */
struct prediction {
    const struct dualsvm_model *model;
    const struct dualsvm_data *data;
    struct dualsvm_options *own; /* defaults, if the caller has no options; owned */
    const struct dualsvm_options *options;
    struct threads *threads; /* NULL: the calling thread only */
    size_t callers;          /* number of threads registered with BLAS */
};

static void end(struct prediction *prediction) {
    dualsvm_options_free(prediction->own);
    threads_free(prediction->threads);
    blas_leave(prediction->callers);
}

/* Starts a prediction; `end` releases it. On failure returns -1 with the error filled, and nothing
 * to release. probability: sets the option of that name. */
static int begin(struct prediction *prediction, const dualsvm_model *model,
                 const dualsvm_options *options, const dualsvm_data *data, bool probability,
                 dualsvm_error *error) {
    *prediction = (struct prediction){.model = model, .data = data, .options = options};
    if (!model || !data) {
        return library_refuse(error, "no model, or no data");
    }
    if (library_check_data(data, model->family, error) < 0) {
        return -1;
    }
    if ((model->model.kernel.type == KERNEL_PRECOMPUTED) != (data->data.serial != NULL)) {
        return library_refuse(error,
                              data->data.serial
                                  ? "the data are values of a kernel, and the model wants features"
                                  : "the model wants values of a kernel "
                                    "(dualsvm_data_set_precomputed)");
    }
    if (options && (options->role != DUALSVM_PREDICT || options->family != model->family)) {
        return library_refuse(error, "the options are not those of a predictor of %s",
                              model->family->train->name);
    }
    if (!options || probability) {
        int status = options ? dualsvm_options_copy(&prediction->own, options, error)
                             : dualsvm_options_create(&prediction->own, model->family->train->name,
                                                      DUALSVM_PREDICT, error);
        if (status < 0 ||
            (probability && dualsvm_options_set(prediction->own, "probability", "1", error) < 0)) {
            dualsvm_options_free(prediction->own);
            return -1;
        }
        prediction->options = prediction->own;
    }
    struct error err = {0};
    size_t n = (size_t)options_number(&prediction->options->options, "threads");
    bool blas = model_scores_by_blas(&model->model);
    int status = 0;
    if (data->data.n_rows >= ROWS_OF_THREADS) {
        status = (blas ? threads_create_for_blas : threads_create)(&prediction->threads, n, &err);
    } else if (blas) {
        prediction->callers = 1;
        status = blas_join(&prediction->callers, &err);
    }
    if (status < 0) {
        end(prediction);
        return library_fail(error, &err);
    }
    return 0;
}

static struct test_file test_of(const struct prediction *prediction) {
    return (struct test_file){.predictor = prediction->model->family->predict,
                              .options = &prediction->options->options,
                              .model = &prediction->model->model,
                              .threads = prediction->threads,
                              .path = "the data",
                              .rows = &prediction->data->data,
                              .sparse = prediction->data->zeros};
}

/* Refuses options that the model does not support. */
static int check(const struct prediction *prediction, struct error *err) {
    const struct predictor *predictor = prediction->model->family->predict;
    return predictor->check
               ? predictor->check(&prediction->options->options, &prediction->model->model, err)
               : 0;
}

/* ---- arrays ---- */

/* The array to fill; exactly one is not NULL. */
struct arrays {
    const struct dualsvm_model *model;
    double *scores, *probability;
    uint32_t *label;
    unsigned char *chosen;
    bool *chosen_of_row; /* (labels) */
};

static int take(void *context, void *lines, size_t first, size_t n, const double *scores,
                struct error *err) {
    (void)err;
    const struct arrays *arrays = context;
    const struct predictor *predictor = arrays->model->family->predict;
    size_t n_scores = arrays->model->model.n_outputs, labels = arrays->model->n_labels;
    for (size_t i = 0; i < n; i++) {
        const double *score = scores + i * n_scores;
        size_t row = first + i;
        if (arrays->scores) {
            memcpy(arrays->scores + row * n_scores, score, n_scores * sizeof *score);
        } else if (arrays->probability) {
            predictor->probabilities(lines, score, arrays->probability + row * labels);
        } else if (arrays->label) {
            arrays->label[row] = (uint32_t)predictor->decide(lines, score);
        } else {
            predictor->choose(lines, score, arrays->chosen_of_row);
            for (size_t k = 0; k < labels; k++) {
                arrays->chosen[row * labels + k] = arrays->chosen_of_row[k];
            }
        }
    }
    return 0;
}

static int fill(struct prediction *prediction, struct arrays *arrays, struct error *err) {
    struct test_file test = test_of(prediction);
    struct test_rows rows;
    arrays->model = prediction->model;
    test.take = take;
    test.context = arrays;
    if (prediction->model->model.n_outputs == 0) {
        return error_set(err, ERROR_RUNTIME,
                         "the model has pair features: it has no scores of rows");
    }
    arrays->chosen_of_row = memory_array(prediction->model->n_labels, sizeof(bool), "labels", err);
    int status = arrays->chosen_of_row ? check(prediction, err) : -1;
    status = status < 0 ? -1 : test_file_predict(&test, NULL, &rows, err);
    free(arrays->chosen_of_row);
    return status;
}

/* Predicts to an array, `place`. has: whether models of the family predict `what`. */
static int predict(const dualsvm_model *model, const dualsvm_options *options,
                   const dualsvm_data *data, struct arrays *arrays, const void *place, bool has,
                   const char *what, dualsvm_error *error) {
    struct prediction prediction;
    struct error err = {0};
    if (!place) {
        return library_refuse(error, "no place for %s", what);
    }
    if (model && !has) {
        return library_refuse(error, "a model of %s predicts no %s", model->family->train->name,
                              what);
    }
    if (begin(&prediction, model, options, data, arrays->probability != NULL, error) < 0) {
        return -1;
    }
    int status = fill(&prediction, arrays, &err);
    end(&prediction);
    return status < 0 ? library_fail(error, &err) : 0;
}

int dualsvm_predict_scores(const dualsvm_model *model, const dualsvm_options *options,
                           const dualsvm_data *data, double *scores, dualsvm_error *error) {
    struct arrays arrays = {.scores = scores};
    return predict(model, options, data, &arrays, scores, true, "scores", error);
}

int dualsvm_predict_labels(const dualsvm_model *model, const dualsvm_options *options,
                           const dualsvm_data *data, uint32_t *label, dualsvm_error *error) {
    struct arrays arrays = {.label = label};
    bool has = model && model->family->predict->decide;
    return predict(model, options, data, &arrays, label, has, "labels", error);
}

int dualsvm_predict_sets(const dualsvm_model *model, const dualsvm_options *options,
                         const dualsvm_data *data, unsigned char *chosen, dualsvm_error *error) {
    struct arrays arrays = {.chosen = chosen};
    bool has = model && model->family->predict->choose;
    return predict(model, options, data, &arrays, chosen, has, "sets of labels", error);
}

int dualsvm_predict_probabilities(const dualsvm_model *model, const dualsvm_options *options,
                                  const dualsvm_data *data, double *probability,
                                  dualsvm_error *error) {
    struct arrays arrays = {.probability = probability};
    bool has = model && model->family->predict->probabilities;
    return predict(model, options, data, &arrays, probability, has, "probabilities", error);
}

/* ---- text ---- */

/* The context of write_part. */
struct writing {
    dualsvm_write write;
    void *context;
    bool stopped;
};

static int write_part(void *context, const char *bytes, size_t n) {
    struct writing *writing = context;
    if (writing->write(writing->context, bytes, n) == 0) {
        return 0;
    }
    writing->stopped = true;
    return ECANCELED;
}

/* If the options need names of rows and there are none, all names are empty. */
static int name_rows(struct test_file *test, struct data *named, struct error *err) {
    const struct predictor *predictor = test->predictor;
    if (test->rows->remark_start || !predictor->wants_comments ||
        !predictor->wants_comments(test->options)) {
        return 0;
    }
    *named = data_view(test->rows, 0, test->rows->n_rows);
    named->remark_start = memory_zeros(named->n_rows + 1, sizeof(uint64_t), "names of rows", err);
    named->remark = (char *)named->remark_start; /* a non-NULL pointer to no bytes */
    test->rows = named;
    return named->remark_start ? 0 : -1;
}

/* Writes the lines, and the files that options name; all are put in place together. */
static int write_all(struct prediction *prediction, struct writing *writing, struct error *err) {
    const struct options *options = &prediction->options->options;
    struct test_file test = test_of(prediction);
    struct data named = {0};
    const char *const *extra = test.predictor->extra_options;
    struct output *files[PREDICTOR_EXTRAS + 1] = {0};
    struct test_rows rows;
    int status = library_check_labels(prediction->data, err);
    status = status < 0 ? -1 : check(prediction, err);
    for (size_t k = 0; status == 0 && extra && extra[k]; k++) {
        if (options_given(options, extra[k])) {
            status = output_open(&files[k], options_text(options, extra[k]), err);
        }
    }
    if (status == 0) {
        status = output_open_function(&files[PREDICTOR_EXTRAS], "the predictions", write_part,
                                      writing, err);
    }
    test.extra = files;
    test.output = files[PREDICTOR_EXTRAS];
    if (status == 0) {
        status = name_rows(&test, &named, err);
    }
    if (status == 0) {
        status = test_file_predict(&test, NULL, &rows, err);
    }
    free(named.remark_start);
    return output_end_all(files, PREDICTOR_EXTRAS + 1, status, NULL, err);
}

int dualsvm_predict_text(const dualsvm_model *model, const dualsvm_options *options,
                         const dualsvm_data *data, dualsvm_write write, void *context,
                         dualsvm_error *error) {
    struct prediction prediction;
    struct error err = {0};
    struct writing writing = {.write = write, .context = context};
    if (!write) {
        return library_refuse(error, "no function to take the text");
    }
    if (begin(&prediction, model, options, data, false, error) < 0) {
        return -1;
    }
    int status = write_all(&prediction, &writing, &err);
    end(&prediction);
    if (writing.stopped) {
        status = error_set(&err, ERROR_STOPPED, "stopped");
    }
    return status < 0 ? library_fail(error, &err) : 0;
}

/* ---- measures ---- */

struct dualsvm_measures {
    struct measure *measure; /* (n) those with a value */
    double *value;
    size_t n;
};

void dualsvm_measures_free(dualsvm_measures *measures) {
    if (measures) {
        free(measures->measure);
        free(measures->value);
        free(measures);
    }
}

size_t dualsvm_measures_count(const dualsvm_measures *measures) {
    return measures ? measures->n : 0;
}

const char *dualsvm_measures_name(const dualsvm_measures *measures, size_t i) {
    return i < dualsvm_measures_count(measures) ? measures->measure[i].name : NULL;
}

double dualsvm_measures_value(const dualsvm_measures *measures, size_t i) {
    return i < dualsvm_measures_count(measures) ? measures->value[i] : (double)NAN;
}

static int measure(struct prediction *prediction, struct dualsvm_measures *made,
                   struct error *err) {
    struct test_file test = test_of(prediction);
    struct test_rows rows;
    if (library_check_labels(prediction->data, err) < 0 ||
        measures_list(test.predictor->measures, test.options, &made->measure, &made->n, err) < 0) {
        return -1;
    }
    made->value = memory_array(made->n, sizeof *made->value, "measures", err);
    if (!made->value) {
        return -1;
    }
    test.measure = made->measure;
    test.n_measures = made->n;
    if (test_file_predict(&test, made->value, &rows, err) < 0) {
        return -1;
    }
    size_t n = 0;
    for (size_t k = 0; k < made->n; k++) {
        if (!isnan(made->value[k])) {
            made->measure[n] = made->measure[k];
            made->value[n++] = made->value[k];
        }
    }
    made->n = n;
    return 0;
}

int dualsvm_measure(dualsvm_measures **measures, const dualsvm_model *model,
                    const dualsvm_options *options, const dualsvm_data *data,
                    dualsvm_error *error) {
    struct prediction prediction;
    struct error err = {0};
    if (!measures) {
        return library_refuse(error, "no place for measures");
    }
    *measures = NULL;
    if (begin(&prediction, model, options, data, false, error) < 0) {
        return -1;
    }
    struct dualsvm_measures *made = memory_zeros(1, sizeof *made, "measures", &err);
    int status = made ? measure(&prediction, made, &err) : -1;
    end(&prediction);
    if (status < 0) {
        dualsvm_measures_free(made);
        return library_fail(error, &err);
    }
    *measures = made;
    return 0;
}
