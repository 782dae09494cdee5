/** Layering: who may import whom. A row lists the files it is about and the imports that are theirs alone or forbidden. */
import { describe, expect, test } from "bun:test";
import { isBuiltin } from "node:module";
import { readSources } from "./source-tree.ts";

const sources = await readSources("{apps,packages}/*/src/**/*.ts");

const inFolder = (folder: string) => (path: string) => path.startsWith(`${folder}/`);
const matches = (pattern: RegExp) => (specifier: string) => pattern.test(specifier);

/** `path: specifier` for each import that breaks the rule. */
function violations(
  isAbout: (path: string) => boolean,
  isForbidden: (specifier: string, path: string) => boolean,
): string[] {
  return sources
    .filter(({ path }) => isAbout(path))
    .flatMap(({ path, imports }) =>
      imports.filter((specifier) => isForbidden(specifier, path)).map((specifier) => `${path}: ${specifier}`),
    );
}

describe("imports", () => {
  test("there are sources to judge", () => {
    expect(sources.length).toBeGreaterThan(40);
  });

  test.each(["contracts", "hashing", "database"])("packages/%s knows no other package of ours", (name) => {
    expect(violations(inFolder(`packages/${name}`), matches(/^@latchkey\//))).toEqual([]);
  });

  test("apps import contracts, hashing and database, and no app another app", () => {
    const allowed = /^@latchkey\/(contracts|hashing|database)$/;
    expect(
      violations(
        inFolder("apps"),
        (specifier) => specifier.startsWith("@latchkey/") && !allowed.test(specifier),
      ),
    ).toEqual([]);
  });

  test("no import leaves its package by a relative path", () => {
    const packageOf = (path: string) => path.split("/").slice(0, 2).join("/");
    const isRelative = matches(/^(\.\.|apps|packages)\//);
    expect(
      violations(
        () => true,
        (specifier, path) => isRelative(specifier) && packageOf(specifier) !== packageOf(path),
      ),
    ).toEqual([]);
  });

  test("hashing stands on built-ins alone", () => {
    const isForeign = (specifier: string) =>
      !isBuiltin(specifier) && !specifier.startsWith("packages/") && !specifier.startsWith("bun");
    expect(violations(inFolder("packages/hashing"), isForeign)).toEqual([]);
  });

  test("elysia and its plugins are imported only by app.ts, middleware/, the routes and docs/", () => {
    const allowed = /^apps\/gateway\/src\/(app\.ts|middleware\/.+|features\/[^/]+\/routes\.ts|docs\/.+)$/;
    expect(violations((path) => !allowed.test(path), matches(/^(elysia|@elysiajs\/.+)(\/|$)/))).toEqual([]);
  });

  test("drizzle and the database drivers stay in their own folder of the database package", () => {
    const allowed = /^packages\/database\/src\/(libsql|postgres)\//;
    const drivers = /^(drizzle-orm|drizzle-kit|@libsql\/client|postgres|pg|bun:sqlite)(\/|$)/;
    // Tests read the embedded database as another process does.
    const isAbout = (path: string) => !allowed.test(path) && !path.startsWith("packages/testing/");
    expect(violations(isAbout, matches(drivers))).toEqual([]);
  });

  test("no feature imports another", () => {
    const featureOf = (path: string) => /^apps\/gateway\/src\/features\/([^/]+)\//.exec(path)?.[1];
    expect(
      violations(
        (path) => featureOf(path) !== undefined,
        (specifier, path) => featureOf(specifier) !== undefined && featureOf(specifier) !== featureOf(path),
      ),
    ).toEqual([]);
  });

  test("services know no HTTP", () => {
    expect(
      violations(
        matches(/\/features\/[^/]+\/service\.ts$/),
        matches(/^(elysia|apps\/gateway\/src\/middleware)/),
      ),
    ).toEqual([]);
  });
});

describe("environment", () => {
  test("only the programs' main files read it", () => {
    const mains = /^apps\/[^/]+\/src\/main\.ts$/;
    const readers = sources.filter(
      ({ path, text }) =>
        !path.startsWith("packages/testing/") && !mains.test(path) && /\b(process|Bun)\.env\b/.test(text),
    );
    expect(readers.map(({ path }) => path)).toEqual([]);
  });
});
