/** The examples of docs/resource-servers, as they are there, verify tokens from the URL of the public keys alone. */
import { expect, test } from "bun:test";
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Token } from "@latchkey/contracts";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { createKeyPair, privateKeyVariables } from "@latchkey/testing/keys";
import { ROOT } from "@latchkey/testing/repository";
import { freePort } from "@latchkey/testing/server-process";
import { KEY, openAdministration } from "../support/administration.ts";
import { startCuttingProxy } from "../support/cutting-proxy.ts";
import { encode, forge, forgeWithPrivateKey, openToken } from "../support/forge-token.ts";
import { EVERY_FEATURE, startService } from "../support/service.ts";

const EVENT_KEY = "e".repeat(32);
const ISSUER = "https://accounts.example.com";
const AUDIENCE = "https://api.example.com";
/** Debian's packages: python3-{fastapi,jwt,cryptography,uvicorn}, golang-go. */
const PYTHON = "/usr/bin/python3";

interface Example {
  readonly file: string;
  readonly isInstalled: boolean;
  /** Returns the command that starts the file in this folder. */
  readonly prepare: (folder: string, port: number) => readonly string[];
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  Express: {
    file: "main.mjs",
    isInstalled: Bun.which("node") !== null,
    prepare(folder) {
      const modules = join(folder, "node_modules");
      if (!existsSync(modules)) symlinkSync(join(ROOT, "apps/gateway/node_modules"), modules);
      return ["node", "main.mjs"];
    },
  },
  FastAPI: {
    file: "main.py",
    isInstalled:
      existsSync(PYTHON) &&
      Bun.spawnSync([PYTHON, "-c", "import cryptography, fastapi, jwt, uvicorn"]).success,
    // Without -B, Python could use the code of the previous test: it compares the size and the second of a file.
    prepare: (_, port) => [PYTHON, "-B", "-m", "uvicorn", "main:app", "--port", String(port)],
  },
  Go: {
    file: "main.go",
    isInstalled: Bun.which("go") !== null,
    prepare(folder) {
      const env = { ...process.env, GO111MODULE: "off", GOCACHE: join(folder, "cache") };
      const { stderr } = Bun.spawnSync(["go", "build", "-o", "main", "main.go"], { cwd: folder, env });
      expect(stderr.toString()).toBe("");
      return [join(folder, "main")];
    },
  },
};

interface StartOptions {
  /** Whether it caches keys; otherwise it requests them for each token. @default true */
  readonly cachesKeys?: boolean;
  /** Where it follows account events. @default it does not */
  readonly eventsUrl?: string;
}

/** Starts the example with the key set of the service. */
async function startExample(
  { file, prepare }: Example,
  folder: string,
  serviceUrl: string,
  { cachesKeys = true, eventsUrl }: StartOptions = {},
) {
  const port = freePort();
  const example = await Bun.file(join(ROOT, "docs/resource-servers", file)).text();
  const code = example
    .replace(/\b300(_000)?\b/, cachesKeys ? "$&" : "0")
    .replace("http://127.0.0.1:3000", serviceUrl)
    .replace("8000", String(port));
  await Bun.write(join(folder, file), code);
  const events = eventsUrl && { LATCHKEY_EVENT_KEY: EVENT_KEY, LATCHKEY_EVENTS_URL: eventsUrl };
  const server = Bun.spawn([...prepare(folder, port)], {
    cwd: folder,
    env: { ...process.env, ...events },
    stdout: "ignore",
    stderr: "ignore",
  });
  const request = (headers: Record<string, string>, path = "/me") =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers });
  while (server.exitCode === null && !(await request({}).catch(() => null))) await Bun.sleep(10);
  return {
    /** The `sub` of a valid token, or the status. */
    async subject(token: string | undefined, index: number): Promise<unknown> {
      const scheme = index === 0 ? "bearer" : "Bearer";
      const response = await request(token === undefined ? {} : { authorization: `${scheme} ${token}` });
      if (response.status === 401) expect(response.headers.get("www-authenticate")).toBe("Bearer");
      return response.ok ? response.json() : response.status;
    },
    /** The status of the page for recent logins with two factors, and the challenge. */
    async transfer(token: string) {
      const { status, headers } = await request({ authorization: `Bearer ${token}` }, "/transfer");
      return [status, headers.get("www-authenticate")];
    },
    /** The status of the page for administrators. */
    admin: async (token: string) => (await request({ authorization: `Bearer ${token}` }, "/admin")).status,
    async [Symbol.asyncDispose]() {
      server.kill();
      await server.exited;
    },
  };
}

/** The example accepts the tokens of a service that signs with this algorithm, and no others. */
async function expectVerification(example: Example, folder: string, alg: "ES256" | "EdDSA"): Promise<void> {
  const [own, next, unknown] = [createKeyPair(alg), createKeyPair("EdDSA"), createKeyPair(alg)];
  await using service = await startService({
    env: {
      ...EVERY_FEATURE,
      ...privateKeyVariables(alg, own),
      AUTH_NEXT_PUBLIC_KEY: next.publicPem,
      AUTH_ISSUER: ISSUER,
      AUTH_AUDIENCE: AUDIENCE,
    },
  });
  await using server = await startExample(example, folder, service.url);
  const { id, token } = await service.createUser();
  const renewed = (await service.call("POST", "/auth/tokens", { token })).expect<Token>(200);
  const { header, claims } = openToken(token);
  const [first = "", content = "", signature = ""] = token.split(".");
  const { body } = await service.call("GET", "/.well-known/jwks.json");
  const { keys } = body as { keys: readonly { readonly kid: string }[] };
  const nextHeader = { alg: "EdDSA", kid: keys[1]?.kid };

  const ofNextKey = forgeWithPrivateKey({ header: nextHeader, claims, pem: next.privatePem });
  const accepted = [token, renewed.access_token, ofNextKey];
  const rejected = [
    undefined,
    `${first}.${encode({ ...claims, sub: "1000" })}.${signature}`,
    `${first}.${content}.${signature[0] === "A" ? "B" : "A"}${signature.slice(1)}`,
    `${encode({ ...header, kid: keys[1]?.kid })}.${content}.${signature}`,
    forgeWithPrivateKey({ header, claims, pem: unknown.privatePem }),
    ...["ES256", "ES384", "EdDSA", "HS256", "none"].flatMap((other) =>
      other === alg
        ? []
        : forgeWithPrivateKey({ header: { ...header, alg: other }, claims, pem: own.privatePem }),
    ),
    ...[{ exp: 1 }, { aud: "https://other.example.com" }, { iss: "https://other.example.com" }].map((other) =>
      forgeWithPrivateKey({ header, claims: { ...claims, ...other }, pem: own.privatePem }),
    ),
    forge({ header: { kid: header.kid }, claims, key: own.publicPem }),
    `${encode({ alg: "none", kid: header.kid })}.${content}.`,
  ];
  const subjects = await Promise.all([...accepted, ...rejected].map(server.subject));
  expect(subjects, alg).toEqual([...accepted.map(() => String(id)), ...rejected.map(() => 401)]);
  const administrator = forgeWithPrivateKey({
    header,
    claims: { ...claims, roles: ["admin"] },
    pem: own.privatePem,
  });
  expect([await server.admin(token), await server.admin(administrator)], alg).toEqual([403, 200]);
  const now = Math.floor(Date.now() / 1000);
  const steppedUp = (login: object) =>
    forgeWithPrivateKey({ header, claims: { ...claims, ...login }, pem: own.privatePem });
  const challenge = 'Bearer error="insufficient_user_authentication", acr_values="2fa", max_age=300';
  for (const login of [{ acr: "1fa", auth_time: now }, { acr: "2fa", auth_time: now - 310 }, { acr: "2fa" }])
    expect(await server.transfer(steppedUp({ auth_time: undefined, ...login })), alg).toEqual([
      401,
      challenge,
    ]);
  expect(await server.transfer(steppedUp({ acr: "2fa", auth_time: now })), alg).toEqual([200, null]);
}

/** While the keys cannot be requested, the example uses the last ones, and responds with 503 to a key that it does not know. */
async function expectAvailability(example: Example, folder: string): Promise<void> {
  const [own, unknown] = [createKeyPair("ES256"), createKeyPair("ES256")];
  const env = { ...privateKeyVariables("ES256", own), AUTH_ISSUER: ISSUER, AUTH_AUDIENCE: AUDIENCE };
  await using service = await startService({ env });
  const { id, token } = await service.createUser();
  let status = 200;
  await using proxy = Bun.serve({
    port: 0,
    fetch: ({ url }) =>
      status === 200
        ? fetch(service.url + new URL(url).pathname)
        : new Response("<h1>Bad Gateway</h1>", { status }),
  });
  const { header, claims } = openToken(token);
  const ofUnknownKey = forgeWithPrivateKey({
    header: { ...header, kid: "x" },
    claims,
    pem: unknown.privatePem,
  });
  await using server = await startExample(example, folder, proxy.url.origin, { cachesKeys: false });
  expect(await server.subject(token, 1)).toBe(String(id));
  status = 502;
  expect([await server.subject(token, 1), await server.subject(ofUnknownKey, 1)]).toEqual([String(id), 503]);
  await using started = await startExample(example, folder, proxy.url.origin, { cachesKeys: false });
  expect([await started.subject(token, 1), await started.subject(undefined, 1)]).toEqual([503, 401]);
}

/** With the feed of account events, the end of a token reaches the example within two seconds, also after a restart or an outage. */
async function expectRevocation(example: Example, folder: string): Promise<void> {
  const env = {
    ...privateKeyVariables("ES256", createKeyPair("ES256")),
    ...{ AUTH_ISSUER: ISSUER, AUTH_AUDIENCE: AUDIENCE },
    ...{ ADMIN_PORT: "0", ADMIN_API_KEYS: `shop:${KEY}`, ADMIN_EVENT_KEYS: `example:${EVENT_KEY}` },
  };
  await using service = await startService({ env });
  const { events } = service.database;
  await events.enable(1);
  await using admin = await openAdministration(service);
  let isReachable = true;
  let waiting = 0;
  await using proxy = Bun.serve({
    port: 0,
    idleTimeout: 0,
    async fetch({ url, headers }) {
      if (!isReachable) return new Response("<h1>Bad Gateway</h1>", { status: 502 });
      const { pathname, search } = new URL(url);
      waiting++;
      try {
        return await fetch(admin.url + pathname + search, { headers });
      } finally {
        waiting--;
      }
    },
  });
  let cutsNext = false;
  await using cuttingProxy = startCuttingProxy(proxy.url.origin, () => {
    const cuts = cutsNext;
    cutsNext = false;
    return cuts;
  });
  const eventsUrl = `${cuttingProxy.url}/admin/events`;
  const change = async (method: string, path: string, body?: object) => {
    const { status } = await admin.call(method, `/admin/users/${path}`, { body });
    expect(status).toBeWithin(200, 205);
  };
  const revoke = ({ id }: { readonly id: number }) => change("DELETE", `${id}/tokens`);
  const create = () => service.createUser();
  const [banned, deleted, revoked, before, during, after, cut] = await Promise.all(
    Array.from({ length: 7 }, create),
  );
  if (!banned || !deleted || !revoked || !before || !during || !after || !cut) throw new Error("unreachable");
  await revoke(before);

  /** Starts the example, which first reads what happened before. */
  const start = async (fresh: string) => {
    const server = await startExample(example, folder, service.url, { eventsUrl });
    const status = async (token: string) => {
      const subject = await server.subject(token, 1);
      return typeof subject === "string" ? 200 : subject;
    };
    /** Returns after how many milliseconds the example responds with this status. */
    const until = async (token: string, expected: number): Promise<number> => {
      const startedAt = performance.now();
      while ((await status(token)) !== expected && performance.now() - startedAt < 20_000) await Bun.sleep(5);
      expect(await status(token)).toBe(expected);
      return performance.now() - startedAt;
    };
    await until(fresh, 200);
    return { status, until, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  };

  const changing = await create();
  const others = await service.login(changing);
  {
    await using server = await start(changing.token);
    const { status, until } = server;
    expect(await status(before.token)).toBe(401);
    for (const [{ id, token }, method, path, body] of [
      [banned, "PATCH", "", { is_active: false }],
      [deleted, "DELETE", "", undefined],
      [revoked, "DELETE", "/tokens", undefined],
    ] as const) {
      expect(await status(token)).toBe(200);
      await change(method, id + path, body);
      expect(await until(token, 401)).toBeLessThan(2_000);
    }
    const body = { password: "another password", current_password: changing.password };
    const { token } = changing;
    expect((await service.call("PATCH", "/auth/me", { token, body })).status).toBe(200);
    expect(await until(others, 401)).toBeLessThan(2_000);
    expect(await status(token)).toBe(200);

    // The example can still be on its way back from the previous event.
    while (waiting === 0) await Bun.sleep(5);
    isReachable = false;
    await revoke(during);
    // The present request still ends with the event, the next ones with 502.
    await until(during.token, 401);
    await revoke(after);
    expect(await status(token)).toBe(200);
    isReachable = true;
    expect(await until(after.token, 401)).toBeLessThan(2_000);

    // The response with the event breaks off: the example reads it again.
    cutsNext = true;
    await revoke(cut);
    expect(await until(cut.token, 401)).toBeLessThan(2_000);
    expect(cutsNext).toBe(false);
  }
  await using server = await start(changing.token);
  const { status, until } = server;
  const ended = [banned, deleted, revoked, before, during, after].map(({ token }) => status(token));
  expect(await Promise.all(ended)).toEqual(Array(6).fill(401));
  expect(await status(others)).toBe(401);

  await service.sql("insert into events (type) values ('database.restored')");
  expect(await until(changing.token, 401)).toBeLessThan(2_000);
  let latest = "";
  // The time of a token has no fractions of a second.
  do latest = await service.login({ ...changing, password: "another password" });
  while ((await status(latest)) !== 200);
  await events.disable();
  await events.enable(1);
  await revoke(changing);
  expect(await until(latest, 401)).toBeLessThan(2_000);
}

for (const [name, example] of Object.entries(EXAMPLES)) {
  if (!example.isInstalled) process.stderr.write(`${name} is not installed: it verifies no tokens.\n`);
  const title = `${name} accepts tokens of ES256, EdDSA and the next key, rejects every other, and keeps the last keys`;
  inFullRun(test.skipIf(!example.isInstalled && !process.env.CI))(title, async () => {
    await using folder = await openFolder();
    for (const alg of ["ES256", "EdDSA"] as const) await expectVerification(example, folder.path, alg);
    await expectAvailability(example, folder.path);
    await expectRevocation(example, folder.path);
  });
}
