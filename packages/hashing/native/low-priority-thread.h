/* A thread that runs tasks for another thread at a lower priority. Tasks must call sched_yield often. */
#pragma once

struct low_priority_thread;

/* Starts a thread with this nice value (1..19). Returns NULL if that fails, and on systems other than Linux, where
 * threads have no nice value of their own. */
struct low_priority_thread *low_priority_thread_start(int nice);

/* Runs task(argument) on the thread and waits for its end; one caller at a time. */
void low_priority_thread_run(struct low_priority_thread *thread, void (*task)(void *), void *argument);

/* Ends the thread, which must not be running a task. The argument has the type of a Node-API cleanup hook's. */
void low_priority_thread_end(void *thread);
