/* Internal declarations of the library: the objects behind the opaque types of dualsvm.h, and its
 * errors.
 *
 * The library translates between the public interface and the driver, which the programs use too.
 * It computes nothing itself. */
#ifndef LIBRARY_PRIVATE_H
#define LIBRARY_PRIVATE_H

#include "common/base/text.h"
#include "common/base/threads.h"
#include "driver/family.h"
#include "driver/program.h"
#include "include/dualsvm.h"

/* ---- errors ---- */

/* Copies an error to the caller's, which may be NULL; returns -1. */
int library_fail(dualsvm_error *to, const struct error *from);

/* Reports an invalid argument (printf format); returns -1. */
int library_refuse(dualsvm_error *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- families ---- */

struct family_tables {
    const struct family *train;
    const struct predictor *predict;
    const struct program *candidates; /* NULL: the family has no such program */
};

/* The families; the last entry has train = NULL. */
extern const struct family_tables library_families[];

/* The tables of a family, or NULL with the error filled. */
const struct family_tables *library_family(const char *name, dualsvm_error *error);

/* ---- options ---- */

struct dualsvm_options {
    const struct family_tables *family;
    int role;
    /* (n_words) as on a command line: "--NAME=VALUE", "--FLAG"; word[0] is the program's name */
    char **word;
    size_t n_words;
    struct options options; /* the parsed words */
};

/* Returns whether the library offers this option of a program. */
bool library_has_option(const struct dualsvm_options *options, const struct option_spec *spec);

/* ---- data ---- */

struct dualsvm_data {
    const struct family_tables *family;
    struct data data;   /* missing labels are NaN (numbers), UINT32_MAX (words) or empty (sets) */
    bool lent;          /* the array of values belongs to the caller */
    bool zeros;         /* dense rows contain zeros, which rows of a file would omit */
    struct folds folds; /* n is 0: none */
};

/* Creates data of n rows without labels; NULL on failure. The caller ends with
 * dualsvm_data_free. */
struct dualsvm_data *library_data_create(const struct family_tables *family, size_t n,
                                         struct error *err);

/* Fails if the data belong to another family. */
int library_check_data(const struct dualsvm_data *data, const struct family_tables *family,
                       dualsvm_error *error);

/* Fails if a label is infinite: only candidates may have -INFINITY. */
int library_check_labels(const struct dualsvm_data *data, struct error *err);

/* ---- models ---- */

struct dualsvm_model {
    const struct family_tables *family;
    struct text text;   /* of the model file */
    struct model model; /* read from text */
    char *header;     /* the lines `key value` of the text, a NUL after each, then an empty line */
    char *label_text; /* the line `labels`, a NUL after each label */
    const char **label; /* (n_labels) */
    size_t n_labels;
    dualsvm_report report;
    struct text lines; /* lines of the report */
};

/* Creates a model from its text, which it takes over, also on failure. `name` is its name in error
 * messages. */
int library_model_create(struct dualsvm_model **model, const struct family_tables *family,
                         const char *name, struct text *text, struct error *err);

#endif
