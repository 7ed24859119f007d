/* The signals that end a program: messages, exit codes, and the protection of files that are being
 * put in place. Part of the main functions: only this module installs signal handlers. */
#ifndef DRIVER_SIGNALS_H
#define DRIVER_SIGNALS_H

#include "common/base/output.h"

/* Handles the signals that end a program (HUP, INT, QUIT, TERM, XCPU and PIPE) unless they are
 * ignored: the program still ends by the signal, after a line on standard error that names it
 * (PIPE: without), but not while files are held. Exceeding the file size limit becomes a write
 * error. `program`, of less than 64 bytes, begins the line. */
void signals_start(const char *program);

/* After this call, the first SIGTERM calls ask(context) from the handler instead of ending the
 * program. */
void signals_defer(void (*ask)(void *context), void *context);

/* After this call, the program ends without a message: another process prints it. */
void signals_silence(void);

/* Ends the program after this number of seconds (above 0, at most 1e9), with a line on standard
 * error and exit code 1, unless files are being put in place then. */
void signals_limit(double seconds);

/* Cancels that limit. */
void signals_unlimit(void);

/* Delays these signals while files have temporary names. */
extern const struct output_hold signals_hold;

#endif
