/* The state of the job is one atomic number; a thread that has waited long sleeps (ahead.h). */
#include "common/base/ahead.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Checks of the state before a thread sleeps: tenths of a millisecond. */
enum { MAX_CHECKS = 10000 };

enum state { IDLE, POSTED, BEGUN, ENDED /* there will be no more jobs */ };

struct ahead {
    void (*body)(void *context, struct ahead *ahead);
    void (*job)(void *context);
    void *context;
    atomic_int state;
    atomic_bool asleep; /* the thread that waits for jobs */
    pthread_mutex_t mutex;
    pthread_cond_t wake;
};

static void pause_briefly(void) {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

/* Runs the job if it is posted and no other thread has begun it. */
static void take(struct ahead *ahead) {
    int posted = POSTED;
    if (atomic_compare_exchange_strong(&ahead->state, &posted, BEGUN)) {
        ahead->job(ahead->context);
        atomic_store(&ahead->state, IDLE);
    }
}

static void set_state(struct ahead *ahead, enum state state) {
    atomic_store(&ahead->state, state);
    if (atomic_load(&ahead->asleep)) {
        pthread_mutex_lock(&ahead->mutex);
        pthread_cond_signal(&ahead->wake);
        pthread_mutex_unlock(&ahead->mutex);
    }
}

static void sleep_until_posted(struct ahead *ahead) {
    pthread_mutex_lock(&ahead->mutex);
    atomic_store(&ahead->asleep, true);
    while (atomic_load(&ahead->state) == IDLE || atomic_load(&ahead->state) == BEGUN) {
        pthread_cond_wait(&ahead->wake, &ahead->mutex);
    }
    atomic_store(&ahead->asleep, false);
    pthread_mutex_unlock(&ahead->mutex);
}

static void serve(struct ahead *ahead) {
    int checks = 0;
    for (;;) {
        int state = atomic_load(&ahead->state);
        if (state == ENDED) {
            return;
        }
        if (state == POSTED) {
            take(ahead);
            checks = 0;
        } else if (++checks < MAX_CHECKS) {
            pause_briefly();
        } else {
            sleep_until_posted(ahead);
            checks = 0;
        }
    }
}

static void either_task(void *argument, size_t task, size_t worker) {
    struct ahead *ahead = argument;
    (void)worker;
    if (task == 0) {
        ahead->body(ahead->context, ahead);
        set_state(ahead, ENDED);
    } else {
        serve(ahead);
    }
}

void ahead_run(struct threads *threads, void (*body)(void *context, struct ahead *ahead),
               void (*job)(void *context), void *context) {
    struct ahead ahead = {.body = body,
                          .job = job,
                          .context = context,
                          .mutex = PTHREAD_MUTEX_INITIALIZER,
                          .wake = PTHREAD_COND_INITIALIZER};
    atomic_init(&ahead.state, IDLE);
    atomic_init(&ahead.asleep, false);
    threads_run(threads, 2, either_task, &ahead);
    pthread_cond_destroy(&ahead.wake);
    pthread_mutex_destroy(&ahead.mutex);
}

void ahead_post(struct ahead *ahead) {
    set_state(ahead, POSTED);
}

void ahead_wait(struct ahead *ahead) {
    take(ahead);
    for (int checks = 0; atomic_load(&ahead->state) == BEGUN; checks++) {
        if (checks < MAX_CHECKS) {
            pause_briefly();
        } else {
            sched_yield(); /* the other thread may wait for this processor */
        }
    }
}
