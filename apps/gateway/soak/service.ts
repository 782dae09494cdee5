/** The deployed service under soak, with its errors as it logged them and its memory. */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { residentBytes } from "@latchkey/testing/measured-service";
import { startProcess } from "@latchkey/testing/service-process";

export interface ServerError {
  /** The time of the log line, on the clock of `performance.now()`. */
  readonly atMs: number;
  readonly status: number;
  readonly route: string;
  /** The code of the cause, or its type and message if it has no code. */
  readonly cause: string;
}

export interface Heap {
  readonly bytes: number;
  readonly objects: number;
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
  const warnings: string[] = [];
  let requests = 0;

  const onLine = ({ msg, level, status, route = "none", err }: LogLine): void => {
    if (status !== undefined) requests += 1;
    if (status !== undefined && status >= 500) {
      const cause = err?.code ?? `${err?.type}: ${err?.message}`;
      errors.push({ atMs: performance.now(), status, route, cause });
    } else if (status === undefined && level !== "info" && level !== undefined) {
      warnings.push(`${level}: ${msg}`);
    }
  };
  const service = startProcess(
    {
      BUN_OPTIONS: `--preload=${join(import.meta.dir, "preload.ts")}`,
      LOG_FORMAT: "json",
      HASH_WORKERS: String(availableParallelism()),
      ...env,
    },
    { onLine },
  );

  return {
    url: await service.ready(),
    errors,
    /** Log lines of level warn and above that do not belong to a request. */
    warnings,
    requests: () => requests,
    crashWorker: () => service.signal("SIGUSR1"),
    /** Collects garbage and returns the size of the heap. */
    async measureHeap(): Promise<Heap> {
      const line = service.line("heap");
      service.signal("SIGUSR2");
      const { bytes, objects } = await line;
      return { bytes: Number(bytes), objects: Number(objects) };
    },
    residentBytes: () => residentBytes(service.pid),
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
