/** The OpenAPI document: it is valid and complete, and it describes every error. */
import { describe, expect, test } from "bun:test";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";
import { runProcess } from "@latchkey/testing/run-process";
import { ERROR_CODES, ERROR_TABLE, type ErrorCode } from "../../src/errors.ts";
import type { Feature } from "../../src/feature-flags.ts";
import { EVERYTHING } from "../../src/features/optional-features.ts";
import { VERSION } from "../../src/version.ts";
import { fetchDocument, operationsOf } from "../support/openapi/document.ts";
import { startService } from "../support/service.ts";

/** What the tests use of the linter. Its own types take a seventh of the time of the compiler. */
interface Linter<Config> {
  createConfig(options: { extends: string[]; rules: Readonly<Record<string, string>> }): Promise<Config>;
  lintFromString(input: { source: string; config: Config }): Promise<readonly Problem[]>;
}
interface Problem {
  readonly ruleId: string;
  readonly message: string;
  readonly location: readonly { readonly pointer?: string }[];
}
const linter: Linter<object> = createRequire(import.meta.url)("@redocly/openapi-core");

const UNAVAILABLE = "#/components/schemas/UnavailableResponse";

/** Every object within `part`, itself included. */
function* objectsIn(part: unknown): Generator<Record<string, unknown>> {
  if (typeof part !== "object" || part === null) return;
  if (!Array.isArray(part)) yield part as Record<string, unknown>;
  for (const member of Object.values(part)) yield* objectsIn(member);
}

/** The features whose errors only the document of the administration has. */
const OF_ADMINISTRATION = new Set<Feature>(["administration", "accountEvents", "restrictedKeys"]);

describe("the document", async () => {
  await using service = await startService({ env: EVERYTHING });
  const document = await fetchDocument(service);
  const operations = operationsOf(document);

  test("is OpenAPI 3.0.3 of Latchkey under the MIT licence", () => {
    expect(document.openapi).toBe("3.0.3");
    expect(document.info).toMatchObject({ title: "Latchkey", version: VERSION, license: { name: "MIT" } });
  });

  test("passes every recommended rule of the linter, and describes every operation", async () => {
    const rules = { "operation-description": "error" };
    const config = await linter.createConfig({ extends: ["recommended-strict"], rules });
    const problems = await linter.lintFromString({ source: JSON.stringify(document), config });
    const shown = problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]);
    expect(shown).toEqual([]);
  });

  test("describes request bodies as JSON, except that of OAuth's token endpoint, by the name of their schema", () => {
    const bodies = operations.flatMap(({ operationId, requestBody }) =>
      requestBody ? [{ operationId, content: requestBody.content }] : [],
    );
    expect(bodies.length).toBeGreaterThan(5);
    for (const { operationId, content } of bodies) {
      const isForm = operationId === "exchangeCode";
      expect(Object.keys(content)).toEqual([
        isForm ? "application/x-www-form-urlencoded" : "application/json",
      ]);
      expect(Object.values(content)[0]?.schema.$ref).toStartWith("#/components/schemas/");
    }
  });

  test("is complete in docs/api.md: every path, and every member of a user and of a change of one", async () => {
    const text = (await Bun.file(join(ROOT, "docs/api.md")).text()).replaceAll(/\{\w+\}/g, "{}");
    const rows = text.split("\n");
    const isListed = (path: string) => {
      const [, parent = "", step = ""] = /^(.+)\/([^/]+)$/.exec(path) ?? [];
      return rows.some(
        (row) => row.includes(`${path}\``) || (row.includes(`${parent}\``) && row.includes(`…/${step}\``)),
      );
    };
    const paths = Object.keys(document.paths).map((path) => path.replaceAll(/\{\w+\}/g, "{}"));
    expect(paths.filter((path) => !isListed(path))).toEqual([]);
    const { UserResponse, UpdateUserRequest } = document.components.schemas;
    const members = [UserResponse, UpdateUserRequest].flatMap((schema) =>
      Object.keys(schema?.properties ?? {}),
    );
    expect(members.filter((name) => !text.includes(`\`${name}\``) && !text.includes(`"${name}"`))).toEqual(
      [],
    );
  });

  test("has an example for every schema of a request or a success, or for each of its properties", () => {
    const named = Object.entries(document.components.schemas).filter(([name]) => !/Error|Issue/.test(name));
    for (const [name, schema] of named) {
      const properties = Object.entries((schema.properties ?? {}) as Record<string, object>);
      const lacking = properties.filter(
        ([, property]) => !["example", "enum", "items"].some((keyword) => keyword in property),
      );
      if (!("example" in schema)) expect([name, lacking]).toEqual([name, []]);
    }
  });

  const isPublic = (code: ErrorCode) =>
    ERROR_TABLE[code].features?.every((feature) => OF_ADMINISTRATION.has(feature)) !== true;
  test.each(ERROR_CODES.filter(isPublic))(
    "lists %s with its status, and contains it as an example of an operation",
    (code) => {
      const { status, description } = ERROR_TABLE[code];
      const errors = document.tags.find(({ name }) => name === "Errors");
      expect(errors?.description).toContain(`- ${status} \`${code}\`: ${description}`);
      if (["NOT_FOUND", "METHOD_NOT_ALLOWED", "EXPECTATION_FAILED"].includes(code)) return;
      const examples = operations.map(
        ({ responses }) => responses[status]?.content?.["application/json"]?.examples,
      );
      expect(examples.some((ofOperation = {}) => code in ofOperation)).toBe(true);
    },
  );

  test("has patterns that match what the service accepts, whether clients match code points or UTF-16 units", () => {
    const patterns = [...objectsIn(document.components)].flatMap(({ pattern }) =>
      typeof pattern === "string" && pattern.startsWith("^[^\\u0000]") ? [pattern] : [],
    );
    expect(patterns.length).toBeGreaterThan(3);
    for (const pattern of patterns) {
      for (const flags of ["", "u"]) expect(new RegExp(pattern, flags).test("key 🔑")).toBe(true);
    }
  });

  test("has a named schema for the errors of an operation with one status: exactly its codes, with an example of each", () => {
    for (const { responses } of operations) {
      for (const [status, { content }] of Object.entries(responses)) {
        const { schema = {}, examples = {} } = content?.["application/json"] ?? {};
        if (Number(status) < 400 || schema.$ref === UNAVAILABLE) continue;
        const name = String(schema.$ref).replace("#/components/schemas/", "");
        const { properties } = document.components.schemas[name] as {
          properties: { code: { enum: string[] } };
        };
        expect([name, properties.code.enum.toSorted()]).toEqual([name, Object.keys(examples).toSorted()]);
        const ofStatus = ERROR_CODES.filter((code) => String(ERROR_TABLE[code].status) === status);
        expect(ofStatus).toEqual(expect.arrayContaining(properties.code.enum));
      }
    }
  });

  test("has an example for every parameter, and a type for every enum", () => {
    const parameters = operations.flatMap((one) => one.parameters ?? []);
    expect(parameters.length).toBeGreaterThan(3);
    expect(parameters.filter((parameter) => !("example" in parameter))).toEqual([]);
    const enums = [...objectsIn(document)].filter((part) => Array.isArray(part.enum));
    expect(enums.filter(({ type }) => type !== "string")).toEqual([]);
  });

  test("says of every JSON body that other content types get 422, and ends the pages of a mock server", () => {
    for (const { responses, requestBody } of operations)
      expect(responses[422]?.description.includes("no operation returns 415") ?? false).toBe(
        requestBody?.content["application/json"] !== undefined,
      );
    const { TodoPageResponse } = document.components.schemas;
    expect(TodoPageResponse).toMatchObject({ properties: { next_cursor: { example: null } } });
  });

  test.each([
    ["--all", EVERYTHING],
    ["", {}],
  ])("is printed by `bun run openapi %s` without a running service", async (option, env) => {
    await using configured = await startService({ env });
    const command = [process.execPath, "run", "openapi", ...option.split(" ")];
    const { code, stdout } = await runProcess(command, { cwd: ROOT, env: { PATH: process.env.PATH } });
    expect(JSON.parse(stdout)).toEqual(await fetchDocument(configured));
    expect(code).toBe(0);
  });
});

test("bun run openapi ends without an error if the reader closes the pipe, as head does", () => {
  const command = `set -o pipefail; '${process.execPath}' apps/gateway/src/print-openapi.ts | head -c 10`;
  const { exitCode, stdout, stderr } = Bun.spawnSync(["bash", "-c", command], { cwd: ROOT });
  expect([exitCode, `${stdout}`, `${stderr}`]).toEqual([0, '{"openapi"', ""]);
});
