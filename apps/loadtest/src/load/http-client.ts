/**
 * Sends requests over as many keep-alive connections as needed. Returns the status of each response, or the name of the
 * connection error. Uses `node:http`, because `fetch` sends at most 256 requests concurrently and keeps at most 64 idle
 * connections.
 */
import http from "node:http";
import https from "node:https";

export interface LoadRequest {
  /** The name of the operation in the report, such as `login`. */
  readonly operation: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The status that the response must have. Every other status is an error. */
  readonly expected: number;
}

export interface ResponseStatus {
  /** `none` if the connection failed or the timeout expired. */
  readonly status: string;
  /** `refused`, `reset`, `closed`, `timed out`, or any other error's code, such as `ENOTFOUND`; null for a complete response. */
  readonly connectionError: string | null;
}

export type HttpClient = ReturnType<typeof createHttpClient>;

/** Names by error code. `connectionErrorOf` adds the name `closed`. */
const CONNECTION_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused",
  ECONNRESET: "reset",
  EPIPE: "reset",
  ETIMEDOUT: "timed out",
};

/** Shorter than the idle timeout of the service, which must not close a connection that a request is about to reuse. */
const IDLE_TIMEOUT_MS = 4000;

/** @param timeoutMs the maximum time from sending a request to the end of the response */
export function createHttpClient(url: string, timeoutMs: number) {
  const { protocol, hostname, port } = new URL(url);
  const { Agent, request }: Pick<typeof http, "Agent" | "request"> = protocol === "https:" ? https : http;
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 4096, timeout: IDLE_TIMEOUT_MS });
  const target = { agent, protocol, host: hostname.replace(/^\[|\]$/g, ""), port };
  /** Functions that abort one pending request each. */
  const pending = new Set<() => void>();

  return {
    /** Never rejects: `connectionError` contains the error. */
    send({ method, path, headers, body }: LoadRequest): Promise<ResponseStatus> {
      return new Promise((resolve) => {
        const settle = (status: string, connectionError: string | null = null): void => {
          clearTimeout(timer);
          pending.delete(abort);
          resolve({ status, connectionError });
        };
        const fail = (error: NodeJS.ErrnoException): void => settle("none", connectionErrorOf(error));
        const sent = request({ ...target, method, path, headers }, (response) => {
          response.on("end", () => settle(String(response.statusCode)));
          response.on("error", fail);
          response.resume();
        });
        const abort = (): void => {
          settle("none", "timed out");
          sent.destroy();
        };
        const timer = setTimeout(abort, timeoutMs);
        pending.add(abort);
        sent.on("error", fail);
        sent.end(body ?? undefined);
      });
    },
    /** Aborts all requests and closes every connection. */
    close(): void {
      for (const abort of [...pending]) abort();
      agent.destroy();
    },
  };
}

/**
 * Returns `closed` if the service closed the connection before the response was complete. For this error, and for a reset
 * connection, `node:http` uses the code `ECONNRESET`. Only the error of a reset connection has a `syscall`.
 */
function connectionErrorOf({ code = "UNKNOWN", syscall }: NodeJS.ErrnoException): string {
  if (code === "ECONNRESET" && syscall === undefined) return "closed";
  return CONNECTION_ERRORS[code] ?? code;
}
