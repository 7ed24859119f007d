/* A family of synthetic data sets: its options, and the function that writes one. */
#ifndef DATASETS_FAMILY_H
#define DATASETS_FAMILY_H

#include "common/base/error.h"
#include "driver/options.h"

#include <stddef.h>

struct family {
    const char *name;
    const char *help;                /* lines on its options, for --help */
    const struct option_spec *specs; /* besides seed and output; one named test splits the rows */
    size_t n_specs;
    int (*generate)(const struct options *options, struct error *err);
};

extern const struct family family_rank;   /* retention times: datasets/rank.c */
extern const struct family family_ltr;    /* dense learning to rank: datasets/ltr.c */
extern const struct family family_sparse; /* sparse rows: datasets/sparse.c */
extern const struct family family_top;    /* imbalanced rows: datasets/top.c */
extern const struct family family_ml;     /* documents with several labels: datasets/ml.c */
extern const struct family family_smm;    /* matrices of two classes: datasets/smm.c */
extern const struct family family_mc;     /* rows of several classes: datasets/mc.c */

#endif
