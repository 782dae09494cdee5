/** The deployed service under soak, with its errors as it logged them and its memory. */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { residentBytes } from "@latchkey/testing/measured-service";
import { startProcess } from "@latchkey/testing/service-process";

interface ServerError {
  /** The time of the log line, on the clock of `performance.now()`. */
  readonly atMs: number;
  readonly status: number;
  readonly route: string;
  /** The code of the cause, or its type and message if it has no code. */
  readonly cause: string;
}

export type SoakedService = Awaited<ReturnType<typeof startSoakedService>>;

/** The members of a log line that the soak reads. */
interface LogLine {
  readonly msg?: string;
  readonly level?: string;
  readonly status?: number;
  readonly route?: string;
  readonly err?: { readonly code?: string; readonly type?: string; readonly message?: string };
}

export async function startSoakedService(env: Readonly<Record<string, string>>) {
  const errors: ServerError[] = [];
  const warnings = new Set<string>();
  let requests = 0;

  const onLine = ({ msg, level = "info", status, route = "none", err }: LogLine): void => {
    if (status !== undefined) requests += 1;
    else if (level !== "info") warnings.add(`${level}: ${msg}`);
    const cause = err?.code ?? `${err?.type}: ${err?.message}`;
    if (status !== undefined && status >= 500) errors.push({ atMs: performance.now(), status, route, cause });
  };
  const shared = {
    BUN_OPTIONS: `--preload=${join(import.meta.dir, "preload.ts")}`,
    LOG_FORMAT: "json",
    HASH_WORKERS: String(availableParallelism()),
  };
  const service = startProcess({ ...shared, ...env }, { onLine });

  return {
    url: await service.ready(),
    errors,
    /** Log lines of level warn and above that do not belong to a request. */
    warnings,
    crashWorker: () => service.signal("SIGUSR1"),
    /** Collects garbage and returns what is left, and the number of requests until then. */
    async measureMemory() {
      const line = service.line("heap");
      service.signal("SIGUSR2");
      const objects = Number((await line).objects);
      return { requests, objects, residentBytes: await residentBytes(service.pid) };
    },
    /** Stops the service and returns its exit code. */
    async stop(): Promise<number> {
      service.signal("SIGTERM");
      const { code, stderr } = await service.ended();
      process.stderr.write(stderr);
      return code;
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
