#ifdef __linux__
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "thread.h"

struct thread {
    pthread_t id;
    int nice;
    sem_t asked, done;
    void (*task)(void *); /* NULL: the thread is to end */
    void *argument;
};

/* sched_setattr(2), which the C library does not wrap everywhere. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/* Lowers this thread alone; refused, it stays as it is. Since Linux 6.12 the runtime is the slice that a thread asks for,
 * and what it forfeits when it gives way (since 6.18): the least there is, 0.1 ms, or a busy neighbour would starve it. */
static void stand_back(int nice)
{
    struct scheduling scheduling = {.size = sizeof scheduling, .policy = SCHED_OTHER, .nice = nice, .runtime = 100000};
    prctl(PR_SET_NAME, "derive");
    syscall(SYS_sched_setattr, 0, &scheduling, 0);
}

/* sem_wait(3) fails for nothing but a signal's sake. */
static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0) continue;
}

static void *serve(void *argument)
{
    struct thread *thread = argument;
    stand_back(thread->nice);
    for (;;) {
        await(&thread->asked);
        if (thread->task == NULL) return NULL;
        thread->task(thread->argument);
        sem_post(&thread->done);
    }
}

struct thread *thread_start(int nice)
{
    struct thread *thread = calloc(1, sizeof *thread);
    if (thread == NULL) return NULL;
    thread->nice = nice;
    sem_init(&thread->asked, 0, 0);
    sem_init(&thread->done, 0, 0);
    if (pthread_create(&thread->id, NULL, serve, thread) == 0) return thread;
    free(thread);
    return NULL;
}

void thread_run(struct thread *thread, void (*task)(void *), void *argument)
{
    thread->task = task;
    thread->argument = argument;
    sem_post(&thread->asked);
    await(&thread->done);
}

void thread_give_way(void)
{
    sched_yield();
}

void thread_end(struct thread *thread)
{
    thread->task = NULL;
    sem_post(&thread->asked);
    pthread_join(thread->id, NULL);
    sem_destroy(&thread->asked);
    sem_destroy(&thread->done);
    free(thread);
}

#else
#include <stddef.h>

#include "thread.h"

struct thread *thread_start(int nice)
{
    (void)nice;
    return NULL;
}

void thread_run(struct thread *thread, void (*task)(void *), void *argument)
{
    (void)thread, (void)task, (void)argument;
}

void thread_give_way(void)
{
}

void thread_end(struct thread *thread)
{
    (void)thread;
}
#endif
