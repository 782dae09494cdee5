/** The shipped proxies in front of two replicas: whatever one client sends, and whenever, no request of another client fails. */
import { describe, expect } from "bun:test";
import { connect } from "node:net";
import { inFullRun } from "@latchkey/testing/full-run";
import { post } from "@latchkey/testing/service-process";
import { startBalancer, testWith } from "./balancer.ts";
import { openDelay } from "./delayed-connections.ts";
import { startShippedNginx } from "./nginx.ts";
import { startGateways } from "./replicas.ts";

const UNLIMITED = { RATE_LIMIT_ENABLED: "false" };

type Edit = (configuration: string) => string;
interface Proxy {
  readonly start: (options: {
    addresses: readonly string[];
    edit?: Edit;
  }) => Promise<AsyncDisposable & { port: number }>;
  /** Sends bodies while they arrive. */
  readonly unbuffered: Edit;
  /** Keeps idle connections for a time that suits an idle timeout of ten seconds. */
  readonly keepShortly: Edit;
}

const PROXIES: Readonly<Record<string, Proxy>> = {
  haproxy: {
    start: startBalancer,
    unbuffered: (text) => text.replace("option http-buffer-request", ""),
    keepShortly: (text) => text,
  },
  nginx: {
    start: startShippedNginx,
    unbuffered: (text) => text.replace("proxy_pass", "proxy_request_buffering off; proxy_pass"),
    keepShortly: (text) => text.replace("keepalive_timeout 60s", "keepalive_timeout 5s"),
  },
};

const LARGE_HEAD = Array.from({ length: 4 }, (_, index) => `X-Large-${index}: ${"x".repeat(7_000)}\r\n`).join(
  "",
);
/** nginx stores each field in one of its two buffers of 7 KiB. */
const LARGEST_HEAD = Array.from(
  { length: 2 },
  (_, index) => `X-Large-${index}: ${"x".repeat(7_000)}\r\n`,
).join("");
const JSON_BODY = "Content-Type: application/json\r\nContent-Length: 100000\r\n";

/** Requests that the service does not answer, or answers before it has read them, with the proxy's response. */
const HOSTILE = [
  ["FOO /todos HTTP/1.1\r\nHost: x\r\n\r\n", /^501$/],
  ["MKCOL /auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", /^501$/],
  [`POST /todos HTTP/1.1\r\nHost: x\r\n${LARGE_HEAD}${JSON_BODY}\r\n${" ".repeat(100_000)}`, /^(400|431)$/],
  // A slow upload: the rest of the body never arrives.
  [`POST /todos HTTP/1.1\r\nHost: x\r\n${JSON_BODY}\r\n{`, /^(none|408)$/],
] as const;

/** Returns the status of the response, or "none" if the connection is closed or nothing arrives for a second. */
function statusOf(port: number, request: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("data", (bytes) => resolve(/^HTTP\/1\.1 (\d+)/.exec(String(bytes))?.[1] ?? "none"));
  for (const event of ["error", "close"]) socket.on(event, () => resolve("none"));
  socket.setTimeout(1_000, () => resolve("none"));
  socket.write(request);
  return promise.finally(() => socket.destroy());
}

/** Runs `count` calls, at most `concurrency` at a time. */
async function repeat(
  count: number,
  concurrency: number,
  call: (index: number) => Promise<void>,
): Promise<void> {
  let started = 0;
  const worker = async (): Promise<void> => {
    while (started < count) await call(started++);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

inFullRun(describe).each(Object.entries(PROXIES))("behind %s", (name, { start, unbuffered, keepShortly }) => {
  const proxyTest = testWith(name);

  proxyTest.each([
    ["as shipped", (text: string) => text],
    ["that sends bodies while they arrive", unbuffered],
  ])(
    "%s, unknown methods, large heads and slow uploads of a client fail no request of another",
    async (_name, edit) => {
      await using gateways = await startGateways({ environment: UNLIMITED });
      await using proxy = await start({ addresses: gateways.addresses, edit });
      const { port } = proxy;
      const statuses = new Map<number, number>();
      const url = `http://127.0.0.1:${port}/todos`;
      await Promise.all([
        repeat(200, 8, async (index) => {
          const [request, expected] = HOSTILE[index % HOSTILE.length] ?? ["", /^$/];
          expect(await statusOf(port, request)).toMatch(expected);
        }),
        repeat(2_000, 4, async (index) => {
          const { status } = await (index % 2 ? fetch(url) : post(url, { title: "x" }));
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }),
      ]);
      expect(statuses).toEqual(
        new Map([
          [201, 1_000],
          [200, 1_000],
        ]),
      );
    },
  );

  proxyTest("a head of 14 KiB reaches the service", async () => {
    await using gateways = await startGateways({ environment: UNLIMITED });
    await using proxy = await start({ addresses: gateways.addresses });
    expect(await statusOf(proxy.port, `GET /todos HTTP/1.1\r\nHost: x\r\n${LARGEST_HEAD}\r\n`)).toBe("200");
  });

  proxyTest(
    "no POST that is sent when the service closes idle connections fails, with 20 ms of round trip",
    async () => {
      await using resources = new AsyncDisposableStack();
      const environment = { ...UNLIMITED, IDLE_TIMEOUT_SECONDS: "10" };
      const { addresses } = resources.use(await startGateways({ environment }));
      const failed: string[] = [];
      // A proxy reuses the connection that it used last: each proxy sends one burst, at its own time, until after the service has
      // closed idle connections (Bun checks every four seconds).
      const send = async (index: number): Promise<void> => {
        const closed = Promise.withResolvers<void>();
        const delays = await Promise.all(
          addresses.map((target) => openDelay({ target, delayMs: 10, onServerEnd: closed.resolve })),
        );
        for (const delay of delays) resources.use(delay);
        const { port } = resources.use(
          await start({ addresses: delays.map(({ address }) => address), edit: keepShortly }),
        );
        const burst = () =>
          Promise.all(
            Array.from({ length: 20 }, () => post(`http://127.0.0.1:${port}/todos`, { title: "x" })),
          );
        await burst();
        await Promise.race([closed.promise, Bun.sleep(5_500 + 750 * index)]);
        for (const response of await burst())
          if (response.status !== 201) failed.push(`${response.status} ${await response.text()}`);
      };
      await Promise.all(Array.from({ length: 10 }, (_, index) => send(index)));
      expect(failed).toEqual([]);
    },
  );
});
