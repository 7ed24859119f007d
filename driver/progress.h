/* Progress messages, the log of a fit (--log), and the monitor that enforces --max-iter and
 * --max-time: it answers STOP_TIME once the deadline has passed, or if the solver may not ask again
 * before it. A task that does not ask the monitor in time is abandoned by timed_task.h. */
#ifndef DRIVER_PROGRESS_H
#define DRIVER_PROGRESS_H

#include "common/base/output.h"
#include "common/base/text.h"
#include "common/distributed/cluster.h"
#include "driver/output_sink.h"
#include "fit/monitor.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A callback of the application, called for each check of a solver, one at a time. */
struct listener {
    /* Returns false to stop the work. */
    bool (*on_check)(void *context, uint64_t iteration, double primal, double dual, double seconds);
    void *context;
};

struct progress {
    pthread_mutex_t mutex;
    const struct listener *listener; /* NULL: none. With a listener, no progress is shown */
    bool stopped;                    /* the listener has returned false */
    /* a terminal gets one line that is rewritten, at most 5 times a second; other files at most a
     * line a second, and a line when a tenth of the time until the last one has passed */
    const struct output_sink *sink;
    const char *program;  /* its name, the prefix of lines */
    bool quiet;           /* print only warnings */
    bool unended;         /* a rewritten line is on the terminal */
    double opened, shown; /* times of progress_open, and of the last output */
    struct text warnings; /* the texts of all warnings, each with a newline */
};

/* Initialises progress without a listener; sink and program are borrowed. progress_close clears the
 * terminal line. The functions between may be called from several threads. */
void progress_open(struct progress *progress, const struct output_sink *sink, const char *program,
                   bool quiet);
void progress_close(struct progress *progress);

/* Shows a text (printf format), at most as often as stated above. */
void progress_show(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints `PROGRAM: warning: TEXT`, also when quiet, and adds the text to `warnings`. */
void progress_warn(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints `PROGRAM: note: TEXT`, unless quiet. */
void progress_note(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns whether the listener has stopped the work. progress may be NULL. */
bool progress_stopped(struct progress *progress);

/* Clears the rewritten line, before results that may go to the same terminal. */
void progress_clear(struct progress *progress);

/* The table of --log: a row for each check of a solver. Concurrent fits share it. */
struct fit_log {
    struct output *output; /* NULL: rows are collected in `text` */
    /* rows begin with a position: the point of a sweep and the fold */
    bool has_positions;
    pthread_mutex_t mutex; /* guards the fields below and writes to output */
    struct text text;      /* owned by the caller of fit_log_collect */
};

/* Opens a log and writes the header; fit_log_close leaves the output to the caller. */
void fit_log_open(struct fit_log *log, struct output *output, bool has_positions);
void fit_log_close(struct fit_log *log);

/* Adds complete rows, n bytes. */
void fit_log_add(struct fit_log *log, const char *rows, size_t n);

/* Opens a log that collects its rows as text, without a header. */
void fit_log_collect(struct fit_log *log, bool has_positions);

enum { LOG_POSITION_BYTES = 48 };

/* The monitoring of one run of a solver. */
struct watch {
    struct progress *progress; /* NULL: no progress is shown and no listener is called */
    bool hidden;               /* progress is not shown, but the listener is called */
    struct fit_log *log;       /* NULL: none */
    /* the processes that run the solver together and stop together; or NULL */
    struct cluster *cluster;
    /* the processes of which this one runs the solver alone; it stops on a request to end;
     * or NULL */
    struct cluster *peers;
    char position[LOG_POSITION_BYTES]; /* "POINT\tFOLD\t", for a log with positions */
    uint64_t max_iterations;           /* 0: no limit */
    double deadline;                   /* of clock_seconds(); INFINITY: none */
    /* of clock_seconds(), by which the run is to end (timed_task.h); INFINITY: none */
    double end_time;
    enum algorithm algorithm; /* the running algorithm, defined if `algorithms` is not 0 */
    unsigned algorithms;      /* one bit for each algorithm that has run */
    double started;           /* clock_seconds() at watch_open */
    pthread_mutex_t mutex;    /* guards the fields below */
    double asked;             /* clock_seconds() when the solver last asked for the time */
    double longest;           /* the longest it has not asked since the last check, */
    double longest_before;    /* and between the two before */
    bool closed;              /* nothing is shown or logged any more */
};

/* Starts the clock of a watch whose fields before `started` are set. watch_close may be called from
 * any thread: afterwards the solver is told to stop, and nothing is shown or logged even if it
 * continues. */
void watch_open(struct watch *watch);
void watch_close(struct watch *watch);

/* The monitor of an open watch; the watch must outlive the run. */
struct monitor watch_monitor(struct watch *watch);

#endif
