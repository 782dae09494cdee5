/** The deployed service: `main.ts` in its own process on a free port, with its log lines parsed. */
import { EventEmitter, once } from "node:events";
import { assertNoSecrets } from "./log-guard.ts";
import { childOf, UNSHARE } from "./process-1.ts";
import { gatewayProgram } from "./program-bundles.ts";
import { runtimeSettings } from "./runtime-settings.ts";

export type Line = Readonly<Record<string, unknown>>;

export interface StartOptions {
  /** Receives each line instead of `lines`, for processes that log too much to keep. */
  readonly onLine?: (line: Line) => void;
  /** The program, such as that of another release. @default the gateway of this repository */
  readonly main?: string;
  /** A command that executes it, such as `nohup`. @default none */
  readonly wrapper?: readonly string[];
  /** Runs it as process 1 of its own namespace, as in a container; see `process-1.ts`. @default false */
  readonly isProcess1?: boolean;
}

/** Without this variable, `main.ts` executes itself a second time. */
const START_COMMAND = { BUN_CONFIG_DNS_TIME_TO_LIVE_SECONDS: "2" };

/** These variables prevent timeouts and 503 responses if other processes, such as parallel tests, delay derivations. */
export const PATIENT_HASHING = { HASH_NICE: "0", HASH_QUEUE_SECONDS: "600" };

export type ServiceProcess = ReturnType<typeof startProcess>;

/**
 * Starts `main.ts` with these environment variables and the settings of Bun only. By default it listens on a free port with one
 * hash worker, and resolves host names as after `bun start`. A variable that is undefined has no default.
 * Disposing it fails if a line in `lines` contains a secret.
 */
export function startProcess(
  env: Readonly<Record<string, string | undefined>>,
  { onLine, main = gatewayProgram(), wrapper = [], isProcess1 = false }: StartOptions = {},
) {
  const child = Bun.spawn([...(isProcess1 ? UNSHARE : []), ...wrapper, process.execPath, main], {
    env: { PORT: "0", HASH_WORKERS: "1", ...START_COMMAND, ...runtimeSettings(), ...env },
    stdout: "pipe",
    stderr: "pipe",
    killSignal: "SIGKILL",
  });
  const pid = isProcess1 ? childOf(child) : child.pid;
  const stderr = child.stderr.text();
  const lines: Line[] = [];
  /** Emits each line by its message, and an error when the process has exited. */
  const events = new EventEmitter().on("error", () => {});

  const read = async (): Promise<void> => {
    let rest = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) {
        const line: Line = JSON.parse(part);
        if (onLine) onLine(line);
        else lines.push(line);
        events.emit(`line: ${line.msg}`, line);
      }
    }
    events.emit("error", new Error(`The service exited with ${await child.exited}: ${await stderr}`));
  };
  const reading = read();

  /** Resolves with the first line that has this message; rejects with the standard error if the process exits before. */
  const line = async (message: string): Promise<Line> => {
    const known = lines.find(({ msg }) => msg === message);
    return known ?? (await once(events, `line: ${message}`))[0];
  };
  return {
    pid,
    /** All lines logged so far; empty if `onLine` receives them. */
    lines,
    line,
    /** Resolves with the service's URL once it is ready. */
    ready: async () => String((await line("ready")).url),
    signal: (name: NodeJS.Signals) => {
      if (child.exitCode === null && child.signalCode === null) process.kill(pid, name);
    },
    /** Resolves with the exit code and the standard error once the process has exited. */
    ended: async () => ({ code: await child.exited, stderr: await stderr }),
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]();
      await reading;
      assertNoSecrets(lines);
    },
  };
}

export interface RequestOptions extends Pick<RequestInit, "method" | "signal"> {
  /** Sent as JSON. @default no body */
  readonly body?: unknown;
  /** Sent as a bearer token. @default none */
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export const request = (url: string, { body, token, headers, ...init }: RequestOptions): Promise<Response> =>
  fetch(url, {
    ...init,
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** Sends a POST request with a JSON body. */
export const post = (url: string, body: unknown): Promise<Response> => request(url, { method: "POST", body });
