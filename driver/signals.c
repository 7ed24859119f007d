/* Handlers of the signals that end a program, and a limit on waiting for input (signals.h). */
#define _GNU_SOURCE /* sigaction */
#include "driver/signals.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static const struct {
    int number;
    const char *name; /* NULL: no message is printed */
} ending_signals[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
                      {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"}, {SIGPIPE, NULL}};

enum { N_ENDING_SIGNALS = sizeof ending_signals / sizeof ending_signals[0] };
enum { FREE, HELD, ENDING };

static char program_name[64]; /* static, because signals may arrive after the end of main */
static atomic_int state = FREE;
static atomic_int received; /* the last signal received, or 0 */
static atomic_bool silent;

/* What the first SIGTERM calls; NULL: it ends the program. */
static void (*_Atomic deferred)(void *context);
static void *deferred_context;

static void print(const char *text) {
    size_t n = atomic_load(&silent) ? 0 : strlen(text);
    while (n > 0) {
        ssize_t written = write(STDERR_FILENO, text, n);
        if (written <= 0) {
            return;
        }
        text += written;
        n -= (size_t)written;
    }
}

/* Ends the program by the time limit, with exit code 1. */
static void end_by_time(void) {
    print(program_name);
    print(": the limit of time is passed, with nothing to write yet\n");
    _exit(EXIT_FAILURE);
}

/* Ends the program by the default action of the signal, so that the parent process sees it. */
static void end_by(int number) {
    if (number == SIGALRM) {
        end_by_time();
    }
    for (size_t i = 0; i < N_ENDING_SIGNALS; i++) {
        if (ending_signals[i].number == number && ending_signals[i].name) {
            print(program_name);
            print(": ended by ");
            print(ending_signals[i].name);
            print("\n");
        }
    }
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t set;
    sigaction(number, &standard, NULL);
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

/* Ends the program by a received signal, unless files are held or another thread is doing it.
 * release calls this too, so that no signal is lost. */
static void end_unless_held(void) {
    int expected = FREE, number = atomic_load(&received);
    if (number && atomic_compare_exchange_strong(&state, &expected, ENDING)) {
        end_by(number);
    }
}

/* Drops the time limit: the files that are put in place now are in time. */
static void forget_time(void) {
    int number = SIGALRM;
    atomic_compare_exchange_strong(&received, &number, 0);
}

/* The signal handler; it may run on any thread. */
static void handle(int number) {
    void (*ask)(void *context) = number == SIGTERM ? atomic_exchange(&deferred, NULL) : NULL;
    if (ask) {
        ask(deferred_context);
        return;
    }
    atomic_store(&received, number);
    end_unless_held();
}

static void hold(void) {
    int expected = FREE;
    while (!atomic_compare_exchange_strong(&state, &expected, HELD)) {
        pause(); /* another thread is ending the program */
        expected = FREE;
    }
}

static void release(void) {
    forget_time();
    atomic_store(&state, FREE);
    end_unless_held();
}

const struct output_hold signals_hold = {hold, release};

void signals_start(const char *program) {
    snprintf(program_name, sizeof program_name, "%s", program);
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART}, before;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < N_ENDING_SIGNALS; i++) {
        bool ignored = sigaction(ending_signals[i].number, NULL, &before) == 0 &&
                       before.sa_handler == SIG_IGN && ending_signals[i].number != SIGPIPE;
        if (!ignored) {
            sigaction(ending_signals[i].number, &action, NULL);
        }
    }
    const struct sigaction error = {.sa_handler = SIG_IGN};
    sigaction(SIGXFSZ, &error, NULL);
}

void signals_defer(void (*ask)(void *context), void *context) {
    deferred_context = context;
    atomic_store(&deferred, ask);
}

void signals_silence(void) {
    atomic_store(&silent, true);
}

void signals_unlimit(void) {
    const struct itimerval none = {.it_value = {0}};
    setitimer(ITIMER_REAL, &none, NULL);
    forget_time();
}

void signals_limit(double seconds) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    const struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)seconds,
                     .tv_usec = (suseconds_t)(1e6 * (seconds - floor(seconds)))}};
    sigfillset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}
