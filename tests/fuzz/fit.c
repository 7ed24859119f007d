/* Fuzz target: small complete fits, with arbitrary bytes as options and rows. A fit ends with a
 * model or a one-line error; a certified model has D <= P, its proof is not refuted (svm-check
 * shares no arithmetic with the solvers), and the bounds of every solver of the family contain the
 * same optimum. Rows are predicted, too. The first byte selects the family and, divided by their
 * number, the second solver; the first line after it has the options, separated by blanks; the rest
 * are rows. */
#define _GNU_SOURCE /* memfd_create */
#include "check/check.h"
#include "common/base/output.h"
#include "driver/blas_start.h"
#include "driver/predict.h"
#include "driver/train.h"
#include "tests/fuzz/families.h"
#include "tests/fuzz/file.h"

#include <fcntl.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MOST_WORDS = 24, MOST_FITS = 20, MOST_FEATURES = 1000, PATH_BYTES = 64 };

static char folder[] = "/dev/shm/fuzz-XXXXXX";
static char model_path[PATH_BYTES], proof_path[PATH_BYTES];

static void clean(void) {
    unlink(model_path);
    unlink(proof_path);
    rmdir(folder);
}

/* Once: creates a folder in memory for the outputs, and silences standard output. */
static void start(void) {
    static bool started;
    if (!started) {
        started = true;
        blas_start();
        fuzz_demand(mkdtemp(folder) != NULL);
        snprintf(model_path, sizeof model_path, "%s/model", folder);
        snprintf(proof_path, sizeof proof_path, "%s/proof", folder);
        atexit(clean);
        fuzz_demand(dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) >= 0);
    }
}

/* The command line of the trainer. */
struct request {
    const struct family *family;
    char *word[MOST_WORDS]; /* (n_words) */
    int n_words;
    char *rows;         /* path */
    const char *solver; /* NULL: as in the words */
    bool proof;
};

/* True if the words may be run: no other files, which would be those of this machine, and no sweeps
 * or limits that are slow by design. */
static bool is_small(const struct options *options) {
    double fits = (double)options->n_points;
    for (size_t i = 0; i < options->n; i++) {
        const struct option *option = &options->option[i];
        if (option->given && option->spec.kind == OPTION_TEXT &&
            strcmp(option->spec.name, "select") != 0) {
            return false;
        }
    }
    if (options_given(options, "folds")) {
        fits *= options_number(options, "folds");
    }
    return fits <= MOST_FITS && !options_given(options, "help") &&
           !options_given(options, "version");
}

/* 1: a model was written; 0: the rows or options were refused, or no model was requested; -1: not
 * run. */
static int train(const struct request *request, size_t *n_points) {
    char *argv[MOST_WORDS + 16] = {"fuzz"};
    int argc = 1;
    argv[argc++] = request->rows;
    argv[argc++] = model_path;
    for (int i = 0; i < request->n_words; i++) {
        argv[argc++] = request->word[i];
    }
    struct options options = {0};
    struct error err = {.kind = ERROR_NONE, .text = ""};
    fuzz_demand(train_options(&options, request->family, &err) == 0);
    if (options_parse(&options, argc, argv, &err) < 0 || !is_small(&options)) {
        options_free(&options);
        return -1;
    }
    options_free(&options);
    const char *const own[] = {"--threads=2", "--max-time=2", "--quiet"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        argv[argc++] = (char *)own[i];
    }
    char solver[PATH_BYTES], proof[PATH_BYTES + 8];
    if (request->solver) {
        snprintf(solver, sizeof solver, "--solver=%s", request->solver);
        argv[argc++] = solver;
    }
    if (request->proof) {
        snprintf(proof, sizeof proof, "--proof=%s", proof_path);
        argv[argc++] = proof;
    }
    unlink(model_path);
    unlink(proof_path);
    static const struct output_sink silence = {.write = NULL};
    struct train_end end = {.abandoned = false};
    fuzz_demand(train_options(&options, request->family, &err) == 0);
    int status = options_parse(&options, argc, argv, &err);
    *n_points = options.n_points;
    if (status == 0) {
        status =
            train_run(request->family, &options, "fuzz", &silence, NULL, NULL, NULL, &end, &err);
    }
    fuzz_demand_told(status, &err);
    if (!end.abandoned) { /* otherwise they are those of the solver that continues */
        options_free(&options);
    }
    return status == 0 && access(model_path, R_OK) == 0;
}

/* The bounds of the model that was written; false if it claims none. */
static bool bounds(const struct predictor *predictor, double *dual, double *primal) {
    struct model model = {0};
    struct error err = {.kind = ERROR_NONE, .text = ""};
    fuzz_demand(
        model_read(&model, predictor->name, predictor->model_keys, false, model_path, &err) == 0);
    *dual = model.dual;
    *primal = model.primal;
    bool certified = model.certified;
    model_free(&model);
    fuzz_demand(!certified || (*dual >= 0 && *dual <= *primal));
    return certified;
}

static void predict(const struct predictor *predictor, char *rows) {
    char *argv[] = {"fuzz", rows, model_path, "/dev/null", "--quiet", "--threads=2", NULL};
    const struct output_sink silence = {.write = NULL};
    struct options options = {0};
    struct error err = {.kind = ERROR_NONE, .text = ""};
    fuzz_demand(predict_options(&options, predictor, &err) == 0 &&
                options_parse(&options, 6, argv, &err) == 0);
    fuzz_demand_told(predict_run(predictor, &options, "fuzz", &silence, NULL, &err), &err);
    options_free(&options);
}

static void check_proof(const char *rows) {
    const char *const paths[3] = {rows, model_path, proof_path};
    struct error err = {.kind = ERROR_NONE, .text = ""};
    struct output *output;
    int code = CHECK_UNKNOWN;
    fuzz_demand(output_open(&output, "-", &err) == 0);
    int status = check_files(paths, 2, output, &code, &err);
    output_discard(output);
    if (status < 0 || code == CHECK_REFUTED) {
        fprintf(stderr, "the proof: %s\n", status < 0 ? err.text : "refuted");
        abort();
    }
}

/* Fits as requested, then with another solver, then for the proof. */
static void try_fits(struct request *request, size_t choice) {
    const struct predictor *predictor = fuzz_predictors[choice % FUZZ_FAMILIES];
    double dual, primal, other_dual, other_primal;
    size_t n_solvers = 0, n_points;
    if (train(request, &n_points) != 1) {
        return;
    }
    bool certified = bounds(predictor, &dual, &primal);
    predict(predictor, request->rows);
    while (request->family->solvers && request->family->solvers[n_solvers]) {
        n_solvers++;
    }
    /* solvers may choose different points of a sweep */
    if (certified && n_points == 1 && n_solvers > 1) {
        request->solver = request->family->solvers[choice / FUZZ_FAMILIES % n_solvers];
        if (train(request, &n_points) == 1 && bounds(predictor, &other_dual, &other_primal) &&
            !(dual <= other_primal && other_dual <= primal)) {
            fprintf(stderr, "[%.17g, %.17g] and [%.17g, %.17g] with %s\n", dual, primal, other_dual,
                    other_primal, request->solver);
            abort();
        }
        request->solver = NULL;
    }
    request->proof = true;
    if (certified && train(request, &n_points) == 1 && access(proof_path, R_OK) == 0) {
        check_proof(request->rows);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const uint8_t *newline = size > 0 ? memchr(bytes + 1, '\n', size - 1) : NULL;
    if (!newline) {
        return 0;
    }
    start();
    char path[FUZZ_PATH], *line = strndup((const char *)bytes + 1, (size_t)(newline - bytes - 1));
    fuzz_demand(line != NULL);
    fuzz_file(0, newline + 1, (size_t)(bytes + size - newline - 1), path);
    struct request request = {.family = fuzz_families[(bytes[0] & 0x7f) % FUZZ_FAMILIES],
                              .rows = path};
    char *rest = line, *word;
    while (request.n_words < MOST_WORDS && (word = strsep(&rest, " ")) != NULL) {
        if (*word) {
            request.word[request.n_words++] = word;
        }
    }
    try_fits(&request, bytes[0] & 0x7f);
    free(line);
    return 0;
}
