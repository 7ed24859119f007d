/* A program's run on a trial: files, time, and what was said. */
#ifndef TESTS_OPTIMA_RUN_H
#define TESTS_OPTIMA_RUN_H

#include "tests/optima/interior.h"
#include "tests/optima/trial.h"

struct answer {
    int exit;                      /* -1: a signal, -2: the limit of time */
    char report[4096], said[4096]; /* stdout, stderr */
    bool model;                    /* one was written, and these are from it: */
    double primal, dual, gap;      /* gap: NaN for none */
    bool certified;
    size_t outputs;
    real bias[MAX_LABELS];
    bool weights;                      /* of features, else of rows */
    real value[MAX_ROWS * MAX_LABELS]; /* (features or rows, outputs) */
    bool complete;                     /* the body was understood */
    size_t n_pairs;                    /* of a model of pairs, which is not complete */
    struct {
        size_t u, v; /* rows */
        real value;
    } pair[MAX_ROWS * MAX_ROWS];
    int check;         /* of svm-check on the proof; 0 where there is none */
    char verdict[200]; /* its last line */
};

/* Writes the trial's files into `folder`, runs the trainer of the build in folder `bin` on them and
 * svm-check on its proof, and fills the answer with how they ended and what they said and wrote. */
void run_program(const struct trial *trial, const char *bin, const char *folder,
                 struct answer *answer);

#endif
