/* How every program begins and fails. */
#ifndef DRIVER_PROGRAM_H
#define DRIVER_PROGRAM_H

#include "common/base/error.h"

#define PROGRAM_VERSION "0.1"

/* To be called first: a standard stream that is closed becomes one that fails, lest the next file
 * to be opened take its number; a reader that goes away ends the program without a word; and BLAS
 * leaves threads to us, so that results do not depend on how many it would take. */
void program_start(void);

/* Prints the error's one line and returns the exit code. */
int program_failed(const char *program, const struct error *err);

#endif
