/* The two tables beside a file of candidates: tab-separated text, plain or gzip, with LF or CRLF.
 * Blank lines are skipped. */
#ifndef FAMILIES_RANK_FRONTEND_CANDIDATE_FILES_H
#define FAMILIES_RANK_FRONTEND_CANDIDATE_FILES_H

#include "common/base/error.h"
#include "common/data/names.h"

#include <stddef.h>
#include <stdint.h>

/* Measured times: lines `feature minutes [run]`. */
struct feature_times {
    struct names features;
    double *minutes;   /* (features.n) */
    uint32_t *run;     /* (features.n) a number of `runs` */
    struct names runs; /* "" where the file has none */
};

/* Reads times. The first line may be a header: its second field is not a number. Errors: a line
 * without two or three fields, minutes that are not finite, a feature that is listed twice, no
 * feature. The caller calls feature_times_free, also after a failure. */
int feature_times_read(struct feature_times *times, const char *path, struct error *err);
void feature_times_free(struct feature_times *times);

/* Right candidates: lines `feature name`. */
struct right_names {
    struct names features;
    char **name; /* (n) the names of the first n features */
    size_t n;    /* features.n, except after a failure */
};

/* Reads right candidates. Errors: a line without two fields, a feature that is listed twice, no
 * feature. The caller calls right_names_free, also after a failure. */
int right_names_read(struct right_names *right, const char *path, struct error *err);
void right_names_free(struct right_names *right);

#endif
