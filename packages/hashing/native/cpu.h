/* What the processor and its operating system lack for a kernel, as a sentence's end; NULL when nothing. */
#ifndef LATCHKEY_CPU_H
#define LATCHKEY_CPU_H

const char *cpu_missing_for_avx512(void);
const char *cpu_missing_for_avx2(void);
const char *cpu_missing_for_sha_ni(void);
const char *cpu_missing_for_armv8(void);

#endif
