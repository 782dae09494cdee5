/**
 * Constant traffic: reads, writes and logins, sent on schedule regardless of earlier responses. Every response must be a success;
 * anything else, and a missing response, is a lost request of the step during which it was sent.
 */
import { openLoop } from "@latchkey/testing/measured-service";
import { type RequestOptions, request } from "@latchkey/testing/service-process";

export const REQUESTS_PER_SECOND = 50;

const TIMEOUT_MS = 30_000;
const USERS = 3;
const PASSWORD = "correct horse battery";

const createCounts = () => ({
  sent: 0,
  slowestMs: 0,
  /** Number of requests by what was received instead of a success. */
  lost: new Map<string, number>(),
});

type Session = Awaited<ReturnType<typeof openSession>>;

/** Rejects with the method, the path and what was received instead of a success. */
type Send = (path: string, options?: RequestOptions) => Promise<Response>;

/** Of ten requests: six reads, three writes, one login, whose token is then used at once. */
const REQUESTS: readonly ((send: Send, session: Session) => Promise<Response>)[] = [
  (send) => send("/todos?limit=20"),
  (send, { token }) => send("/auth/me", { token }),
  (send) => send("/todos", { method: "POST", body: { title: "bread" } }),
  (send, { todo }) => send(`/todos/${todo}`),
  logInAgain,
  (send) => send("/todos?limit=20"),
  (send, { todo }) => send(`/todos/${todo}`, { method: "PATCH", body: { completed: true } }),
  (send, { token }) => send("/auth/me", { token }),
  (send, { token, username }) => send("/auth/me", { method: "PATCH", token, body: { username } }),
  (send, { todo }) => send(`/todos/${todo}`),
];

/** The next request with the new token usually goes to another replica. */
async function logInAgain(send: Send, session: Session): Promise<Response> {
  const { email, password } = session;
  session.token = await readToken(await send("/auth/login", { method: "POST", body: { email, password } }));
  return send("/auth/me", { token: session.token });
}

/** The cast is safe because the contracts of the routes define the members, and `Body` names them. */
const readBody = async <Body>(response: Response): Promise<Body> => (await response.json()) as Body;

const readToken = async (response: Response): Promise<string> =>
  (await readBody<{ access_token: string }>(response)).access_token;

async function openSession(send: Send, index: number) {
  const user = { email: `user-${index}@example.com`, username: `user-${index}`, password: PASSWORD };
  await send("/auth/register", { method: "POST", body: user });
  /** Of the latest login. */
  const token = await readToken(await send("/auth/login", { method: "POST", body: user }));
  const created = await send("/todos", { method: "POST", body: { title: "milk" } });
  const { id: todo } = await readBody<{ id: number }>(created);
  return { ...user, token, todo };
}

export async function startTraffic(url: string) {
  const send: Send = async (path, options) => {
    const sent = `${options?.method ?? "GET"} ${path}`;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await request(url + path, { ...options, signal }).catch((error: unknown) => {
      throw new Error(`${sent}: ${error}`);
    });
    if (response.ok) return response;
    throw new Error(`${sent}: ${response.status} ${await response.text()}`);
  };
  const sessions = await Promise.all(Array.from({ length: USERS }, (_, index) => openSession(send, index)));
  let counts = createCounts();

  const sendNext = async (index: number): Promise<void> => {
    const request = REQUESTS[index % REQUESTS.length];
    const session = sessions[index % sessions.length];
    if (!request || !session) throw new Error("There is no request to send");
    const step = counts;
    step.sent += 1;
    const sentAt = performance.now();
    const problem = await request(send, session).then(
      async (response) => void (await response.text()),
      ({ message }: Error) => message,
    );
    step.slowestMs = Math.max(step.slowestMs, performance.now() - sentAt);
    if (problem !== undefined) step.lost.set(problem, (step.lost.get(problem) ?? 0) + 1);
  };

  const stopped = new AbortController();
  const sending = openLoop({ perSecond: REQUESTS_PER_SECOND, signal: stopped.signal }, sendNext);

  return {
    /** Starts to count for a new step. */
    beginStep() {
      counts = createCounts();
      return counts;
    },
    /** Stops sending, and resolves when every request has its response. */
    async stop() {
      stopped.abort();
      await sending;
    },
  };
}
