/** The service as it is deployed: `main.ts` in a process of its own, on a port of its own, read line by line. */
import { refuseSecrets } from "./log-guard.ts";
import { GATEWAY_MAIN } from "./repository.ts";

export type Line = Readonly<Record<string, unknown>>;

export interface ServiceProcess extends AsyncDisposable {
  readonly pid: number;
  /** Every line logged so far. */
  readonly lines: readonly Line[];
  /** The line with this message, waited for; rejects with what was written to stderr if the process ends before. */
  line(message: string): Promise<Line>;
  /** The URL of the ready line. */
  ready(): Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** How it ended, and everything it wrote to stderr. */
  ended(): Promise<{ readonly code: number; readonly stderr: string }>;
}

/** Starts `main.ts` with these variables and no others; a port of its own and JSON lines unless they say otherwise. */
export function startProcess(env: Readonly<Record<string, string>>): ServiceProcess {
  const child = Bun.spawn([process.execPath, GATEWAY_MAIN], {
    env: { PORT: "0", HASH_WORKERS: "1", ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const stderr = new Response(child.stderr).text();
  const lines: Line[] = [];
  const waiting = new Map<string, PromiseWithResolvers<Line>>();

  const take = (text: string): void => {
    const line: Line = JSON.parse(text);
    lines.push(line);
    waiting.get(String(line.msg))?.resolve(line);
  };
  const read = async (): Promise<void> => {
    let rest = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) take(part);
    }
    const failure = new Error(`The service ended with ${await child.exited}: ${await stderr}`);
    for (const { reject } of waiting.values()) reject(failure);
  };
  const reading = read();

  const line = async (message: string): Promise<Line> => {
    const known = lines.find(({ msg }) => msg === message);
    if (known) return known;
    const waiter = waiting.get(message) ?? Promise.withResolvers<Line>();
    waiting.set(message, waiter);
    return waiter.promise;
  };
  return {
    pid: child.pid,
    lines,
    line,
    ready: async () => String((await line("ready")).url),
    signal: (name) => child.kill(name),
    ended: async () => ({ code: await child.exited, stderr: await stderr }),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      await reading;
      refuseSecrets(lines);
    },
  };
}

/** Posts JSON. */
export const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
