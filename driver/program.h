/* The programs: all that a main does. Nothing else in the tree knows standard error, ends the process
 * or touches signals that other code may own. */
#ifndef DRIVER_PROGRAM_H
#define DRIVER_PROGRAM_H

#include "driver/family.h"

#define PROGRAM_VERSION "0.1"

/* Runs svm-FAMILY-train; returns the exit code. */
int program_train(int argc, char **argv, const struct family *family);

/* Runs svm-FAMILY-predict; returns the exit code. */
int program_predict(int argc, char **argv, const struct predictor *predictor);

#endif
