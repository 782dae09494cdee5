/** The service under soak, as it is deployed, in a process of its own: its failures as it logged them, and its memory. */
import { join } from "node:path";

export interface Failure {
  /** When it was logged, on the clock of `performance.now()`. */
  readonly atMs: number;
  readonly status: number;
  readonly route: string;
  /** The cause's code, or its type and message where it has none. */
  readonly cause: string;
}

export interface Heap {
  readonly bytes: number;
  readonly objects: number;
}

export interface SoakedService extends AsyncDisposable {
  readonly url: string;
  readonly failures: readonly Failure[];
  /** Lines at warn and above that belong to no request. */
  readonly remarks: readonly string[];
  readonly requests: () => number;
  crashWorker(): void;
  /** What lives after a forced collection. */
  collect(): Promise<Heap>;
  residentBytes(): Promise<number>;
  /** Asks it to stop; the exit code. */
  stop(): Promise<number>;
}

interface Line {
  readonly msg?: string;
  readonly level?: string;
  readonly url?: string;
  readonly status?: number;
  readonly route?: string;
  readonly bytes?: number;
  readonly objects?: number;
  readonly err?: { readonly code?: string; readonly type?: string; readonly message?: string };
}

export async function startSoakedService(env: Readonly<Record<string, string>>): Promise<SoakedService> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../src/main.ts")], {
    env: {
      PORT: "0",
      BUN_OPTIONS: `--preload=${join(import.meta.dir, "inside.ts")}`,
      LOG_FORMAT: "json",
      ...env,
    },
    stdout: "pipe",
    stderr: "inherit",
  });
  const ready = Promise.withResolvers<string>();
  const failures: Failure[] = [];
  const remarks: string[] = [];
  let requests = 0;
  let heap = Promise.withResolvers<Heap>();

  const take = ({ msg, level, url, status, route = "none", bytes, objects, err }: Line): void => {
    if (status !== undefined) requests += 1;
    if (status !== undefined && status >= 500) {
      const cause = err?.code ?? `${err?.type}: ${err?.message}`;
      failures.push({ atMs: performance.now(), status, route, cause });
    } else if (status === undefined && level !== "info" && level !== undefined)
      remarks.push(`${level}: ${msg}`);
    if (msg === "ready" && url !== undefined) ready.resolve(url);
    if (msg === "heap" && bytes !== undefined && objects !== undefined) heap.resolve({ bytes, objects });
  };
  const read = async (): Promise<void> => {
    let rest = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) take(JSON.parse(line));
    }
    const ended = new Error(`The service ended with ${await child.exited}`);
    ready.reject(ended);
    heap.reject(ended);
  };
  const reading = read();
  heap.promise.catch(() => undefined);

  const stop = async (): Promise<number> => {
    child.kill("SIGTERM");
    const code = await child.exited;
    await reading;
    return code;
  };
  return {
    url: await ready.promise,
    failures,
    remarks,
    requests: () => requests,
    crashWorker: () => child.kill("SIGUSR1"),
    async collect() {
      heap = Promise.withResolvers<Heap>();
      child.kill("SIGUSR2");
      return heap.promise;
    },
    async residentBytes() {
      const status = await Bun.file(`/proc/${child.pid}/status`).text();
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}
