/* What the user sees while it works, and finds afterwards (--log), and the limits at which a solver
 * is told to stop. */
#ifndef DRIVER_PROGRESS_H
#define DRIVER_PROGRESS_H

#include "common/base/output.h"
#include "common/distributed/cluster.h"
#include "driver/output_sink.h"
#include "driver/text.h"
#include "fit/monitor.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Somebody in the same process who hears of each check of a solver, one at a time, and may end the
 * work. */
struct listener {
    /* Returns false to end it. */
    bool (*hear)(void *context, uint64_t iteration, double primal, double dual, double seconds);
    void *context;
};

struct progress {
    pthread_mutex_t mutex;
    const struct listener *listener; /* NULL: none. Else nothing is shown */
    bool stopped;                    /* by the listener */
    const struct voice *voice; /* on a terminal one line that is rewritten, up to 5 times a second;
                                  else a line a second */
    const char *program;       /* its name, which begins lines that stay */
    bool quiet;                /* warnings only */
    bool unended;              /* a line that is rewritten stands there */
    double shown;              /* when something was shown last */
};

/* Seconds of a clock that only goes forward. */
double progress_clock(void);

/* Begins, with voice and program borrowed, and no listener; progress_close clears what stands
 * there. The functions between may be called from several threads. */
void progress_open(struct progress *progress, const struct voice *voice, const char *program,
                   bool quiet);
void progress_close(struct progress *progress);

/* Shows a text (printf format), if it is time for one. */
void progress_show(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says `PROGRAM: warning: TEXT`, also when quiet. */
void progress_warn(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says `PROGRAM: note: TEXT`, unless quiet. */
void progress_note(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether the listener has ended the work. progress may be NULL. */
bool progress_stopped(struct progress *progress);

/* Clears the line that stands on a terminal. Before results, which may go there too. */
void progress_clear(struct progress *progress);

/* --log: a table with a row for each check of a solver. Runs that go on at once share it. */
struct fit_log {
    struct output *output; /* NULL: rows are gathered as text */
    bool placed;           /* rows begin with a place: the point of a sweep and the fold */
    pthread_mutex_t mutex; /* guards the output, and what follows */
    struct text text;      /* the caller's to end */
};

/* Writes the header; fit_log_close ends it, the output is the caller's. */
void fit_log_open(struct fit_log *log, struct output *output, bool placed);
void fit_log_close(struct fit_log *log);

/* Adds whole rows, n bytes. */
void fit_log_add(struct fit_log *log, const char *rows, size_t n);

/* Opens a log whose rows are gathered as text, without a header. */
void fit_log_gather(struct fit_log *log, bool placed);

enum { WATCH_PLACE = 48 };

/* One run of a solver under watch. */
struct watch {
    struct progress *progress; /* NULL: not shown, and nobody listens */
    bool unshown;              /* the listener hears of it, but it is not shown */
    struct fit_log *log;       /* NULL: none */
    struct cluster *cluster;   /* whose ranks run the solver in step, and stop together; or NULL */
    struct cluster
        *alone; /* of which this rank runs the solver alone, and stops if asked to; or NULL */
    char place[WATCH_PLACE];  /* POINT, tab, FOLD, tab: in a log with places */
    uint64_t most_iterations; /* 0: no limit */
    double deadline;          /* of progress_clock(); INFINITY: none */
    double given_up;          /* of progress_clock(): the run is left to itself; INFINITY: never */
    enum algorithm algorithm; /* that runs, once ... */
    unsigned algorithms;      /* ... a bit of those that have run is set */
    double started;           /* progress_clock() then */
    pthread_mutex_t mutex;    /* guards what follows */
    bool closed;              /* nothing is shown or logged any more */
};

/* Begins the watch, whose fields before `started` are set: the clock of what it says starts now.
 * watch_close, from any thread, ends what it says: the solver is told to stop,
 * and if it goes on, nobody hears of it. */
void watch_open(struct watch *watch);
void watch_close(struct watch *watch);

/* The monitor of an open watch; both must outlive the run. */
struct monitor watch_monitor(struct watch *watch);

#endif
