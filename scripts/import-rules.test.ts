/** Which file can import what. Each rule has an example of a forbidden import, which proves that the rule can fail. */
import { expect, test } from "bun:test";
import { isBuiltin } from "node:module";
import { parseSource, readSources, type SourceFile } from "./source-tree.ts";

interface ImportRule {
  readonly name: string;
  readonly forbids: (path: string, specifier: string) => boolean;
  readonly example: readonly [path: string, specifier: string];
}

const PACKAGE_NAME = /^@latchkey\/([^/]+)/;
/** The packages that apps can import. */
const SHARED_PACKAGES = [
  "administration",
  "contracts",
  "hashing",
  "database",
  "config",
  "cli",
  "limits",
  "mail",
];
/** How stored hashes are written; built-in modules only. */
const STORED_HASHES = "@latchkey/hashing/stored-hash";
/** The packages that tests, benchmarks and soaks can import. */
const TEST_PACKAGES = [...SHARED_PACKAGES, "client", "testing"];
const PACKAGE_FOLDER = /^((?:apps|packages)\/[^/]+|deploy|scripts)\//;
const DATABASE_FOLDER = /^packages\/database\/src\/(libsql|postgres)\//;
const FEATURE_FOLDER = /^apps\/gateway\/src\/features\/([^/]+)\//;
const SHIPPED = /^(apps|packages)\/(?!testing\/)[^/]+\/src\//;
const ELYSIA = /^(elysia|@elysiajs\/.+|elysia-rate-limit)(\/|$)/;
const ELYSIA_USERS = /^apps\/gateway\/src\/(tokens\/access-tokens\.ts$|(elysia|middleware|openapi|pages)\/)/;
/** Run in browsers. */
const PAGE_SCRIPTS = /^apps\/gateway\/src\/pages\/browser\//;
const DATABASE_DRIVERS = /^(drizzle-orm|drizzle-kit|@libsql\/client|libsql|postgres|pg|bun:sqlite)(\/|$)/;
/** What both databases share. */
const SHARED_QUERIES =
  /^packages\/database\/src\/((repositories|maintenance)\/|(dialect|row-decoder|tables)\.ts$)/;
const QUERY_BUILDERS = /^drizzle-orm(\/pg-core)?$/;
/** What does not depend on HTTP: the services, and the stores of the rate limits. */
const WITHOUT_HTTP = /^apps\/gateway\/src\/(features\/[^/]+\/([a-z-]+-)?service\.ts$|rate-limit\/)/;
/** Folders and files of a package whose imports go in one direction: each imports only those to its right. */
const FOLDER_ORDER = {
  "apps/gateway/src":
    "main.ts program.ts serve.ts app.ts administration-app.ts features pages openapi middleware elysia http mail tokens lifecycle observability config.ts rate-limit",
  "apps/loadtest/src": "cli report capacity measure load",
  // Only `tables.ts` refers to the types of a folder, that of PostgreSQL.
  "packages/database/src":
    "index.ts open.ts libsql postgres maintenance database.ts repositories dialect.ts row-decoder.ts errors.ts",
  "packages/database/src/repositories":
    "repositories.ts users.ts operator-changes.ts email-changes.ts logins.ts user-search.ts passkeys.ts identities.ts login-methods.ts user-changes.ts imports.ts todos.ts outbox.ts digests.ts email-forms.ts guard.ts repository-client.ts",
};
/** Folders that do not import each other; each pattern captures their names. */
const SIBLINGS: readonly (readonly [folder: RegExp, ...ImportRule["example"]])[] = [
  [PACKAGE_FOLDER, "apps/gateway/test/x.test.ts", "../../loadtest/src/main.ts"],
  [DATABASE_FOLDER, "packages/database/src/libsql/database.ts", "../postgres/schema.ts"],
  [FEATURE_FOLDER, "apps/gateway/src/features/auth/operations.ts", "../todos/service.ts"],
];

const sourceFolderOf = (path: string): string | undefined =>
  /^(?:apps|packages)\/[^/]+\/([^/]+)\//.exec(path)?.[1];

/** Whether the specifier names a package of this repository that is not in the list. */
const isOtherPackage = (specifier: string, allowed: readonly string[]): boolean => {
  const name = PACKAGE_NAME.exec(specifier)?.[1];
  return name !== undefined && !allowed.includes(name);
};

/** The position of a file or its folder in an order, or -1. */
const folderIndex = (path: string, root: string, order: readonly string[]): number =>
  path.startsWith(`${root}/`) ? order.indexOf(path.slice(root.length + 1).split("/")[0] ?? "") : -1;

const RULES: readonly ImportRule[] = [
  {
    name: "contracts, hashing and client import no other package of this repository",
    forbids: (path, specifier) =>
      /^packages\/(contracts|hashing|client)\/src\//.test(path) && isOtherPackage(specifier, []),
    example: ["packages/hashing/src/pool.ts", "@latchkey/contracts"],
  },
  {
    name: "packages import contracts only, administration also database and limits, database how stored hashes are written",
    forbids: (path, specifier) =>
      /^packages\//.test(path) &&
      SHIPPED.test(path) &&
      !(path.startsWith("packages/database/") && specifier === STORED_HASHES) &&
      isOtherPackage(
        specifier,
        path.startsWith("packages/administration/") ? ["contracts", "database", "limits"] : ["contracts"],
      ),
    example: ["packages/database/src/open.ts", "@latchkey/config"],
  },
  {
    name: "apps import administration, contracts, hashing, database, config, cli, limits and mail only, and scripts of pages the client",
    forbids: (path, specifier) =>
      /^apps\/[^/]+\/src\//.test(path) &&
      isOtherPackage(specifier, PAGE_SCRIPTS.test(path) ? ["client"] : SHARED_PACKAGES),
    example: ["apps/admin/src/main.ts", "@latchkey/testing/folder"],
  },
  {
    name: "tests, benchmarks, soaks, deploy and scripts import shared packages, client and testing only",
    forbids: (path, specifier) => !SHIPPED.test(path) && isOtherPackage(specifier, TEST_PACKAGES),
    example: ["apps/loadtest/bench/loadtest.bench.ts", "@latchkey/gateway/src/app.ts"],
  },
  {
    name: "scripts of pages import the client, the library of QR codes, the types of texts and each other only",
    forbids: (path, specifier) =>
      PAGE_SCRIPTS.test(path) &&
      !/^(@latchkey\/client|lean-qr)$/.test(specifier) &&
      !/^apps\/gateway\/src\/pages\/(browser|texts)\//.test(specifier),
    example: ["apps/gateway/src/pages/browser/account.ts", "../account.ts"],
  },
  {
    name: "nothing imports the scripts of pages",
    forbids: (path, specifier) => !PAGE_SCRIPTS.test(path) && PAGE_SCRIPTS.test(specifier),
    example: ["apps/gateway/src/pages/account.ts", "./browser/login.ts"],
  },
  {
    name: "src does not import tests, benchmarks or soaks",
    forbids: (path, specifier) =>
      sourceFolderOf(path) === "src" && /^(test|bench|soak)$/.test(sourceFolderOf(specifier) ?? ""),
    example: ["apps/gateway/src/main.ts", "../test/support/client.ts"],
  },
  {
    name: "hashing imports built-in modules only",
    forbids: (path, specifier) =>
      path.startsWith("packages/hashing/src/") &&
      !isBuiltin(specifier) &&
      !specifier.startsWith("packages/hashing/src/") &&
      specifier !== "bun",
    example: ["packages/hashing/src/pool.ts", "pino"],
  },
  {
    name: "only elysia/, middleware/, openapi/, pages/ and the signer of tokens import elysia",
    forbids: (path, specifier) => SHIPPED.test(path) && !ELYSIA_USERS.test(path) && ELYSIA.test(specifier),
    example: ["apps/gateway/src/features/auth/service.ts", "elysia"],
  },
  {
    name: "only packages/database imports drizzle, and only its two folders of databases also drivers",
    forbids: (path, specifier) =>
      SHIPPED.test(path) &&
      !DATABASE_FOLDER.test(path) &&
      !(SHARED_QUERIES.test(path) && QUERY_BUILDERS.test(specifier)) &&
      DATABASE_DRIVERS.test(specifier),
    example: ["packages/database/src/repositories/users.ts", "drizzle-orm/bun-sql"],
  },
  {
    name: "services and the stores of the rate limits do not depend on HTTP",
    forbids: (path, specifier) =>
      WITHOUT_HTTP.test(path) && /^(elysia|apps\/gateway\/src\/(middleware|elysia|http)\/)/.test(specifier),
    example: ["apps/gateway/src/features/auth/service.ts", "../../middleware/cors.ts"],
  },
  ...SIBLINGS.map(([folder, ...example]) => ({
    name: `the folders ${folder.source} do not import each other`,
    forbids: (path: string, specifier: string) => {
      const [from, to] = [folder.exec(path)?.[1], folder.exec(specifier)?.[1]];
      return from !== undefined && to !== undefined && from !== to;
    },
    example,
  })),
  ...Object.entries(FOLDER_ORDER).map(([root, names]) => {
    const order = names.split(" ");
    return {
      name: `imports in ${root} go in one direction: ${names}`,
      forbids: (path: string, specifier: string) => {
        const to = folderIndex(specifier, root, order);
        return to !== -1 && to < folderIndex(path, root, order);
      },
      example: [`${root}/${order.at(-1)}/a.ts`, `../${order[1]}/b.ts`] as const,
    };
  }),
];

/** `path: specifier` for each forbidden import. */
const violations = (files: readonly SourceFile[], { forbids }: ImportRule): string[] =>
  files.flatMap(({ path, imports }) =>
    imports.filter((specifier) => forbids(path, specifier)).map((specifier) => `${path}: ${specifier}`),
  );

/** Files other than main.ts that read environment variables. */
const environmentReaders = (files: readonly SourceFile[]): string[] =>
  files
    .filter(
      ({ path, text }) =>
        SHIPPED.test(path) &&
        !/^apps\/[^/]+\/src\/main\.ts$/.test(path) &&
        /\b(process|Bun|import\.meta)\.env\b/.test(text),
    )
    .map(({ path }) => path);

const CHECKS = [
  ...RULES.map((rule) => ({
    name: rule.name,
    check: (files: readonly SourceFile[]) => violations(files, rule),
    example: [parseSource(rule.example[0], `import "${rule.example[1]}";`)],
  })),
  {
    name: "only main.ts reads environment variables",
    check: environmentReaders,
    example: [parseSource("apps/gateway/src/app.ts", "export const port = process.env.PORT;")],
  },
];

const sources = await readSources();

test("the rules apply to src, test, bench and soak files", () => {
  const folders = new Set(sources.map(({ path }) => sourceFolderOf(path)));
  expect([...folders]).toEqual(expect.arrayContaining(["src", "test", "bench", "soak"]));
});

test.each(CHECKS.map((check) => [check.name, check] as const))("%s", (_name, { check, example }) => {
  expect(check(sources)).toEqual([]);
  expect(check(example)).toHaveLength(1);
});
