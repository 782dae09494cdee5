/* This file compiles on every system, but starts threads only on Linux. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>

#include "low-priority-thread.h"

struct low_priority_thread {
    pthread_t id;
    int nice;
    sem_t requested, done;
    void (*task)(void *); /* NULL: the thread ends */
    void *argument;
};

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { SUPPORTED = 1 };

/* Lowers the priority of this thread only. If that fails, the priority stays normal. Since Linux 6.12, `runtime` is the
 * requested time slice. Since Linux 6.18, sched_yield also forfeits the rest of the slice. Therefore, `runtime` is the minimum
 * of 0.1 ms: with a longer slice, a busy thread on the same core could starve this thread. */
static void lower_priority(int nice)
{
    /* The argument of sched_setattr(2). Not every C library declares its type. */
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } scheduling = {.size = sizeof scheduling, .policy = SCHED_OTHER, .nice = nice, .runtime = 100000};
    prctl(PR_SET_NAME, "derive");
    syscall(SYS_sched_setattr, 0, &scheduling, 0);
}
#else
enum { SUPPORTED = 0 };
#define lower_priority(nice) ((void)(nice))
#endif

/* sem_wait(3) can only fail because a signal interrupted it. */
#define WAIT_FOR(semaphore) while (sem_wait(semaphore) != 0) continue

static void *run_tasks(void *argument)
{
    struct low_priority_thread *thread = argument;
    lower_priority(thread->nice);
    for (;;) {
        WAIT_FOR(&thread->requested);
        if (thread->task == NULL) return NULL;
        thread->task(thread->argument);
        sem_post(&thread->done);
    }
}

struct low_priority_thread *low_priority_thread_start(int nice)
{
    struct low_priority_thread *thread = SUPPORTED ? calloc(1, sizeof *thread) : NULL;
    if (thread == NULL) return NULL;
    thread->nice = nice;
    sem_init(&thread->requested, 0, 0);
    sem_init(&thread->done, 0, 0);
    if (pthread_create(&thread->id, NULL, run_tasks, thread) == 0) return thread;
    free(thread);
    return NULL;
}

void low_priority_thread_run(struct low_priority_thread *thread, void (*task)(void *), void *argument)
{
    thread->task = task;
    thread->argument = argument;
    sem_post(&thread->requested);
    WAIT_FOR(&thread->done);
}

void low_priority_thread_end(struct low_priority_thread *thread)
{
    thread->task = NULL;
    sem_post(&thread->requested);
    pthread_join(thread->id, NULL);
    sem_destroy(&thread->requested);
    sem_destroy(&thread->done);
    free(thread);
}
