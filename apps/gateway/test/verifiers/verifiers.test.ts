/** Other services verify tokens with libraries of three languages, from the URL of the public keys alone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { openFolder, type TemporaryFolder } from "@latchkey/testing/folder";
import { createKeyPair, privateKeyVariables } from "@latchkey/testing/keys";
import { encode, forge, forgeWithPrivateKey, openToken } from "../support/forge-token.ts";
import { startService } from "../support/service.ts";

const ISSUER = "https://accounts.example.com";
const AUDIENCE = "https://api.example.com";
/** Debian's packages: python3-jwt with python3-cryptography, golang-go with golang-gopkg-square-go-jose.v2-dev. */
const PYTHON = "/usr/bin/python3";
const GO_PATH = "/usr/share/gocode";

interface Verifier {
  readonly isInstalled: boolean;
  /** Returns the command to which the arguments are appended. */
  readonly prepare: (folder: string) => Promise<readonly string[]>;
}

const source = (name: string) => join(import.meta.dir, name);
const isFile = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
const succeeds = (...command: string[]): boolean => Bun.spawnSync(command).success;

const VERIFIERS: Readonly<Record<string, Verifier>> = {
  "jose on Node": {
    isInstalled: Bun.which("node") !== null,
    prepare: async () => ["node", source("verify.mjs")],
  },
  PyJWT: {
    isInstalled: (await isFile(PYTHON)) && succeeds(PYTHON, "-c", "import jwt, cryptography"),
    prepare: async () => [PYTHON, source("verify.py")],
  },
  "go-jose": {
    isInstalled:
      Bun.which("go") !== null && (await isFile(`${GO_PATH}/src/gopkg.in/square/go-jose.v2/jwk.go`)),
    async prepare(folder) {
      const program = join(folder, "verify");
      // Without modules, Go uses the installed sources and downloads nothing.
      const env = { ...process.env, GO111MODULE: "off", GOPATH: GO_PATH, GOCACHE: join(folder, "cache") };
      await using build = Bun.spawn(["go", "build", "-o", program, source("verify.go")], {
        env,
        stderr: "pipe",
      });
      expect([await new Response(build.stderr).text(), await build.exited]).toEqual(["", 0]);
      return [program];
    },
  },
};

describe.each(Object.entries(VERIFIERS))("%s", (name, { isInstalled, prepare }) => {
  if (!isInstalled) process.stderr.write(`${name} is not installed: it verifies no tokens.\n`);
  const verifierTest = test.skipIf(!isInstalled && !process.env.CI);
  let folder: TemporaryFolder;
  let command: readonly string[] = [];
  beforeAll(async () => {
    folder = await openFolder();
    if (isInstalled || process.env.CI) command = await prepare(folder.path);
  }, 120_000);
  afterAll(() => folder[Symbol.asyncDispose]());

  verifierTest.each(["ES256", "EdDSA"] as const)(
    "accepts tokens of %s and of the next key, and rejects every other",
    async (alg) => {
      const [own, next, unknown] = [createKeyPair(alg), createKeyPair("EdDSA"), createKeyPair(alg)];
      await using service = await startService({
        env: {
          ...privateKeyVariables(alg, own),
          AUTH_NEXT_PUBLIC_KEY: next.publicPem,
          AUTH_ISSUER: ISSUER,
          AUTH_AUDIENCE: AUDIENCE,
        },
      });
      const { id, token } = await service.createUser();
      const { header, claims } = openToken(token);
      const [first = "", content = "", signature = ""] = token.split(".");
      const { body } = await service.call("GET", "/.well-known/jwks.json");
      const { keys } = body as { keys: readonly { readonly kid: string }[] };
      const nextHeader = { alg: "EdDSA", kid: keys[1]?.kid };

      const accepted = [token, forgeWithPrivateKey({ header: nextHeader, claims, pem: next.privatePem })];
      const rejected = [
        `${first}.${encode({ ...claims, sub: "1000" })}.${signature}`,
        `${first}.${content}.${signature[0] === "A" ? "B" : "A"}${signature.slice(1)}`,
        `${encode({ ...header, kid: keys[1]?.kid })}.${content}.${signature}`,
        forgeWithPrivateKey({ header, claims, pem: unknown.privatePem }),
        ...[{ exp: 1 }, { aud: "https://other.example.com" }, { iss: "https://other.example.com" }].map(
          (other) => forgeWithPrivateKey({ header, claims: { ...claims, ...other }, pem: own.privatePem }),
        ),
        forge({ header: { kid: header.kid }, claims, key: own.publicPem }),
        `${encode({ alg: "none", kid: header.kid })}.${content}.`,
      ];
      const url = `${service.url}/.well-known/jwks.json`;
      await using verifier = Bun.spawn([...command, url, ISSUER, AUDIENCE, ...accepted, ...rejected], {
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr] = await Promise.all([
        new Response(verifier.stdout).text(),
        new Response(verifier.stderr).text(),
      ]);
      expect(stderr).toBe("");
      expect(JSON.parse(stdout)).toEqual([...accepted.map(() => String(id)), ...rejected.map(() => null)]);
    },
  );
});
