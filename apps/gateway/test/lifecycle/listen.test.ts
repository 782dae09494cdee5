/** The error if a port or an address cannot be opened. `process/exit-codes.test.ts` starts the service with such ones. */
import { expect, test } from "bun:test";
import { listen } from "../../src/lifecycle/listen.ts";

const open = (variable: "PORT" | "METRICS_PORT", address: { host: string; port: number }) => () =>
  listen(variable, address, ({ hostname, port }) =>
    Bun.serve({ hostname, port, fetch: () => new Response() }),
  );

test("a port that is in use names its variable and the next port, and an address of another machine its host; the exit code is 71", () => {
  using first = open("PORT", { host: "127.0.0.1", port: 0 })();
  const port = first.port ?? 0;
  for (const variable of ["PORT", "METRICS_PORT"] as const)
    expect(open(variable, { host: "127.0.0.1", port })).toThrow(
      expect.objectContaining({
        exitCode: 71,
        message: expect.stringMatching(
          RegExp(
            `^${variable} ${port} on 127.0.0.1 is not available: another program uses it\\..*, such as ${variable}=${port + 1}$`,
          ),
        ),
      }),
    );
  const message = expect.stringContaining("PORT 0 on 192.0.2.1 is not available: ");
  expect(open("PORT", { host: "192.0.2.1", port: 0 })).toThrow(
    expect.objectContaining({ exitCode: 71, message }),
  );
});
