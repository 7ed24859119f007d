/* A run of a program on a trial: its files, exit code and output. */
#ifndef TESTS_OPTIMA_RUN_H
#define TESTS_OPTIMA_RUN_H

#include "tests/optima/interior.h"
#include "tests/optima/trial.h"

struct answer {
    int exit;                      /* -1: by a signal, -2: by the time limit */
    char report[4096], said[4096]; /* stdout, stderr */
    bool model;                    /* a model was written, with these values: */
    double primal, dual, gap;      /* gap: NaN for none */
    bool certified;
    size_t outputs;
    real bias[MAX_LABELS];
    bool weights;                      /* of features; false: coefficients of rows */
    real value[MAX_ROWS * MAX_LABELS]; /* (features or rows, outputs) */
    bool complete;                     /* the body was read completely */
    size_t n_pairs;                    /* of a model of pairs; `complete` is then false */
    struct {
        size_t u, v; /* rows */
        real value;
    } pair[MAX_ROWS * MAX_ROWS];
    int check;         /* exit code of svm-check on the proof; 0 if there is none */
    char verdict[200]; /* its last line */
};

/* Writes the trial's files into `folder`, runs the trainer of the build in folder `bin` on them and
 * svm-check on its proof, and fills `answer` with their exit codes, output and model. */
void run_program(const struct trial *trial, const char *bin, const char *folder,
                 struct answer *answer);

#endif
