/* libdualsvm: five families of support vector machines, each fit with a certified duality gap.
 *
 *     rank   RankSVM: a score that orders the rows of a query    labels are numbers
 *     top    classification at the top: positives and negatives  labels are words, two classes
 *     mc     multi-class in one problem                          labels are words
 *     ml     multi-label Rank-SVM                                labels are sets of words
 *     smm    support matrix machines: rows are matrices          labels are words
 *
 * The programs svm-FAMILY-train and svm-FAMILY-predict stand on the same code. An option is a word
 * of theirs with its value as it would be typed ("kernel", "rbf"; "cost", "0.5"); what a model is
 * saved as is what they would write, byte for byte, and the same rows from a file or from arrays
 * give the same model. (BLAS belongs to the process, and its settings are left alone: for the same
 * last bits it has to compute as it does for the programs, which give it one thread:
 * OPENBLAS_NUM_THREADS=1.)
 *
 * A program of some lines:
 *
 *     dualsvm_options *options;
 *     dualsvm_data *data;
 *     dualsvm_model *model;
 *     dualsvm_error error;
 *     if (dualsvm_options_create(&options, "mc", DUALSVM_TRAIN, &error) < 0 ||
 *         dualsvm_options_set(options, "kernel", "rbf", &error) < 0 ||
 *         dualsvm_data_dense(&data, "mc", x, DUALSVM_DOUBLE, rows, columns, columns, 0,
 *                            &error) < 0 ||
 *         dualsvm_data_set_label_numbers(data, y, &error) < 0 ||
 *         dualsvm_train(&model, options, data, NULL, &error) < 0) { ... error.text ... }
 *
 * Contract of all functions, where theirs does not say otherwise:
 *
 * - Errors. A function that can fail returns 0, or -1 with *error filled; error may be NULL.
 *   Nothing that was to be made is then made: the pointer that was to get it is NULL. Lack of
 *   memory is such an error. Texts count rows, columns and folds from 1, the interface counts them
 *   from 0. Nothing in the library ends the process, prints, touches signals, the locale or
 *   settings of BLAS, or has state of its own.
 * - Ownership. What a function gives through a pointer to a pointer is the caller's, who ends with
 *   the type's _free; those take NULL. Texts and arrays that go in are copied, but for
 *   DUALSVM_LENT. Texts that come out are the object's they are asked of, and live as long as it
 *   does.
 * - Threads. Different objects may be used by different threads at once, and one object by several
 *   as long as none changes it: all that takes it as a pointer to const. So several threads may
 *   train on the same data with the same options at once, and predict with the same model.
 * - A size or a pointer that cannot be (NULL for an object, an unknown enumerator) is an error, of
 *   kind DUALSVM_USAGE; that arrays are as long as they are said to be is believed.
 * - Versions. The types are opaque, or say their size, and functions stay: a program that was
 *   linked with an older libdualsvm.so.0 runs with a newer one. "Since" names the version that a
 *   thing came with; all that does not say so is there since 0.1. */
#ifndef DUALSVM_H
#define DUALSVM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the library exports, if it is built so that nothing else is. */
#if defined(__GNUC__)
#define DUALSVM_API __attribute__((visibility("default")))
#else
#define DUALSVM_API
#endif

/* The version of this header, and as a number: 10000 major + 100 minor + patch. */
#define DUALSVM_VERSION "0.1"
#define DUALSVM_VERSION_NUMBER 100

/* The version of the library that runs, in the same two forms. */
DUALSVM_API const char *dualsvm_version(void);
DUALSVM_API int dualsvm_version_number(void);

/* The name of family number i, from 0; NULL behind the last. */
DUALSVM_API const char *dualsvm_family_name(size_t i);

/* ---- errors ---- */

enum {
    DUALSVM_OK = 0,
    DUALSVM_FAILED = 1, /* input, a model, a file, memory: the programs' exit code 1 */
    DUALSVM_USAGE = 2,  /* options and arguments: their exit code 2 */
    DUALSVM_STOPPED = 4 /* a callback asked to stop, and there is no result */
};

enum { DUALSVM_ERROR_TEXT = 1024 };

typedef struct dualsvm_error {
    int kind;                      /* one of the above */
    char text[DUALSVM_ERROR_TEXT]; /* one line, without its end; printable ASCII */
} dualsvm_error;

/* ---- options ---- */

/* What was asked for, of a trainer or of a predictor. */
typedef struct dualsvm_options dualsvm_options;

enum {
    DUALSVM_TRAIN = 0,  /* the options of svm-FAMILY-train */
    DUALSVM_PREDICT = 1 /* the options of svm-FAMILY-predict */
};

/* The options of a family, all at their defaults. Those that are about a program's own files and
 * words (--quiet, --log, --resume, --batch and the like) are not among them. */
DUALSVM_API int dualsvm_options_create(dualsvm_options **options, const char *family, int role,
                                       dualsvm_error *error);
/* A copy with all that was set. */
DUALSVM_API int dualsvm_options_copy(dualsvm_options **copy, const dualsvm_options *options,
                                     dualsvm_error *error);
DUALSVM_API void dualsvm_options_free(dualsvm_options *options);

/* Sets an option by its long name, or by its letter ("c"), to a value as it is typed: "2^-3",
 * "rbf", "1,10,100" or "2^-5:2^5:x4" for a list, "LABEL:W" for a weight of a label, "1" for a flag.
 * What it was set to before is replaced, but weights of labels add up. NULL: takes away all that it
 * was set to. An option that there is not, or a value that it cannot have, is an error and changes
 * nothing; what options make of one another is known when they are used. */
DUALSVM_API int dualsvm_options_set(dualsvm_options *options, const char *name, const char *value,
                                    dualsvm_error *error);
/* The same for a finite number, and for a flag, which is not set at 0. */
DUALSVM_API int dualsvm_options_set_number(dualsvm_options *options, const char *name, double value,
                                           dualsvm_error *error);

/* The value that was set, the last of several, or else the default; NULL: neither, or no such
 * option. */
DUALSVM_API const char *dualsvm_options_get(const dualsvm_options *options, const char *name);

enum {
    DUALSVM_FLAG = 0,   /* given or not */
    DUALSVM_NUMBER = 1, /* a number from low to high */
    DUALSVM_COUNT = 2,  /* a whole one */
    DUALSVM_CHOICE = 3, /* one of choices, by name or by number from 0 */
    DUALSVM_TEXT = 4,   /* any text that is not empty: mostly the path of a file */
    DUALSVM_WINDOW = 5, /* LOW:HIGH, whole numbers; HIGH may be inf */
    DUALSVM_WEIGHTS = 6 /* LABEL:W, W > 0, any number of times */
};

/* What an option is. All texts live as long as the library is loaded. */
typedef struct dualsvm_option {
    const char *name;    /* the long one */
    char letter;         /* the short one; 0: none */
    int type;            /* DUALSVM_FLAG .. DUALSVM_WEIGHTS */
    int is_list;         /* takes several values: of a sweep's points, or of measures */
    const char *initial; /* the default, as it would be typed; NULL: none */
    const char *absent;  /* what holds without it where there is no default, in words; or NULL */
    const char *value;   /* what help calls the value, "C"; NULL for flags */
    const char *help;    /* a paragraph */
    const char *const *choices;  /* of DUALSVM_CHOICE, NULL at the end; else NULL. An empty one is
                                    withdrawn: the others keep their numbers */
    const char *const *meanings; /* of each choice, NULL at the end; or NULL */
    double low, high;            /* of numbers, counts and windows; low >= high: no bounds */
    int low_excluded;            /* numbers are above low */
} dualsvm_option;

/* Fills *option, of `size` bytes (sizeof(dualsvm_option)), with what option number i, from 0, is.
 * Returns 1; 0 behind the last one. */
DUALSVM_API int dualsvm_options_describe(const dualsvm_options *options, size_t i,
                                         dualsvm_option *option, size_t size);

/* ---- data ---- */

/* Rows of features, with labels, queries and weights. Values are held in single precision, as the
 * programs hold them: the problem that is solved and certified is that of the rounded values. A
 * zero is a value that is not stored. Making data is not atomic: labels and the like are set before
 * the data are used. */
typedef struct dualsvm_data dualsvm_data;

enum { DUALSVM_FLOAT = 0, DUALSVM_DOUBLE = 1 }; /* types of values */
enum { DUALSVM_INT32 = 0, DUALSVM_INT64 = 1 };  /* types of indices, signed */

/* The caller keeps the array of values as it is until the data are freed: where the layout allows
 * it, it is used in place. That is where values are floats; of dense rows, where these have no gap
 * between them (stride = columns), the last column is not all 0, and more than half of all values
 * are not 0 (else less memory is taken by a copy without the zeros); of CSR where no stored value
 * is 0. Elsewhere it is copied, as without it. */
enum { DUALSVM_LENT = 1 };

/* Reads rows of svmlight text, plain or gzip, as the programs do. options: of a trainer or a
 * predictor, whose family says what labels are; with "kernel" "precomputed" rows begin with
 * 0:serial. Folds and weights of rows are not part of the file. */
DUALSVM_API int dualsvm_data_read(dualsvm_data **data, const dualsvm_options *options,
                                  const char *path, dualsvm_error *error);

/* Rows of a dense array: value (i,j) is values[i * stride + j], 0 <= i < rows, 0 <= j < columns, of
 * `type`. rows and columns are below 2^32 - 1. Values that are not finite, or too large for single
 * precision, are errors. flags: 0 or DUALSVM_LENT. Feature j is the file's index j + 1. */
DUALSVM_API int dualsvm_data_dense(dualsvm_data **data, const char *family, const void *values,
                                   int type, size_t rows, size_t columns, size_t stride,
                                   unsigned flags, dualsvm_error *error);

/* Rows of a compressed sparse matrix: row i has values[k] in column index[k], from 0, for k of
 * start[i] .. start[i+1]-1; columns increase within a row. start (rows + 1) and index are of
 * index_type, values of value_type. */
DUALSVM_API int dualsvm_data_csr(dualsvm_data **data, const char *family, const void *start,
                                 const void *index, int index_type, const void *values,
                                 int value_type, size_t rows, size_t columns, unsigned flags,
                                 dualsvm_error *error);
DUALSVM_API void dualsvm_data_free(dualsvm_data *data);

/* Number of rows, and the largest index at which a value is stored: what a file would tell. */
DUALSVM_API size_t dualsvm_data_rows(const dualsvm_data *data);
DUALSVM_API size_t dualsvm_data_features(const dualsvm_data *data);

/* Labels, in place of those there were; a function that fails leaves these.
 *
 * Numbers: label (rows). In rank they are the targets, and NaN is a row without one; in the others
 * the label is the number's shortest decimal as a word (1, -1, 2.5), and NaN is a row without a
 * label (ml: of no labels). Infinities are errors. */
DUALSVM_API int dualsvm_data_set_label_numbers(dualsvm_data *data, const double *label,
                                               dualsvm_error *error);
/* Words: label (rows), NULL or "" for a row without; in rank words must be numbers, in ml a word
 * may be several labels with commas between. Blanks, commas (but in ml), colons, # and line ends,
 * which a file could not have there, are errors. */
DUALSVM_API int dualsvm_data_set_label_words(dualsvm_data *data, const char *const *label,
                                             dualsvm_error *error);
/* Numbers of words: row i has the labels name[label[k]], start[i] <= k < start[i+1]; or where start
 * is NULL the one label name[label[i]], of which UINT32_MAX is none. start (rows + 1); name
 * (names); several labels are for ml alone. Not for rank. */
DUALSVM_API int dualsvm_data_set_label_codes(dualsvm_data *data, const uint64_t *start,
                                             const uint32_t *label, const char *const *name,
                                             size_t names, dualsvm_error *error);

/* The query of each row (rows), a number below 2^63, or a word; rows of one query need not stand
 * together. */
DUALSVM_API int dualsvm_data_set_queries(dualsvm_data *data, const uint64_t *query,
                                         dualsvm_error *error);
DUALSVM_API int dualsvm_data_set_query_words(dualsvm_data *data, const char *const *query,
                                             dualsvm_error *error);

/* Weights of rows (rows), of 0 or more: a row of weight 2 is as good as two equal rows. For
 * families whose trainer has --row-weights; training with others fails. NULL: takes them away. */
DUALSVM_API int dualsvm_data_set_weights(dualsvm_data *data, const double *weight,
                                         dualsvm_error *error);

/* The folds of cross-validation, in place of those that "folds" deals: row i is held out by
 * fold[i], below folds, or where that is UINT32_MAX by none. Each fold holds out a row at least.
 * NULL: takes them away. */
DUALSVM_API int dualsvm_data_set_folds(dualsvm_data *data, const uint32_t *fold, size_t folds,
                                       dualsvm_error *error);

/* Says that values are those of a kernel with the training rows, for "kernel" "precomputed": value
 * (i,j) is k(x_i, t_j), t_j being training row number j + 1 where serial is NULL, so for training
 * rows themselves; serial (rows): the number of each row, which is that of its own column. For rows
 * that are only predicted the numbers do not matter: NULL. */
DUALSVM_API int dualsvm_data_set_precomputed(dualsvm_data *data, const uint64_t *serial,
                                             dualsvm_error *error);

/* ---- training ---- */

typedef struct dualsvm_model dualsvm_model;
typedef struct dualsvm_table dualsvm_table;

/* A look at a fit that is under way. */
typedef struct dualsvm_progress {
    size_t size; /* of this struct, as the library has it */
    uint64_t iteration;
    double primal, dual; /* the bounds known so far; dual may be -infinity */
    double gap;          /* relative: (primal - dual) / primal */
    double seconds;      /* since this solver began */
} dualsvm_progress;

/* Who is told what happens. Functions may be NULL. They are called from threads of the library's
 * own, never two at once, mostly within the call that they were given to; they must not use the
 * objects of that call but through pointers to const. */
typedef struct dualsvm_watch {
    size_t size; /* sizeof(dualsvm_watch) */
    void *context;
    /* Each check of a solver, once an iteration or so. Returns 0 to go on. Else the solver stops: a
     * fit then ends with the best it has, not converged, by reason "interrupted"; cross-validation
     * and sweeps fail with DUALSVM_STOPPED. */
    int (*progress)(void *context, const dualsvm_progress *progress);
    /* A row of a table is known: number `row` of it. Rows come in the order of the table. Returns 0
     * to go on; else the call fails with DUALSVM_STOPPED. */
    int (*row)(void *context, const dualsvm_table *table, size_t row);
    /* A warning or a note for the user, one line without its end: "warning: not converged: ...". */
    void (*message)(void *context, const char *text);
} dualsvm_watch;

/* Fits a model to all rows: svm-FAMILY-train FILE MODEL. watch may be NULL. Options that are lists
 * or want folds are errors. A fit that ends before it reaches "epsilon", be it by "max-iter" or
 * "max-time", is no error: its report says so. "max-time" is looked at by the solver: the call may
 * take longer, where the programs leave a solver to itself. */
DUALSVM_API int dualsvm_train(dualsvm_model **model, const dualsvm_options *options,
                              const dualsvm_data *data, const dualsvm_watch *watch,
                              dualsvm_error *error);

/* Cross-validates at each point that the options' lists span, by "folds", "fold-file", "validate"
 * or dualsvm_data_set_folds: a table with a row for each point. */
DUALSVM_API int dualsvm_cross_validate(dualsvm_table **table, const dualsvm_options *options,
                                       const dualsvm_data *data, const dualsvm_watch *watch,
                                       dualsvm_error *error);

/* The same, and fits the best point, by "select", to all rows. */
DUALSVM_API int dualsvm_sweep(dualsvm_table **table, dualsvm_model **model,
                              const dualsvm_options *options, const dualsvm_data *data,
                              const dualsvm_watch *watch, dualsvm_error *error);

/* ---- tables ---- */

/* The table of a sweep, as the programs write it: columns "point", those of the options that were
 * given, a measure and its standard deviation over folds (NAME, NAME-sd) each, "gap", "seconds",
 * "run". */
DUALSVM_API void dualsvm_table_free(dualsvm_table *table);
DUALSVM_API size_t dualsvm_table_rows(const dualsvm_table *table); /* that are known */
DUALSVM_API size_t dualsvm_table_columns(const dualsvm_table *table);
DUALSVM_API const char *dualsvm_table_name(const dualsvm_table *table, size_t column);
/* The number of the column of that name; SIZE_MAX: there is none. */
DUALSVM_API size_t dualsvm_table_find(const dualsvm_table *table, const char *name);
/* A cell as it is written, "" where there is nothing; and as a number, NaN where it is none. */
DUALSVM_API const char *dualsvm_table_text(const dualsvm_table *table, size_t row, size_t column);
DUALSVM_API double dualsvm_table_number(const dualsvm_table *table, size_t row, size_t column);
/* The row of the best point; SIZE_MAX: not known yet. */
DUALSVM_API size_t dualsvm_table_best(const dualsvm_table *table);

/* ---- models ---- */

/* Releases a model, and with it every text, array of bytes and name that it has handed out. NULL is
 * allowed. */
DUALSVM_API void dualsvm_model_free(dualsvm_model *model);

/* Writes the model to a file, as gzip if its name ends in ".gz": whole, or not at all and what was
 * there stays. */
DUALSVM_API int dualsvm_model_save(const dualsvm_model *model, const char *path,
                                   dualsvm_error *error);
/* Reads a model of a family. NULL: of any. */
DUALSVM_API int dualsvm_model_load(dualsvm_model **model, const char *family, const char *path,
                                   dualsvm_error *error);

/* The bytes of the file without gzip, *size of them, which are the model's. */
DUALSVM_API const void *dualsvm_model_bytes(const dualsvm_model *model, size_t *size);
/* Reads a model from bytes, plain or gzip, which are not needed afterwards. */
DUALSVM_API int dualsvm_model_from_bytes(dualsvm_model **model, const char *family,
                                         const void *bytes, size_t size, dualsvm_error *error);

/* The name of its family, "rank", "top", "mc", "ml" or "smm"; static, not the caller's to free. */
DUALSVM_API const char *dualsvm_model_family(const dualsvm_model *model);

/* The value of a line `key value` of the model's header, as text (doc/formats.md lists them:
 * "formulation", "kernel", "cost", "features", "labels", ...). NULL: there is none. */
DUALSVM_API const char *dualsvm_model_value(const dualsvm_model *model, const char *key);

/* Scores of a row: 1, or one for each label; 0 for a model of pair features, which scores pairs of
 * rows. */
DUALSVM_API size_t dualsvm_model_scores(const dualsvm_model *model);
/* Features of the training rows: the largest index. */
DUALSVM_API size_t dualsvm_model_features(const dualsvm_model *model);
/* Rows that the model is made of; 0 for a linear one, which has weights. */
DUALSVM_API size_t dualsvm_model_support_vectors(const dualsvm_model *model);
/* Labels that it knows, 0 in rank, and label number i, NULL where there is none. Of two labels in
 * one score those of smm are (negative, positive), those of top (positive, negative). */
DUALSVM_API size_t dualsvm_model_labels(const dualsvm_model *model);
DUALSVM_API const char *dualsvm_model_label(const dualsvm_model *model, size_t i);

/* weights (features, scores) row-major of a linear model, and bias (scores), 0 where there is none:
 * score k of a row is bias[k] + sum_j x_j weights[j * scores + k], x being the scaled row. Either
 * may be NULL. Fails for other models. */
DUALSVM_API int dualsvm_model_weights(const dualsvm_model *model, double *weights, double *bias,
                                      dualsvm_error *error);

/* What is known of a fit. */
typedef struct dualsvm_report {
    double primal,
        dual;      /* dual <= optimum <= primal; dual is NaN where nothing bounds the optimum */
    double gap;    /* (primal - dual) / primal; NaN likewise */
    int certified; /* 1: the bounds are proved; 0: the problem is not convex, or not known to be, or
                      the bounds contradict each other: then primal may be false, dual and gap are
                      NaN, and reason says so */
    int converged; /* 1: what was asked for is reached; 0: not; -1: not known, of a loaded model */
    uint64_t iterations;
    double seconds;     /* of kernel values and solver; 0 of a loaded model */
    const char *reason; /* why it is not converged, a phrase; else "" */
    const char *
        lines; /* what the trainer prints of the fit, without seconds: lines `name = value`; "" of a
                           loaded model */
} dualsvm_report;

/* Fills *report, of `size` bytes (sizeof(dualsvm_report)). */
DUALSVM_API void dualsvm_model_report(const dualsvm_model *model, dualsvm_report *report,
                                      size_t size);

/* ---- prediction ---- */

/* options: of the predictor of the model's family, NULL for its defaults ("threads" and what
 * decides labels). Features that the training rows did not have count for nothing in a linear
 * model.
 *
 * scores (rows, dualsvm_model_scores) row-major. */
DUALSVM_API int dualsvm_predict_scores(const dualsvm_model *model, const dualsvm_options *options,
                                       const dualsvm_data *data, double *scores,
                                       dualsvm_error *error);
/* label (rows): the number of each row's label among the model's. top, mc, smm. */
DUALSVM_API int dualsvm_predict_labels(const dualsvm_model *model, const dualsvm_options *options,
                                       const dualsvm_data *data, uint32_t *label,
                                       dualsvm_error *error);
/* chosen (rows, dualsvm_model_labels) row-major: 1 where a row has the label, else 0. ml. */
DUALSVM_API int dualsvm_predict_sets(const dualsvm_model *model, const dualsvm_options *options,
                                     const dualsvm_data *data, unsigned char *chosen,
                                     dualsvm_error *error);
/* probability (rows, dualsvm_model_labels) row-major, of models that were trained with
 * "probability" "1". mc. */
DUALSVM_API int dualsvm_predict_probabilities(const dualsvm_model *model,
                                              const dualsvm_options *options,
                                              const dualsvm_data *data, double *probability,
                                              dualsvm_error *error);

/* All that the predictor writes for these rows, by its options ("order", "pairs", "scores", ...):
 * lines, bit by bit, to a function that returns 0, or what ends it (DUALSVM_STOPPED). Files that
 * options name ("roc", "confusion") are written, too. */
typedef int (*dualsvm_write)(void *context, const char *text, size_t size);
DUALSVM_API int dualsvm_predict_text(const dualsvm_model *model, const dualsvm_options *options,
                                     const dualsvm_data *data, dualsvm_write write, void *context,
                                     dualsvm_error *error);

/* The predictor's measures of the rows by their labels, those that the rows define: a list of name
 * and value. */
typedef struct dualsvm_measures dualsvm_measures;
DUALSVM_API int dualsvm_measure(dualsvm_measures **measures, const dualsvm_model *model,
                                const dualsvm_options *options, const dualsvm_data *data,
                                dualsvm_error *error);
DUALSVM_API void dualsvm_measures_free(dualsvm_measures *measures);
DUALSVM_API size_t dualsvm_measures_count(const dualsvm_measures *measures);
DUALSVM_API const char *dualsvm_measures_name(const dualsvm_measures *measures, size_t i);
DUALSVM_API double dualsvm_measures_value(const dualsvm_measures *measures, size_t i);

#ifdef __cplusplus
}
#endif

#endif
