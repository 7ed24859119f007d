/* libdualsvm: five families of support vector machines, each fit with a certified duality gap.
 *
 *     rank   RankSVM: a score that orders the rows of a query    labels are numbers
 *     top    classification at the top: positives and negatives  labels are words, two classes
 *     mc     multi-class in one problem                          labels are words
 *     ml     multi-label Rank-SVM                                labels are sets of words
 *     smm    support matrix machines: rows are matrices          labels are words
 *
 * The programs svm-FAMILY-train and svm-FAMILY-predict use the same code. An option has the name
 * and the value of the command line ("kernel", "rbf"; "cost", "0.5"). A saved model is identical to
 * that of the program, byte for byte, and the same rows from a file or from arrays give the same
 * model.
 * (The library does not change the settings of BLAS. For identical last bits BLAS must use one
 * thread, as in the programs: OPENBLAS_NUM_THREADS=1.)
 *
 * Example:
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
 * Unless stated otherwise, all functions follow these rules:
 *
 * - Errors. A function that can fail returns 0, or -1 with *error filled; error may be NULL. On
 *   failure nothing is created, and the pointer for the result is NULL. Running out of memory
 *   is such an error. Messages count rows, columns and folds from 1, the interface counts them from
 *   0. The library does not end the process, print, handle signals, change the locale or settings
 *   of BLAS, or keep global state.
 * - Ownership. An object returned through a pointer to a pointer belongs to the caller, who
 *   releases it with the _free function of its type; these accept NULL. Texts and arrays passed to
 *   a function are copied, except with DUALSVM_LENT. Texts that are returned belong to the object
 *   and live as long as it does.
 * - Threads. Different objects may be used by different threads at once. One object may be used by
 *   several threads as long as none modifies it: functions that take it as a pointer to const. So
 *   several threads may train on the same data with the same options, and predict with one model.
 * - Invalid arguments (NULL for an object, an unknown enumerator) are errors of kind DUALSVM_USAGE.
 *   The lengths of arrays cannot be checked.
 * - Versions. Types are opaque or contain their size, and functions are not removed: a program that
 *   was linked with an older libdualsvm.so.0 runs with a newer one. "Since" states the version that
 *   introduced an item; items without it exist since 0.1. */
#ifndef DUALSVM_H
#define DUALSVM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Exports a function from the library, in which all other symbols are hidden. */
#if defined(__GNUC__)
#define DUALSVM_API __attribute__((visibility("default")))
#else
#define DUALSVM_API
#endif

/* The version of this header, and as a number: 10000 major + 100 minor + patch. */
#define DUALSVM_VERSION "0.1"
#define DUALSVM_VERSION_NUMBER 100

/* The version of the library at run time, in the same two forms. */
DUALSVM_API const char *dualsvm_version(void);
DUALSVM_API int dualsvm_version_number(void);

/* The name of family number i, from 0; NULL after the last. */
DUALSVM_API const char *dualsvm_family_name(size_t i);

/* ---- errors ---- */

enum {
    DUALSVM_OK = 0,
    DUALSVM_FAILED = 1, /* input, model, file or memory: exit code 1 of the programs */
    DUALSVM_USAGE = 2,  /* options and arguments: exit code 2 of the programs */
    DUALSVM_STOPPED = 4 /* a callback stopped the call, which has no result */
};

enum { DUALSVM_ERROR_TEXT = 1024 };

typedef struct dualsvm_error {
    int kind;                      /* one of the values above */
    char text[DUALSVM_ERROR_TEXT]; /* one line without its end; printable ASCII */
} dualsvm_error;

/* ---- options ---- */

/* The options of a trainer, a predictor or another program. */
typedef struct dualsvm_options dualsvm_options;

enum {
    DUALSVM_TRAIN = 0,     /* the options of svm-FAMILY-train */
    DUALSVM_PREDICT = 1,   /* the options of svm-FAMILY-predict */
    DUALSVM_CANDIDATES = 2 /* the options of svm-rank-candidates, of the family rank only */
};

/* Creates the options of a family with their defaults. Options about the output of a program
 * (--quiet, --log, --resume, --batch and the like) are not among them; nor, for
 * DUALSVM_CANDIDATES, are those of its other files (--truth, --standards), and lists. */
DUALSVM_API int dualsvm_options_create(dualsvm_options **options, const char *family, int role,
                                       dualsvm_error *error);
/* Copies options with the values that were set. */
DUALSVM_API int dualsvm_options_copy(dualsvm_options **copy, const dualsvm_options *options,
                                     dualsvm_error *error);
DUALSVM_API void dualsvm_options_free(dualsvm_options *options);

/* Sets an option by its long name, or by its letter ("c"), to a value as it is typed: "2^-3",
 * "rbf", "1,10,100" or "2^-5:2^5:x4" for a list, "LABEL:W" for a label weight, "1" for a flag. The
 * value replaces a previous one; label weights accumulate. NULL removes what was set. An unknown
 * option or an invalid value is an error and changes nothing. Inconsistent combinations are
 * reported when the options are used. */
DUALSVM_API int dualsvm_options_set(dualsvm_options *options, const char *name, const char *value,
                                    dualsvm_error *error);
/* Sets an option to a finite number; a flag is set by 1 and removed by 0. */
DUALSVM_API int dualsvm_options_set_number(dualsvm_options *options, const char *name, double value,
                                           dualsvm_error *error);

/* The value that was set last, or the default; NULL: neither, or no such option. */
DUALSVM_API const char *dualsvm_options_get(const dualsvm_options *options, const char *name);

enum {
    DUALSVM_FLAG = 0,   /* given or not */
    DUALSVM_NUMBER = 1, /* a number from low to high */
    DUALSVM_COUNT = 2,  /* a whole number */
    DUALSVM_CHOICE = 3, /* one of choices, by name or by index from 0 */
    DUALSVM_TEXT = 4,   /* any nonempty text, usually a path */
    DUALSVM_WINDOW = 5, /* LOW:HIGH, whole numbers; HIGH may be inf */
    DUALSVM_WEIGHTS = 6 /* LABEL:W, W > 0, any number of times */
};

/* The description of an option. All texts live as long as the library is loaded. */
typedef struct dualsvm_option {
    const char *name;    /* long name */
    char letter;         /* letter of the short option; 0: none */
    int type;            /* DUALSVM_FLAG .. DUALSVM_WEIGHTS */
    int is_list;         /* takes a list: points of a sweep, or parameters of measures */
    const char *initial; /* the default, as it would be typed; NULL: none */
    const char *absent;  /* in words, what holds if it is not given and has no default; or NULL */
    const char *value;   /* name of the value in --help, such as "C"; NULL for most flags */
    const char *help;    /* one paragraph */
    /* of DUALSVM_CHOICE, ended by NULL; else NULL. "" is a withdrawn choice, which keeps the
     * numbers of the others */
    const char *const *choices;
    const char *const *meanings; /* description of each choice, ended by NULL; or NULL */
    double low, high;            /* bounds of numbers, counts and windows; low >= high: none */
    int low_excluded;            /* values must be above low */
} dualsvm_option;

/* Fills *option, of `size` bytes (sizeof(dualsvm_option)), with the description of option number i,
 * from 0. Returns 1; 0 after the last. */
DUALSVM_API int dualsvm_options_describe(const dualsvm_options *options, size_t i,
                                         dualsvm_option *option, size_t size);

/* ---- data ---- */

/* Rows of features, with labels, queries and weights. Values are stored in single precision, as in
 * the programs: the problem that is solved and certified is that of the rounded values. Zeros are
 * not stored. Labels, queries, weights and folds are set after creation, before the data are
 * used. */
typedef struct dualsvm_data dualsvm_data;

enum { DUALSVM_FLOAT = 0, DUALSVM_DOUBLE = 1 }; /* types of values */
enum { DUALSVM_INT32 = 0, DUALSVM_INT64 = 1 };  /* types of indices, signed */

/* DUALSVM_LENT: the caller keeps the array of values unchanged until the data are freed, and it is
 * used in place if possible. This requires values of type float; for dense rows that they are
 * contiguous (stride = columns), the last column is not all 0, and more than half of the values are
 * nonzero (otherwise sparse storage takes less memory); for CSR that no stored value is 0.
 * Otherwise the values are copied, as without the flag. */
enum { DUALSVM_LENT = 1 };

/* Reads rows of svmlight text, plain or gzip, as the programs do. options: of a trainer or a
 * predictor, whose family defines the labels, or of candidates, whose labels may be nan and -inf;
 * with "kernel" "precomputed" rows begin with 0:serial. Folds and row weights are not part of the
 * file. */
DUALSVM_API int dualsvm_data_read(dualsvm_data **data, const dualsvm_options *options,
                                  const char *path, dualsvm_error *error);

/* The rows and labels of data, in arrays of the data, which live until the data are changed or
 * freed. Zeros may be stored. */
typedef struct dualsvm_rows {
    size_t rows, features; /* features: the largest index of a stored value */
    /* Row i has value[k] in column index[k] for start[i] <= k < start[i+1]; columns increase within
     * a row. start and index NULL: dense, value (rows, columns) row-major. Column j has the index
     * feature[j] + 1 in files, NULL: j + 1. */
    size_t columns;
    const uint32_t *feature; /* (columns) */
    const uint64_t *start;   /* (rows + 1) */
    const uint32_t *index;
    const float *value;
    /* The labels, one of three: number (rows), NaN for a row without label, in rank; the name
     * name[label[i]], or none if label[i] is UINT32_MAX; in ml the names label[k], label_start[i]
     * <= k < label_start[i+1]. */
    const double *number;
    const uint64_t *label_start; /* (rows + 1) */
    const uint32_t *label;
    const char *const *name; /* (names) */
    size_t names;
    /* (rows) the number of the query, or from 2^63 on 2^63 + k for the word query_name[k]; NULL: no
     * row has a query. Rows without one have 0. */
    const uint64_t *query;
    const char *const *query_name; /* (query_names) */
    size_t query_names;
} dualsvm_rows;

/* Fills *rows, of `size` bytes (sizeof(dualsvm_rows)). */
DUALSVM_API void dualsvm_data_view(const dualsvm_data *data, dualsvm_rows *rows, size_t size);

/* Creates data from a dense array: value (i,j) is values[i * stride + j], 0 <= i < rows, 0 <= j <
 * columns, of `type`. rows and columns are below 2^32 - 1. Values that are not finite, or too large
 * for single precision, are errors. flags: 0 or DUALSVM_LENT. Feature j has index j + 1 in
 * files. */
DUALSVM_API int dualsvm_data_dense(dualsvm_data **data, const char *family, const void *values,
                                   int type, size_t rows, size_t columns, size_t stride,
                                   unsigned flags, dualsvm_error *error);

/* Creates data from a compressed sparse matrix: row i has values[k] in column index[k], from 0, for
 * start[i] <= k < start[i+1]; columns increase within a row. start (rows + 1) and index are of
 * index_type, values of value_type. */
DUALSVM_API int dualsvm_data_csr(dualsvm_data **data, const char *family, const void *start,
                                 const void *index, int index_type, const void *values,
                                 int value_type, size_t rows, size_t columns, unsigned flags,
                                 dualsvm_error *error);
DUALSVM_API void dualsvm_data_free(dualsvm_data *data);

/* The number of rows, and the largest index of a stored value. */
DUALSVM_API size_t dualsvm_data_rows(const dualsvm_data *data);
DUALSVM_API size_t dualsvm_data_features(const dualsvm_data *data);

/* Labels replace previous ones; a function that fails leaves these unchanged.
 *
 * Numbers: label (rows). In rank they are the targets, and NaN is a row without target. In the
 * other families the label is the number's shortest decimal as a word (1, -1, 2.5), and NaN is a
 * row without label (ml: without labels). Infinities are errors, except that in rank candidates may
 * have -INFINITY (dualsvm_rank_candidates): training, measures and texts refuse it. */
DUALSVM_API int dualsvm_data_set_label_numbers(dualsvm_data *data, const double *label,
                                               dualsvm_error *error);
/* Words: label (rows), NULL or "" for a row without label. In rank words must be numbers; in ml a
 * word may be several labels with commas between them. Characters that a label in a file could not
 * contain are errors: blanks, commas (except in ml), colons, # in front and line ends. */
DUALSVM_API int dualsvm_data_set_label_words(dualsvm_data *data, const char *const *label,
                                             dualsvm_error *error);
/* Indices into names: row i has the labels name[label[k]], start[i] <= k < start[i+1]; if start is
 * NULL the single label name[label[i]], or none if label[i] is UINT32_MAX. start (rows + 1); name
 * (names). Several labels per row are for ml only. Not for rank. */
DUALSVM_API int dualsvm_data_set_label_codes(dualsvm_data *data, const uint64_t *start,
                                             const uint32_t *label, const char *const *name,
                                             size_t names, dualsvm_error *error);

/* The query of each row (rows), a number below 2^63 or a word; rows of a query need not be
 * adjacent. */
DUALSVM_API int dualsvm_data_set_queries(dualsvm_data *data, const uint64_t *query,
                                         dualsvm_error *error);
DUALSVM_API int dualsvm_data_set_query_words(dualsvm_data *data, const char *const *query,
                                             dualsvm_error *error);

/* Row weights (rows), 0 or more: a row of weight 2 is equivalent to two equal rows. Training fails
 * in families whose trainer has no --row-weights. NULL removes them. */
DUALSVM_API int dualsvm_data_set_weights(dualsvm_data *data, const double *weight,
                                         dualsvm_error *error);

/* The folds of cross-validation, in place of random ones ("folds"): row i is held out by fold
 * fold[i] < folds, or by none if that is UINT32_MAX. Each fold must hold out at least one row, and
 * not all. NULL removes them. */
DUALSVM_API int dualsvm_data_set_folds(dualsvm_data *data, const uint32_t *fold, size_t folds,
                                       dualsvm_error *error);

/* Declares that values are those of a kernel with the training rows, for "kernel" "precomputed":
 * value (i,j) is k(x_i, t_j), where t_j is training row number j + 1. serial (rows): for training
 * rows, the number of each row, which is that of its own column; NULL: 1, 2, 3, ... For rows that
 * are only predicted the numbers do not matter. */
DUALSVM_API int dualsvm_data_set_precomputed(dualsvm_data *data, const uint64_t *serial,
                                             dualsvm_error *error);

/* ---- training ---- */

typedef struct dualsvm_model dualsvm_model;
typedef struct dualsvm_table dualsvm_table;

/* The progress of a fit. */
typedef struct dualsvm_progress {
    size_t size; /* of this struct in the library */
    uint64_t iteration;
    double primal, dual; /* the best bounds so far; dual may be -infinity */
    double gap;          /* relative: (primal - dual) / primal */
    double seconds;      /* since the solver started */
} dualsvm_progress;

/* Callbacks. Each may be NULL. They are called from threads of the library, one at a time, and only
 * until the call that they were passed to returns; they must not modify the objects of that
 * call. */
typedef struct dualsvm_watch {
    size_t size; /* sizeof(dualsvm_watch) */
    void *context;
    /* Called for each check of a solver, about once per iteration. Returns 0 to continue. Otherwise
     * the solver stops: a fit ends with its best iterate, not converged, with the reason
     * "interrupted"; cross-validation and sweeps fail with DUALSVM_STOPPED. */
    int (*progress)(void *context, const dualsvm_progress *progress);
    /* Called when row number `row` of a table is complete, in the order of the table. Returns 0 to
     * continue; otherwise the call fails with DUALSVM_STOPPED. */
    int (*row)(void *context, const dualsvm_table *table, size_t row);
    /* Receives a warning or a note, one line without its end: "warning: not converged: ...". */
    void (*message)(void *context, const char *text);
} dualsvm_watch;

/* Fits a model to all rows: svm-FAMILY-train FILE MODEL. watch may be NULL. Lists and options of
 * cross-validation are errors. A fit that ends before it reaches "epsilon", for example by
 * "max-iter" or "max-time", is not an error: its report states the reason. The solver checks
 * "max-time" itself, so the call may take longer, whereas the programs abandon a late solver. */
DUALSVM_API int dualsvm_train(dualsvm_model **model, const dualsvm_options *options,
                              const dualsvm_data *data, const dualsvm_watch *watch,
                              dualsvm_error *error);

/* Cross-validates at each point of the options' lists, by "folds", "fold-file", "validate" or
 * dualsvm_data_set_folds: a table with one row per point. */
DUALSVM_API int dualsvm_cross_validate(dualsvm_table **table, const dualsvm_options *options,
                                       const dualsvm_data *data, const dualsvm_watch *watch,
                                       dualsvm_error *error);

/* Cross-validates in the same way, and fits a model to all rows at the best point by "select". */
DUALSVM_API int dualsvm_sweep(dualsvm_table **table, dualsvm_model **model,
                              const dualsvm_options *options, const dualsvm_data *data,
                              const dualsvm_watch *watch, dualsvm_error *error);

/* ---- tables ---- */

/* The table of a sweep, as the programs write it: the columns "point", the options, for each
 * measure its mean and its standard deviation over the folds (NAME, NAME-sd), "gap", "seconds",
 * "run". */
DUALSVM_API void dualsvm_table_free(dualsvm_table *table);
DUALSVM_API size_t dualsvm_table_rows(const dualsvm_table *table); /* complete rows */
DUALSVM_API size_t dualsvm_table_columns(const dualsvm_table *table);
DUALSVM_API const char *dualsvm_table_name(const dualsvm_table *table, size_t column);
/* The index of the column with that name; SIZE_MAX: there is none. */
DUALSVM_API size_t dualsvm_table_find(const dualsvm_table *table, const char *name);
/* A cell as text, "" if it is undefined; and as a number, NaN if it is not one. */
DUALSVM_API const char *dualsvm_table_text(const dualsvm_table *table, size_t row, size_t column);
DUALSVM_API double dualsvm_table_number(const dualsvm_table *table, size_t row, size_t column);
/* The row of the best point; SIZE_MAX: not known yet. */
DUALSVM_API size_t dualsvm_table_best(const dualsvm_table *table);

/* ---- models ---- */

/* Releases a model with all texts, bytes and names obtained from it. NULL is allowed. */
DUALSVM_API void dualsvm_model_free(dualsvm_model *model);

/* Writes the model to a file, as gzip if its name ends in ".gz". On failure an existing file stays
 * unchanged. */
DUALSVM_API int dualsvm_model_save(const dualsvm_model *model, const char *path,
                                   dualsvm_error *error);
/* Reads a model of the family, NULL: of any family. */
DUALSVM_API int dualsvm_model_load(dualsvm_model **model, const char *family, const char *path,
                                   dualsvm_error *error);

/* The contents of the model file without compression, *size bytes; owned by the model. */
DUALSVM_API const void *dualsvm_model_bytes(const dualsvm_model *model, size_t *size);
/* Reads a model from bytes, plain or gzip, which are not referenced afterwards. */
DUALSVM_API int dualsvm_model_from_bytes(dualsvm_model **model, const char *family,
                                         const void *bytes, size_t size, dualsvm_error *error);

/* The name of its family, "rank", "top", "mc", "ml" or "smm"; static. */
DUALSVM_API const char *dualsvm_model_family(const dualsvm_model *model);

/* The value of a line `key value` of the model's header as text (doc/formats.md lists the keys:
 * "formulation", "kernel", "cost", "features", "labels", ...). NULL: there is none. */
DUALSVM_API const char *dualsvm_model_value(const dualsvm_model *model, const char *key);

/* The number of scores of a row: 1, or one for each label; 0 for a model of pair features, which
 * scores pairs of rows. */
DUALSVM_API size_t dualsvm_model_scores(const dualsvm_model *model);
/* The number of features of the training rows: their largest index. */
DUALSVM_API size_t dualsvm_model_features(const dualsvm_model *model);
/* The number of support vectors; 0 for a linear model, which has weights. */
DUALSVM_API size_t dualsvm_model_support_vectors(const dualsvm_model *model);
/* The number of its labels, 0 in rank, and label number i, NULL if there is none. If two labels
 * share one score, their order is (negative, positive) in smm, (positive, negative) in top. */
DUALSVM_API size_t dualsvm_model_labels(const dualsvm_model *model);
DUALSVM_API const char *dualsvm_model_label(const dualsvm_model *model, size_t i);

/* weights (features, scores) row-major of a linear model, and bias (scores), 0 without a bias:
 * score k of a row is bias[k] + sum_j x_j weights[j * scores + k], where x is the scaled row.
 * Either may be NULL. Fails for other models. */
DUALSVM_API int dualsvm_model_weights(const dualsvm_model *model, double *weights, double *bias,
                                      dualsvm_error *error);

/* The result of a fit. */
typedef struct dualsvm_report {
    /* dual <= optimum <= primal; dual is NaN if the optimum has no certified lower bound */
    double primal, dual;
    /* (primal - dual) / primal; NaN if dual is. If primal is below 1e-9 P0, P0 that of w = 0, the
     * rounding-error bounds, at most 1e-13 P0, are subtracted from the difference, and the divisor
     * is at least 1e-12 P0 */
    double gap;
    /* 1: the bounds are certified; 0: the problem is not known to be convex, or the bounds
     * contradict each other: then primal may be wrong, dual and gap are NaN, and reason says so */
    int certified;
    int converged; /* 1: the target gap is reached; 0: it is not; -1: unknown, for a loaded model */
    uint64_t iterations;
    double seconds;     /* kernel values and solver; 0 for a loaded model */
    const char *reason; /* why the fit did not converge; else "" */
    /* what the trainer prints about the fit, without seconds: lines `name = value`; "" for a
     * loaded model */
    const char *lines;
} dualsvm_report;

/* Fills *report, of `size` bytes (sizeof(dualsvm_report)). */
DUALSVM_API void dualsvm_model_report(const dualsvm_model *model, dualsvm_report *report,
                                      size_t size);

/* ---- prediction ---- */

/* options: of the predictor of the model's family, NULL for its defaults ("threads" and the
 * decision of labels). A linear model ignores features that the training rows did not have.
 *
 * scores (rows, dualsvm_model_scores) row-major. */
DUALSVM_API int dualsvm_predict_scores(const dualsvm_model *model, const dualsvm_options *options,
                                       const dualsvm_data *data, double *scores,
                                       dualsvm_error *error);
/* label (rows): the index of each row's label among the model's labels. top, mc, smm. */
DUALSVM_API int dualsvm_predict_labels(const dualsvm_model *model, const dualsvm_options *options,
                                       const dualsvm_data *data, uint32_t *label,
                                       dualsvm_error *error);
/* chosen (rows, dualsvm_model_labels) row-major: 1 if the row has the label, else 0. ml. */
DUALSVM_API int dualsvm_predict_sets(const dualsvm_model *model, const dualsvm_options *options,
                                     const dualsvm_data *data, unsigned char *chosen,
                                     dualsvm_error *error);
/* probability (rows, dualsvm_model_labels) row-major, of models trained with "probability" "1".
 * mc. */
DUALSVM_API int dualsvm_predict_probabilities(const dualsvm_model *model,
                                              const dualsvm_options *options,
                                              const dualsvm_data *data, double *probability,
                                              dualsvm_error *error);

/* Ranks the candidates of measured features, as svm-rank-candidates does: by their MS/MS scores, by
 * the order of elution that a model of rank predicts, and by measured times where the model maps
 * its scores to minutes (svm-rank-train --targets). doc/mathematics.md has the method.
 *
 * options: of DUALSVM_CANDIDATES, NULL for its defaults. data: of rank; a row is a candidate, its
 * label the MS/MS score (NaN or -INFINITY: none; it then has the lowest score of its feature), its
 * query the feature. minutes (rows): the measured time of the row's feature, NaN: unknown; at least
 * one is known. run (rows): the name of its run, NULL or "": the run without a name, and NULL
 * instead of the array: all features are of that run. A feature has the same minutes and the same
 * run in all its rows, and features of different runs are not compared.
 *
 * Each of the outputs (rows) may be NULL. order_score: the score by the model. score: the logarithm
 * of the max-marginal less that of the feature's best candidate, so at most 0. rank: the mid-rank
 * by score within the feature, from 1 for the best. They do not depend on the number of threads.
 *
 * Fails for models of pair features or with features of queries; if the model has no map for
 * "system"; if "time-weight" is set, above 0, and the model has a map for none of the runs. */
DUALSVM_API int dualsvm_rank_candidates(const dualsvm_model *model, const dualsvm_options *options,
                                        const dualsvm_data *data, const double *minutes,
                                        const char *const *run, double *order_score, double *score,
                                        double *rank, dualsvm_error *error);

/* Passes everything that the predictor writes for these rows, by its options ("order", "pairs",
 * "scores", ...), to a function that returns 0 to continue; otherwise the call fails with
 * DUALSVM_STOPPED. Files that options name ("roc", "confusion") are written too. */
typedef int (*dualsvm_write)(void *context, const char *text, size_t size);
DUALSVM_API int dualsvm_predict_text(const dualsvm_model *model, const dualsvm_options *options,
                                     const dualsvm_data *data, dualsvm_write write, void *context,
                                     dualsvm_error *error);

/* The predictor's measures of the rows by their labels: a list of names and values, without
 * undefined ones. */
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
