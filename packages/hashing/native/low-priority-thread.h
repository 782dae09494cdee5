/* A thread that runs tasks for another thread at a lower priority. Tasks must call sched_yield often. */
#pragma once

struct low_priority_thread;

/* Starts a thread with this nice value (1..19). Returns NULL if the thread cannot start, and on systems other than
 * Linux, because their threads have no nice value of their own. */
struct low_priority_thread *low_priority_thread_start(int nice);

/* Runs task(argument) on the thread and waits until the task ends. Only one caller at a time can do this. */
void low_priority_thread_run(struct low_priority_thread *thread, void (*task)(void *), void *argument);

/* Ends the thread, which must not be running a task. */
void low_priority_thread_end(struct low_priority_thread *thread);
