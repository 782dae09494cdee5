/* A thread that derives for another one and stands back for everything else that runs. */
#ifndef LATCHKEY_THREAD_H
#define LATCHKEY_THREAD_H

struct thread;

/* Starts one, lowered by `nice` (1..19). NULL where a thread cannot be lowered alone (that takes Linux), or if none is to be had. */
struct thread *thread_start(int nice);

/* Runs task(argument) on the thread and returns when it has; one caller at a time. */
void thread_run(struct thread *thread, void (*task)(void *), void *argument);

/* Lets whoever waits for this processor have it before the task goes on; to be called from within a task, often. */
void thread_give_way(void);

/* Ends the thread, which must not be in a task. */
void thread_end(struct thread *thread);

#endif
