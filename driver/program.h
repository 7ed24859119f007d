/* The main functions of the programs. Only this module, signals.h and blas_start.h use standard
 * error. Besides these only common/distributed/cluster_mpi.c ends the process (MPI_Abort). Only
 * signals.h installs signal handlers. */
#ifndef DRIVER_PROGRAM_H
#define DRIVER_PROGRAM_H

#include "common/base/error.h"
#include "common/base/output.h"
#include "driver/family.h"
#include "driver/output_sink.h"

#include <stddef.h>

/* Runs svm-FAMILY-train; returns the exit code. */
int program_train(int argc, char **argv, const struct family *family);

/* Runs svm-FAMILY-predict; returns the exit code. */
int program_predict(int argc, char **argv, const struct predictor *predictor);

/* Verifies a model (check/check.h). paths: the training file, the model and the proof; *code gets
 * the exit code. */
typedef int program_verifier(const char *const paths[3], size_t n_threads, struct output *output,
                             int *code, struct error *err);

/* A program that is neither a trainer nor a predictor, and runs as one process. */
struct program {
    const char *name, *operands, *summary, *example; /* for --help and messages, see struct help */
    const struct option_spec *options;               /* (n_options) all of them */
    size_t n_options;
    /* Runs by the options of a command line; *code, 0 at first, gets the exit code of a run that
     * succeeds. hold: see output.h. */
    int (*run)(const struct program *program, const struct options *options,
               const struct output_sink *sink, const struct output_hold *hold, int *code,
               struct error *err);
    program_verifier *verify; /* of svm-check */
};

/* Runs a program; returns the exit code. */
int program_run(int argc, char **argv, const struct program *program);

/* Runs svm-check; returns the exit code: the verifier's, unless it fails. */
int program_check(int argc, char **argv, program_verifier *verify);

#endif
