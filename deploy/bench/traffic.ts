/**
 * Constant traffic: reads, writes and logins, sent on schedule regardless of earlier responses. Every response must be a success;
 * anything else, and a missing response, is a lost request of the step during which it was sent.
 */
export const REQUESTS_PER_SECOND = 50;

const TIMEOUT_MS = 30_000;
const USERS = 3;
const PASSWORD = "correct horse battery";

export interface StepCounts {
  sent: number;
  slowestMs: number;
  /** Number of requests by what was received instead of a success. */
  readonly lost: Map<string, number>;
}

interface Session {
  readonly email: string;
  readonly username: string;
  /** Of the latest login. */
  token: string;
  readonly todo: number;
}

type Send = (path: string, options?: SendOptions) => Promise<Response>;

interface SendOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly token?: string;
}

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

const createSend =
  (url: string): Send =>
  (path, { method = "GET", body, token } = {}) =>
    fetch(url + path, {
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

/** The cast is safe because the contracts of both routes define the members, and `Body` names them. */
const readBody = async <Body>(response: Promise<Response>): Promise<Body> =>
  (await (await response).json()) as Body;

/** The next request with the new token usually goes to another replica. */
async function logInAgain(send: Send, session: Session): Promise<Response> {
  const body = { email: session.email, password: PASSWORD };
  const response = await send("/auth/login", { method: "POST", body });
  if (!response.ok) return response;
  const { access_token: token } = await readBody<{ access_token: string }>(Promise.resolve(response));
  session.token = token;
  return send("/auth/me", { token });
}

async function openSession(send: Send, index: number): Promise<Session> {
  const account = { email: `user-${index}@example.com`, username: `user-${index}`, password: PASSWORD };
  await send("/auth/register", { method: "POST", body: account });
  const login = send("/auth/login", { method: "POST", body: account });
  const { access_token: token } = await readBody<{ access_token: string }>(login);
  const created = send("/todos", { method: "POST", body: { title: "milk" } });
  const { id: todo } = await readBody<{ id: number }>(created);
  return { email: account.email, username: account.username, token, todo };
}

export interface Traffic {
  /** Starts to count for a new step. */
  beginStep(): StepCounts;
  /** Stops sending, and resolves when every request has its response. */
  stop(): Promise<void>;
}

export async function startTraffic(url: string): Promise<Traffic> {
  const send = createSend(url);
  const sessions = await Promise.all(Array.from({ length: USERS }, (_, index) => openSession(send, index)));
  const unanswered = new Set<Promise<void>>();
  let counts: StepCounts = { sent: 0, slowestMs: 0, lost: new Map() };
  let sequence = 0;

  const sendNext = async (): Promise<void> => {
    const request = REQUESTS[sequence % REQUESTS.length];
    const session = sessions[sequence % sessions.length];
    if (!request || !session) throw new Error("There is no request to send");
    sequence += 1;
    const step = counts;
    step.sent += 1;
    const sentAt = performance.now();
    const problem = await request(send, session).then(
      async (response) => {
        const text = await response.text();
        return response.ok ? null : `${response.status} ${new URL(response.url).pathname} ${text}`;
      },
      (error: unknown) => String(error),
    );
    step.slowestMs = Math.max(step.slowestMs, performance.now() - sentAt);
    if (problem !== null) step.lost.set(problem, (step.lost.get(problem) ?? 0) + 1);
  };

  const startedAt = performance.now();
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1_000) * REQUESTS_PER_SECOND;
    while (sequence < due) {
      const response = sendNext().finally(() => unanswered.delete(response));
      unanswered.add(response);
    }
  }, 1_000 / REQUESTS_PER_SECOND);

  return {
    beginStep() {
      counts = { sent: 0, slowestMs: 0, lost: new Map() };
      return counts;
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(unanswered);
    },
  };
}
