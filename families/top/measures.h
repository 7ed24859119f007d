/* How predictions at the top are measured, by both programs: roc.h behind the drivers' table,
 * with the classes of the model. */
#ifndef FAMILIES_TOP_MEASURES_H
#define FAMILIES_TOP_MEASURES_H

#include "driver/family.h"

/* They have options of their own: --tpr, --pauc and --precision. */
extern const struct measures top_measures;

/* Rows of two classes, gathered block by block. */
struct top_rows {
    const char *positive; /* label of positives; NULL: numbers above 0; borrowed */
    size_t n, room;
    double *score;
    bool *is_positive;
    size_t n_unknown; /* rows that were left out: of labels of unknown class */
    int *class;       /* (n_classes) of each name of the data */
    size_t n_classes;
};

/* Adds rows (NULL: all n of data) of known class with their scores. The data are blocks of one
 * file, or one set of data: their names stay, and more may come. */
int top_rows_add(struct top_rows *rows, const struct data *data, const uint32_t *row, size_t n,
                 const double *scores, struct error *err);
void top_rows_free(struct top_rows *rows);

#endif
