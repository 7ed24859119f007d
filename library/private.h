/* What the files of the library share: the objects behind the opaque types of dualsvm.h, and its
 * errors.
 *
 * This room puts the public interface on what the programs stand on, too. Its functions take what a
 * caller gives to what the driver takes, and what that gives back to objects that stay; nothing is
 * computed here. */
#ifndef LIBRARY_PRIVATE_H
#define LIBRARY_PRIVATE_H

#include "common/base/threads.h"
#include "driver/family.h"
#include "driver/text.h"
#include "include/dualsvm.h"

/* ---- errors ---- */

/* Hands an error to the caller, who may not want it; returns -1. */
int library_fail(dualsvm_error *to, const struct error *from);

/* The same of what is wrong with an argument (printf format). */
int library_refuse(dualsvm_error *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- families ---- */

struct family_tables {
    const struct family *train;
    const struct predictor *predict;
};

/* The families, ended by NULL. */
extern const struct family_tables library_families[];

/* The tables of a family, or NULL with the error filled. */
const struct family_tables *library_family(const char *name, dualsvm_error *error);

/* ---- options ---- */

struct dualsvm_options {
    const struct family_tables *family;
    int role;
    char **word; /* (n_words) as on a command line: "--NAME=VALUE", "--FLAG"; word[0] stands for the
                    program */
    size_t n_words;
    struct options options; /* those words, read */
};

/* True if the option of the table is one of the library's. */
bool library_has_option(const struct dualsvm_options *options, const struct option_spec *spec);

/* ---- data ---- */

struct dualsvm_data {
    const struct family_tables *family;
    struct data data;   /* of the family's labels; none are NaN, UINT32_MAX or empty sets */
    bool lent;          /* its values are the caller's */
    bool zeros;         /* dense rows have zeros, which rows of a file would not store */
    struct folds folds; /* none: n is 0 */
};

/* Data of the family, of n rows without labels, or NULL. The caller ends with dualsvm_data_free. */
struct dualsvm_data *library_data_create(const struct family_tables *family, size_t n,
                                         struct error *err);

/* Fails if data are of another family than what they are used with. */
int library_check_data(const struct dualsvm_data *data, const struct family_tables *family,
                       dualsvm_error *error);

/* ---- models ---- */

struct dualsvm_model {
    const struct family_tables *family;
    struct text text;   /* the model's file */
    struct model model; /* which was read from that */
    char *header;     /* a copy of the text's lines `key value`, a NUL behind each, and one more */
    char *label_text; /* the line `labels`, a NUL behind each */
    const char **label; /* (n_labels) */
    size_t n_labels;
    dualsvm_report report;
    struct text lines; /* of the report */
};

/* A model from its text, which becomes the model's own also on failure. `name` is what errors call
 * it. */
int library_model_create(struct dualsvm_model **model, const struct family_tables *family,
                         const char *name, struct text *text, struct error *err);

#endif
