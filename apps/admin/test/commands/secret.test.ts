/** `secret generate`, which does not use a database: the service accepts every key as it is printed or written. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseEnvironment, type Variables } from "@latchkey/config";
import { openFolder } from "@latchkey/testing/folder";
import { runProcess } from "@latchkey/testing/run-process";
import { calculateJwkThumbprint } from "jose";
import { runTool } from "../support/tool.ts";

test("secret generate prints a new key that is long enough for HS512, and nothing else", async () => {
  const first = await runTool(["secret", "generate"]);
  const second = await runTool(["secret", "generate", "--algorithm", "HS512"]);
  expect(first).toMatchObject({ code: 0, stderr: "" });
  for (const { stdout } of [first, second]) expect(stdout).toMatch(/^[A-Za-z0-9_-]{86}\n$/);
  expect(second.stdout).not.toBe(first.stdout);
  const json = JSON.parse((await runTool(["secret", "generate", "--json"])).stdout);
  expect(json).toEqual({ secret: expect.stringMatching(/^[A-Za-z0-9_-]{86}$/) });
});

test("secret generate rejects other algorithms and, for a secret, --output", async () => {
  for (const args of [["--algorithm", "RS256"], ["--algorithm"], ["--output", "key"]]) {
    const { code, stdout } = await runTool(["secret", "generate", ...args]);
    expect({ args, code, stdout }).toEqual({ args, code: 64, stdout: "" });
  }
});

const parse = (variables: Variables) =>
  parseEnvironment(variables, { readFile: (path) => readFileSync(path, "utf8") }).values;

/** The variables that a program in the folder gets from its `.env`. */
async function readEnvFile(folder: string): Promise<Variables> {
  const command = [process.execPath, "--eval", "console.log(JSON.stringify(process.env))"];
  return JSON.parse((await runProcess(command, { cwd: folder, env: {} })).stdout);
}

describe.each(["ES256", "EdDSA"])("secret generate --algorithm %s", (algorithm) => {
  const generate = (...args: string[]) => runTool(["secret", "generate", "--algorithm", algorithm, ...args]);

  test("prints lines that Bun reads from .env, and the public key for other replicas as comments", async () => {
    await using folder = await openFolder();
    const { code, stdout, stderr } = await generate();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).not.toBe((await generate()).stdout);

    await Bun.write(join(folder.path, ".env"), stdout);
    const own = parse(await readEnvFile(folder.path));
    expect([own.AUTH_ALGORITHM, own.AUTH_PRIVATE_KEY?.algorithm]).toEqual([algorithm, algorithm]);
    const jwk = own.AUTH_PRIVATE_KEY?.jwk ?? {};
    expect(stdout).toStartWith(`# kid: ${await calculateJwkThumbprint(jwk)}\n`);

    const comments = stdout.split("\n").filter((line) => line.startsWith("# AUTH_"));
    await Bun.write(join(folder.path, ".env"), comments.map((line) => line.slice(2)).join("\n"));
    const variables = await readEnvFile(folder.path);
    expect(variables.AUTH_PREVIOUS_PUBLIC_KEY).toBe(variables.AUTH_NEXT_PUBLIC_KEY ?? "");
    const { AUTH_NEXT_PUBLIC_KEY = "" } = variables;
    expect<unknown>(parse({ AUTH_NEXT_PUBLIC_KEY }).AUTH_NEXT_PUBLIC_KEY).toEqual({ algorithm, jwk });
  });

  test("prints JSON with both keys as PEM", async () => {
    const pair = JSON.parse((await generate("--json")).stdout);
    expect(Object.keys(pair)).toEqual(["algorithm", "kid", "private_key", "public_key"]);
    const own = parse({ AUTH_ALGORITHM: algorithm, AUTH_PRIVATE_KEY: pair.private_key });
    const next = parse({ AUTH_NEXT_PUBLIC_KEY: pair.public_key });
    expect<unknown>(next.AUTH_NEXT_PUBLIC_KEY?.jwk).toEqual(own.AUTH_PRIVATE_KEY?.jwk);
    expect(pair.kid).toBe(await calculateJwkThumbprint(own.AUTH_PRIVATE_KEY?.jwk ?? {}));
  });

  test("--output writes two new files, of which only the owner can read the private key", async () => {
    await using folder = await openFolder();
    const prefix = join(folder.path, "auth");
    const { code, stdout } = await generate("--output", prefix);
    expect(code).toBe(0);
    expect((await readdir(folder.path)).sort()).toEqual(["auth-private.pem", "auth-public.pem"]);
    expect((await stat(`${prefix}-private.pem`)).mode & 0o777).toBe(0o600);
    expect(stdout).toContain(`AUTH_ALGORITHM=${algorithm}\nAUTH_PRIVATE_KEY_FILE=${prefix}-private.pem\n`);
    expect(stdout).toContain(`# AUTH_NEXT_PUBLIC_KEY_FILE=${prefix}-public.pem\n`);
    expect(stdout).not.toContain("BEGIN");
    const own = parse({ AUTH_ALGORITHM: algorithm, AUTH_PRIVATE_KEY_FILE: `${prefix}-private.pem` });
    const next = parse({ AUTH_NEXT_PUBLIC_KEY_FILE: `${prefix}-public.pem` });
    expect<unknown>(next.AUTH_NEXT_PUBLIC_KEY?.jwk).toEqual(own.AUTH_PRIVATE_KEY?.jwk);

    const again = await generate("--output", prefix);
    expect(again).toEqual({ code: 69, stdout: "", stderr: `Cannot create ${prefix}-public.pem (EEXIST).\n` });
    expect(parse({ AUTH_ALGORITHM: algorithm, AUTH_PRIVATE_KEY_FILE: `${prefix}-private.pem` })).toEqual(own);
  });
});
