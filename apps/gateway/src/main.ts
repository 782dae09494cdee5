/**
 * Handles signals and sets the exit code. Only this file reads the environment and ends the process. The program is imported
 * after the signal handlers are installed, because the import takes long and process 1 ignores a signal without a handler.
 */
import { readFileSync } from "node:fs";
import type { Shutdown } from "./lifecycle/shutdown.ts";

/**
 * Bun keeps the address of a host name for 30 s, too long after a failover of a database, and reads this variable only when it
 * starts. Each start command of this repository sets it. Any other is repeated, in the same process, with the variable.
 */
const DNS_TTL = "BUN_CONFIG_DNS_TIME_TO_LIVE_SECONDS";
if (process.env[DNS_TTL] === undefined)
  process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
    ...process.env,
    [DNS_TTL]: "2",
  });

/** null until the port is opened. Until then, there are no requests to finish, and a signal ends the process at once. */
let shutdown: Shutdown | null = null;

/** Whether the process was started by `nohup`: it must survive the end of its terminal. Always false except on Linux. */
const ignoresHangup = (): boolean => {
  try {
    const [, mask = "0"] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    return Number.parseInt(mask.slice(-1), 16) % 2 === 1;
  } catch {
    return false;
  }
};

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  if (signal === "SIGHUP" && ignoresHangup()) continue;
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
