/**
 * The processor time of each middleware per request: a server without middleware, and one more for each part with all parts
 * before it. The servers are loaded in alternation.
 */
import { describeMachine } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { type MeasuredServer, startService } from "@latchkey/testing/measured-service";
import { SignJWT } from "jose";
import { compare, describeLoad, medianMicroseconds } from "./support/compare.ts";
import { PART_NAMES, serve } from "./support/middleware-server.ts";
import { parseOptions, print } from "./support/options.ts";

const { MIDDLEWARE_COUNT } = process.env;

async function measure(): Promise<void> {
  const options = parseOptions({ rounds: 5, seconds: 1, connections: 32 });
  await using folder = await openFolder();
  await using stack = new AsyncDisposableStack();
  const servers: Record<string, MeasuredServer> = {};
  for (const [count, name] of ["no middleware", ...PART_NAMES].entries()) {
    const env = { NODE_ENV: "production", MIDDLEWARE_COUNT: String(count) };
    servers[name] = stack.use(await startService(folder, env, import.meta.path));
  }
  const token = await new SignJWT({ sub: "1" })
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(SECRET_KEY));
  print(describeMachine());
  print(describeLoad(options));
  const headers = { authorization: `Bearer ${token}` };
  const results = await compare({ servers, path: "/route?limit=20", headers, ...options });
  print("\n| With all parts above | µs per request | added |\n| --- | --: | --: |");
  let previous: number | null = null;
  for (const [name, rounds] of Object.entries(results)) {
    const microseconds = medianMicroseconds(rounds);
    const added = previous === null ? "" : (microseconds - previous).toFixed(1);
    print(`| ${name} | ${microseconds.toFixed(1)} | ${added} |`);
    previous = microseconds;
  }
  print(`\n${describeMachine()}`);
}

if (MIDDLEWARE_COUNT === undefined) await measure();
else serve(Number(MIDDLEWARE_COUNT));
