/* Signals that end a program: what they leave behind, say and exit with. Part of main: the one
 * place that touches signals, and the only state of a program besides main's own. */
#ifndef DRIVER_SIGNALS_H
#define DRIVER_SIGNALS_H

#include "common/base/output.h"

/* Takes the signals that end a program (HUP, INT, QUIT, TERM, XCPU and PIPE) unless they are
 * ignored: they end it as before, with a line on standard error that names them (PIPE: without a
 * word), but not while files are held. A file that grows too large becomes an error of the write.
 * `program`, of less than 64 bytes, begins the line. */
void signals_start(const char *program);

/* From now on the first SIGTERM does not end the program, but calls ask(context), from a
 * handler. */
void signals_defer(void (*ask)(void *context), void *context);

/* From now on the program ends without a word: another one speaks. */
void signals_silence(void);

/* Ends the program after so many seconds (above 0, at most 1e9), with a line on standard error and
 * exit code 1, unless files take their places then. */
void signals_limit(double seconds);

/* From now on there is no such limit. */
void signals_unlimit(void);

/* Keeps them off while files have temporary names. */
extern const struct output_hold signals_hold;

#endif
