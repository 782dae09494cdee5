/**
 * Sends requests over as many keep-alive connections as needed and returns the status of each response, or the name of its
 * connection error. Uses node:http: fetch sends at most 256 requests concurrently and keeps 64 idle connections.
 */
import http from "node:http";
import https from "node:https";

export interface LoadRequest {
  /** Its name in the report, such as `login`. */
  readonly operation: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Expected status. */
  readonly expected: number;
}

export interface ResponseStatus {
  /** `none` if the connection failed or the timeout expired. */
  readonly status: string;
  /** `refused`, `reset`, `closed`, `timed out`, or another error code, such as `ENOTFOUND`; null with a response. */
  readonly connectionError: string | null;
}

export type HttpClient = ReturnType<typeof createHttpClient>;

/** `closed`: the service closed the connection before the response was complete. */
const CONNECTION_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused",
  ECONNRESET: "reset",
  EPIPE: "reset",
  ETIMEDOUT: "timed out",
};

/** Shorter than the idle timeout of a service: no connection is closed at the moment of its next use. */
const IDLE_TIMEOUT_MS = 4000;

/** @param timeoutMs from sending to the end of the response */
export function createHttpClient(url: string, timeoutMs: number) {
  const { protocol, hostname, port } = new URL(url);
  const { Agent, request }: Pick<typeof http, "Agent" | "request"> = protocol === "https:" ? https : http;
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 4096, timeout: IDLE_TIMEOUT_MS });
  const target = { agent, protocol, host: hostname.replace(/^\[|\]$/g, ""), port };
  /** Aborts a request each. */
  const pending = new Set<() => void>();

  return {
    /** Never rejects. */
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

/** node:http reports a closed connection with the code of a reset connection, but only the latter has a system call. */
function connectionErrorOf({ code = "UNKNOWN", syscall }: NodeJS.ErrnoException): string {
  if (code === "ECONNRESET" && syscall === undefined) return "closed";
  return CONNECTION_ERRORS[code] ?? code;
}
