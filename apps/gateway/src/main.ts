/**
 * Signals and the exit code; only this file reads the environment and ends the process. It imports the program after it has
 * installed the handlers, because imports take long, and process 1 ignores a signal that has no handler.
 */
import type { Shutdown } from "./lifecycle/shutdown.ts";

/** Null until the port is open. Before that, there are no requests to finish and a signal ends the process at once. */
let shutdown: Shutdown | null = null;

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => {
    if (shutdown) shutdown.onSignal(signal);
    else process.exit(0);
  });
}

const { run } = await import("./program.ts");
await run(process.argv.slice(2), {
  variables: process.env,
  onListen: (started) => {
    shutdown = started;
  },
  exit: (code) => process.exit(code),
});
