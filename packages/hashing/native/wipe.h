/* Overwrites secrets in ways that compilers do not remove as dead stores. */
#pragma once

#include <stddef.h>
#include <string.h>

/* The empty assembly declares that it reads the memory, so the compiler must write the zeros. */
static inline void wipe(void *memory, size_t bytes)
{
    if (bytes == 0) return;
    memset(memory, 0, bytes);
    __asm__ __volatile__("" : : "r"(memory) : "memory");
}

/* Overwrites what functions leave behind after they return, in the stack below the caller and in the vector registers. */
void wipe_traces(void);
