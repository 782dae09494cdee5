/* Overwriting what was secret, in ways that no compiler takes for a dead store. */
#ifndef LATCHKEY_WIPE_H
#define LATCHKEY_WIPE_H

#include <stddef.h>
#include <string.h>

/* The empty assembly claims to read the memory, so the zeros must have been written. */
static inline void wipe(void *memory, size_t bytes)
{
    if (bytes == 0) return;
    memset(memory, 0, bytes);
    __asm__ __volatile__("" : : "r"(memory) : "memory");
}

/* Overwrites the stack below the caller, where functions that have returned spilled their registers. */
void wipe_stack(void);

#endif
