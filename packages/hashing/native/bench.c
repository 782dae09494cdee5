/* Runs a kernel in a loop on several threads: the upper bound for a pool with this kernel. Prints one line of JSON.
 * Usage: bench FAMILY WIDTH THREADS SECONDS */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lane.h"

enum { ITERATIONS = 600000, SLICE = 2000, MAX_THREADS = 256 };

struct run {
    const struct kernel *kernel;
    double seconds, rate; /* derivations of ITERATIONS iterations per second */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *loop(void *argument)
{
    struct run *run = argument;
    uint32_t state[MAX_WIDTH][LANE_WORDS], *lanes[MAX_WIDTH];
    for (size_t i = 0; i < MAX_WIDTH; i++) {
        uint8_t salt = (uint8_t)i;
        lanes[i] = state[i];
        lane_prepare(state[i], (const uint8_t *)"password", 8, &salt, 1);
    }
    double start = now(), elapsed;
    double iterations = 0;
    do {
        kernel_advance(run->kernel, lanes, run->kernel->width, SLICE);
        iterations += (double)SLICE * run->kernel->width;
        elapsed = now() - start;
    } while (elapsed < run->seconds);
    run->rate = iterations / ITERATIONS / elapsed;
    return NULL;
}

static const struct kernel *find_kernel(const char *family, unsigned long width)
{
    for (size_t i = 0; i < kernel_count; i++) {
        const struct kernel *kernel = &kernels[i];
        if (strcmp(kernel->family, family) == 0 && kernel->width == width && kernel_missing(kernel) == NULL) return kernel;
    }
    return NULL;
}

int main(int count, char **arguments)
{
    if (count != 5) return fprintf(stderr, "usage: bench FAMILY WIDTH THREADS SECONDS\n"), 2;
    const struct kernel *kernel = find_kernel(arguments[1], strtoul(arguments[2], NULL, 10));
    size_t threads = strtoul(arguments[3], NULL, 10), started = 0;
    double seconds = strtod(arguments[4], NULL), rate = 0;
    if (kernel == NULL || threads < 1 || threads > MAX_THREADS || !(seconds > 0 && seconds <= 600))
        return fprintf(stderr, "bench: this machine has no such kernel, or a number is out of range\n"), 2;

    pthread_t ids[MAX_THREADS];
    struct run runs[MAX_THREADS];
    for (; started < threads; started++) {
        runs[started] = (struct run){kernel, seconds, 0};
        if (pthread_create(&ids[started], NULL, loop, &runs[started]) != 0) break;
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(ids[i], NULL);
        rate += runs[i].rate;
    }
    if (started < threads) return fprintf(stderr, "bench: a thread could not be started\n"), 1;
    printf("{\"family\":\"%s\",\"width\":%u,\"threads\":%zu,\"seconds\":%g,\"iterations\":%d,\"derivationsPerSecond\":%.3f}\n",
           kernel->family, (unsigned)kernel->width, threads, seconds, ITERATIONS, rate);
    return 0;
}
