/**
 * Sends requests over as many kept-alive connections as are needed at once, and tells the status of each answer, whatever
 * happens. Over node:http, since fetch holds back all but 256 requests and keeps 64 idle connections.
 */
import { Agent, type ClientRequest, type IncomingMessage, request as sendPlainly } from "node:http";
import { Agent as SecureAgent, request as sendSecurely } from "node:https";

export interface LoadRequest {
  /** Under which it is reported, such as `login`. */
  readonly operation: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The status that is asked for. */
  readonly expected: number;
}

export interface Answer {
  /** `none` where the connection broke or the answer was not there in time. */
  readonly status: string;
  /** The system's code of what broke, such as `ECONNRESET`. */
  readonly fault: string | null;
}

export interface HttpClient {
  /** Never rejects. */
  send(request: LoadRequest): Promise<Answer>;
  /** Gives up what is under way and ends every connection. */
  close(): void;
}

export interface HttpClientOptions {
  readonly url: string;
  /** How long an answer may take from sending. */
  readonly timeoutMs: number;
}

const SWEEP_MS = 100;
const UNKNOWN = "UNKNOWN";
/** Idle connections are closed long before a service would, so that none breaks at the moment of its next use. */
const IDLE_MS = 4000;

export function createHttpClient({ url, timeoutMs }: HttpClientOptions): HttpClient {
  const { protocol, hostname, port } = new URL(url);
  const isSecure = protocol === "https:";
  const pool = {
    keepAlive: true,
    maxSockets: Infinity,
    maxFreeSockets: 4096,
    scheduling: "lifo",
    timeout: IDLE_MS,
  } as const;
  const agent = isSecure ? new SecureAgent(pool) : new Agent(pool);
  const target = { agent, host: hostname.replace(/^\[|\]$/g, ""), port: port || (isSecure ? "443" : "80") };
  const open = isSecure ? sendSecurely : sendPlainly;
  /** By deadline, the nearest first, since all have the same time. */
  const underWay = new Map<ClientRequest, { readonly deadline: number; readonly giveUp: () => void }>();

  const sweep = setInterval(() => {
    const now = performance.now();
    for (const { deadline, giveUp } of underWay.values()) {
      if (deadline > now) return;
      giveUp();
    }
  }, SWEEP_MS);

  return {
    send({ method, path, headers, body }) {
      return new Promise((resolve) => {
        const settle = (answer: Answer): void => {
          underWay.delete(sent);
          resolve(answer);
        };
        const fail = ({ code = UNKNOWN }: NodeJS.ErrnoException): void =>
          settle({ status: "none", fault: code });
        const take = (response: IncomingMessage): void => {
          response.on("end", () => settle({ status: String(response.statusCode), fault: null }));
          response.on("error", fail);
          response.resume();
        };
        const sent = open({ ...target, method, path, headers }, take);
        sent.on("error", fail);
        const giveUp = (): void => {
          settle({ status: "none", fault: "ETIMEDOUT" });
          sent.destroy();
        };
        underWay.set(sent, { deadline: performance.now() + timeoutMs, giveUp });
        sent.end(body ?? undefined);
      });
    },
    close() {
      clearInterval(sweep);
      for (const { giveUp } of [...underWay.values()]) giveUp();
      agent.destroy();
    },
  };
}
