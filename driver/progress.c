/* The monitor of a fit, its lines of progress and its log (progress.h). */
#include "driver/progress.h"

#include "common/base/clock.h"
#include "common/base/gap.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_ROW_BYTES = 256 }; /* including the NUL */

static const double TERMINAL_SECONDS = 0.2, PLAIN_SECONDS = 1;

/* Of the time so far: a log gets 10 lines in the first 10 seconds, then 24 each time that the time
 * grows tenfold. */
static const double PLAIN_SHARE = 0.1;

void progress_open(struct progress *progress, const struct output_sink *sink, const char *program,
                   bool quiet) {
    double now = clock_seconds();
    *progress = (struct progress){
        .sink = sink, .program = program, .quiet = quiet, .opened = now, .shown = now};
    pthread_mutex_init(&progress->mutex, NULL);
}

void progress_close(struct progress *progress) {
    progress_clear(progress);
    pthread_mutex_destroy(&progress->mutex);
    free(progress->warnings.bytes);
}

static void show(struct progress *progress, double now, const char *format, va_list arguments) {
    bool terminal = progress->sink->terminal;
    struct error shown; /* escapes control bytes of file names */
    error_set_list(&shown, ERROR_NONE, format, arguments);
    progress->shown = now;
    progress->unended = terminal;
    if (terminal) { /* clear to the end of the line */
        output_sink_write(progress->sink, "%s\033[K\r", shown.text);
    } else {
        output_sink_write(progress->sink, "%s: %s\n", progress->program, shown.text);
    }
}

void progress_show(struct progress *progress, const char *format, ...) {
    if (progress->quiet || progress->listener || !progress->sink->write) {
        return;
    }
    double now = clock_seconds();
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&progress->mutex);
    double pause = progress->sink->terminal
                       ? TERMINAL_SECONDS
                       : fmax(PLAIN_SECONDS, PLAIN_SHARE * (progress->shown - progress->opened));
    if (now - progress->shown >= pause) {
        show(progress, now, format, arguments);
    }
    pthread_mutex_unlock(&progress->mutex);
    va_end(arguments);
}

static void clear(struct progress *progress) {
    if (progress->unended) {
        output_sink_write(progress->sink, "\033[K");
        progress->unended = false;
    }
}

/* Prints a line that is not overwritten, and adds its text to `kept` (NULL: to none). */
static void stay(struct progress *progress, const char *kind, struct text *kept, const char *format,
                 va_list arguments) {
    struct error shown; /* as in show */
    error_set_list(&shown, ERROR_NONE, format, arguments);
    pthread_mutex_lock(&progress->mutex);
    clear(progress);
    output_sink_write(progress->sink, "%s%s%s\n", progress->program, kind, shown.text);
    if (kept) {
        text_format(kept, "%s\n", shown.text);
    }
    pthread_mutex_unlock(&progress->mutex);
}

void progress_warn(struct progress *progress, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    stay(progress, ": warning: ", &progress->warnings, format, arguments);
    va_end(arguments);
}

void progress_note(struct progress *progress, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!progress->quiet) {
        stay(progress, ": note: ", NULL, format, arguments);
    }
    va_end(arguments);
}

bool progress_stopped(struct progress *progress) {
    if (!progress || !progress->listener) {
        return false;
    }
    pthread_mutex_lock(&progress->mutex);
    bool stopped = progress->stopped;
    pthread_mutex_unlock(&progress->mutex);
    return stopped;
}

/* The listener is not called again after it has stopped the work. */
static void call_listener(struct progress *progress, uint64_t iteration, double primal, double dual,
                          double seconds) {
    const struct listener *listener = progress->listener;
    if (!listener) {
        return;
    }
    pthread_mutex_lock(&progress->mutex);
    if (!progress->stopped) {
        progress->stopped =
            !listener->on_check(listener->context, iteration, primal, dual, seconds);
    }
    pthread_mutex_unlock(&progress->mutex);
}

void progress_clear(struct progress *progress) {
    pthread_mutex_lock(&progress->mutex);
    clear(progress);
    pthread_mutex_unlock(&progress->mutex);
}

void fit_log_open(struct fit_log *log, struct output *output, bool has_positions) {
    *log = (struct fit_log){.output = output, .has_positions = has_positions};
    pthread_mutex_init(&log->mutex, NULL);
    output_format(output, "%siteration\tseconds\tprimal\tdual\tgap\tsolver\n",
                  has_positions ? "point\tfold\t" : "");
}

void fit_log_collect(struct fit_log *log, bool has_positions) {
    *log = (struct fit_log){.has_positions = has_positions};
    pthread_mutex_init(&log->mutex, NULL);
}

void fit_log_close(struct fit_log *log) {
    pthread_mutex_destroy(&log->mutex);
}

void fit_log_add(struct fit_log *log, const char *rows, size_t n) {
    pthread_mutex_lock(&log->mutex);
    if (log->output) {
        output_write(log->output, rows, n);
    } else {
        text_take(&log->text, rows, n);
    }
    pthread_mutex_unlock(&log->mutex);
}

static void log_row(const struct watch *watch, uint64_t iteration, double seconds, double primal,
                    double dual) {
    struct fit_log *log = watch->log;
    char row[MAX_ROW_BYTES];
    const char *solver = watch->algorithms ? algorithm_names[watch->algorithm] : "none";
    int n = snprintf(row, sizeof row, "%s%" PRIu64 "\t%.6f\t%.17g\t%.17g\t%.9g\t%s\n",
                     log->has_positions ? watch->position : "", iteration, seconds, primal, dual,
                     gap_relative(primal, dual), solver);
    fit_log_add(log, row, (size_t)n);
}

/* Whether the deadline is at most so many seconds away. */
static bool ends_within(const struct watch *watch, double seconds) {
    bool asked = cluster_stop_requested(watch->cluster) || cluster_stop_requested(watch->peers);
    return cluster_any(watch->cluster, asked || clock_seconds() + seconds >= watch->deadline);
}

/* Records that the solver has asked for the time. The caller holds the mutex. */
static void record_question(struct watch *watch) {
    double now = clock_seconds();
    watch->longest = fmax(watch->longest, now - watch->asked);
    watch->asked = now;
}

static bool is_late(void *context) {
    struct watch *watch = context;
    pthread_mutex_lock(&watch->mutex);
    record_question(watch);
    pthread_mutex_unlock(&watch->mutex);
    return ends_within(watch, 0);
}

static double seconds_left(void *context) {
    const struct watch *watch = context;
    return watch->end_time - clock_seconds();
}

static void report_check(struct watch *watch, uint64_t iteration, double primal, double dual) {
    double seconds = clock_seconds() - watch->started;
    if (!isfinite(primal)) { /* no primal point yet */
        return;
    }
    if (watch->log) {
        log_row(watch, iteration, seconds, primal, dual);
    }
    if (watch->progress) {
        call_listener(watch->progress, iteration, primal, dual, seconds);
    }
    if (watch->progress && !watch->hidden) {
        progress_show(watch->progress,
                      "iteration %" PRIu64 ", primal %.6g, dual %.6g, gap %.3g, %.1f s", iteration,
                      primal, dual, gap_relative(primal, dual), seconds);
    }
}

/* No iteration begins that is not expected to ask for the time again before the deadline: a run
 * that does not could be abandoned. The expected pause is the shorter of the longest pauses of the
 * last two iterations, as the first one of an algorithm also creates it. */
static enum stop_reason check(void *context, uint64_t iteration, double primal, double dual) {
    struct watch *watch = context;
    pthread_mutex_lock(&watch->mutex);
    bool closed = watch->closed;
    record_question(watch);
    double seconds = fmin(watch->longest, watch->longest_before);
    watch->longest_before = watch->longest;
    watch->longest = 0;
    if (!closed) {
        report_check(watch, iteration, primal, dual);
    }
    pthread_mutex_unlock(&watch->mutex);
    if (progress_stopped(watch->progress)) {
        return STOP_INTERRUPTED;
    }
    if (watch->max_iterations && iteration >= watch->max_iterations) {
        return STOP_ITERATIONS;
    }
    return closed || ends_within(watch, seconds) ? STOP_TIME : 0;
}

static void set_algorithm(void *context, enum algorithm algorithm) {
    struct watch *watch = context;
    pthread_mutex_lock(&watch->mutex);
    watch->algorithm = algorithm;
    watch->algorithms |= 1U << algorithm;
    pthread_mutex_unlock(&watch->mutex);
}

void watch_open(struct watch *watch) {
    watch->started = watch->asked = clock_seconds();
    watch->longest = watch->longest_before = 0;
    watch->closed = false;
    pthread_mutex_init(&watch->mutex, NULL);
}

void watch_close(struct watch *watch) {
    pthread_mutex_lock(&watch->mutex);
    watch->closed = true;
    pthread_mutex_unlock(&watch->mutex);
}

struct monitor watch_monitor(struct watch *watch) {
    return (struct monitor){.context = watch,
                            .check = check,
                            .past_deadline = is_late,
                            .seconds_left = seconds_left,
                            .algorithm = set_algorithm,
                            .max_iterations = watch->max_iterations};
}
