/** The documents name only links, paths, commands, variables and services that exist. */
import { describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { hasOpenssl } from "@latchkey/testing/certificates";
import { openFolder } from "@latchkey/testing/folder";
import { ROOT } from "@latchkey/testing/repository";
import { defaults, environmentOf, exampleText, parseEnvFile, readCompose } from "./compose/compose-file.ts";
import { checkConfiguration, unknownNames } from "./configuration.ts";

const read = (path: string) => Bun.file(join(ROOT, path)).text();
const list = (...patterns: string[]) =>
  patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(ROOT)].sort());
const documents = await Promise.all(
  list(
    "{CONTRIBUTING,README,SECURITY}.md",
    "docs/*.md",
    "packages/client/*.md",
    "apps/gateway/test/security-claims.md",
  ).map(async (path) => [path, await read(path)] as const),
);
const manifests: { readonly scripts?: Readonly<Record<string, string>> }[] = await Promise.all(
  list("package.json", "*/package.json", "{apps,packages}/*/package.json").map(async (path) =>
    JSON.parse(await read(path)),
  ),
);
const scripts = new Set(manifests.flatMap((manifest) => Object.keys(manifest.scripts ?? {})));
const guide = await read("docs/production.md");
const { services } = readCompose();

/** The distinct first groups of all matches. */
const find = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, found = ""]) => found)),
];

/** The anchor that GitHub generates for a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .replaceAll(" ", "-");

/** Variables that Bun or libpq read, and neither Compose nor the service. */
const OTHER_VARIABLES = ["NODE_EXTRA_CA_CERTS", "PGSSLROOTCERT"];

test("the documents are found", () => {
  const paths = documents.map(([path]) => path);
  expect(paths).toEqual(expect.arrayContaining(["README.md", "docs/operations.md"]));
});

describe.each(documents)("%s", (path, text) => {
  test("every link leads to a file and a heading that exist", async () => {
    for (const link of find(text, /\]\(([^)]+)\)/g).filter((target) => !target.includes("://"))) {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? path : join(dirname(path), file);
      expect([link, existsSync(join(ROOT, target))]).toEqual([link, true]);
      if (anchor !== undefined)
        expect(find(await read(target), /^#+ (.+)$/gm).map(anchorOf)).toContain(anchor);
    }
  });

  test("every command is a script of a package.json", () => {
    const named = find(text, /\bbun run (?!-)([\w:]+)/g);
    expect(named.filter((name) => !scripts.has(name))).toEqual([]);
  });

  test("every path in backticks exists, except those with a placeholder", () => {
    const paths = find(text, /`((?:apps|packages|deploy|docs|scripts)\/[^`\s{]*)`/g);
    expect(paths.filter((named) => !/NAME|\*/.test(named) && !existsSync(join(ROOT, named)))).toEqual([]);
  });
});

test("each defence of docs/security.md is in the index of its tests, in the same order", async () => {
  const [, defended = ""] = (await read("docs/security.md")).split(/^## What is (?:not )?defended$/m);
  const index = await read("apps/gateway/test/security-claims.md");
  const defences = find(defended, /^- \*\*([^*]+?)\.?\*\*/gm);
  expect(defences.length).toBeGreaterThan(12);
  expect(find(index, /^- (.+?)(?:, by .+)?:/gm)).toEqual(defences);
});

test("each ratio of docs/performance.md is the quotient of the figures beside it", async () => {
  const text = (await read("docs/performance.md")).replaceAll(",", "");
  const pairs = [...text.matchAll(/(\d[\d.]*)(?:; | \| )(\d[\d.]*) (?:\| |\(ratio )(\d\.\d+)/g)];
  const secondPairs = [...text.matchAll(/\| (\d+) \| \d+ \| [\d.]+ \| (\d+) \| ([\d.]+)/g)];
  expect([pairs.length, secondPairs.length]).toEqual([16, 3]);
  for (const [row, first, second, ratio = ""] of [...pairs, ...secondPairs]) {
    const digits = ratio.length - ratio.indexOf(".") - 1;
    expect([row, (Number(first) / Number(second)).toFixed(digits)]).toEqual([row, ratio]);
  }
});

describe("docs/production.md", () => {
  test("every variable is one that the service, Compose, Bun or libpq reads", () => {
    const named = find(guide, /\b([A-Z]+(?:_[A-Z]+)+|PGSSLROOTCERT)\b/g);
    expect(named).toContain("DATABASE_URL");
    const own = named.filter((name) => !OTHER_VARIABLES.includes(name) && !(name in defaults));
    expect(unknownNames(Object.fromEntries(own.map((name) => [name, ""])))).toEqual([]);
  });

  test.skipIf(!hasOpenssl)(
    "the first command creates two env files with strong secrets that only their owner can read",
    async () => {
      await using folder = await openFolder();
      await Bun.write(join(folder.path, ".env.example"), exampleText);
      const [command = ""] = /^\(umask 077\n.*\n.*gateway\.env\)$/m.exec(guide) ?? [];
      expect(Bun.spawnSync(["sh", "-ec", command], { cwd: folder.path }).stderr.toString()).toBe("");
      const [compose, own] = [".env", "gateway.env"].map((name) => join(folder.path, name));
      const variables = parseEnvFile(await Bun.file(compose ?? "").text());
      const gateway = environmentOf(services.gateway ?? {}, parseEnvFile(await Bun.file(own ?? "").text()));
      expect(checkConfiguration(gateway).errors).toEqual([]);
      expect(variables.POSTGRES_PASSWORD).toMatch(/^[0-9a-f]{64}$/);
      for (const path of [compose, own]) expect(statSync(path ?? "").mode & 0o777).toBe(0o600);
    },
  );

  test("every Compose command names a service that exists", () => {
    const named = find(guide, /docker compose (?:exec(?: -T)?|stop|build) (\S+)/g);
    expect(named).toContain("gateway");
    expect(Object.keys(services)).toEqual(expect.arrayContaining(named));
  });
});
