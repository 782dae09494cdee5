/** Settings of Bun for processes that live for seconds: the default run has them, the full run tests Bun as operators run it. */

/**
 * Together they save a third of the CPU seconds: optimized code and memory that is returned to the system do not pay off before a
 * process of tests ends.
 */
export const SHORT_LIVED = {
  /** Calls of a function until it is compiled with optimizations, ten to twenty times as many as by default. */
  BUN_JSC_thresholdForOptimizeAfterWarmUp: "20000",
  BUN_JSC_thresholdForOptimizeAfterLongWarmUp: "20000",
  BUN_JSC_thresholdForOptimizeSoon: "20000",
  /** Freed memory stays with the process. */
  MIMALLOC_PURGE_DELAY: "-1",
} as const;

/** The settings that this process has, for one that inherits no other variables. */
export const runtimeSettings = (): Record<string, string> =>
  Object.fromEntries(
    Object.keys(SHORT_LIVED).flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
