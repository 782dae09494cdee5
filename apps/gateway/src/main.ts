/**
 * Handles signals and sets the exit code. Only this file reads the environment and ends the process. The program is imported
 * after the signal handlers are installed, because the import takes long and process 1 ignores a signal without a handler.
 */
import type { Shutdown } from "./lifecycle/shutdown.ts";

/** null until the port is opened. Until then, there are no requests to finish, and a signal ends the process at once. */
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
