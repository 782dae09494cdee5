/** The OpenAPI document by itself: valid, complete, and telling of every error there is. */
import { describe, expect, test } from "bun:test";
import { ERROR_CODES } from "@latchkey/contracts";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { ERROR_TABLE } from "../../src/errors.ts";
import { VERSION } from "../../src/version.ts";
import { fetchDocument, operationsOf } from "../support/openapi-document.ts";
import { startService } from "../support/service.ts";

const PROTECTED = ["getMe", "updateMe", "deleteMe"];

/** Every object within `part`, itself included. */
function* objectsIn(part: unknown): Generator<Record<string, unknown>> {
  if (typeof part !== "object" || part === null) return;
  if (!Array.isArray(part)) yield part as Record<string, unknown>;
  for (const member of Object.values(part)) yield* objectsIn(member);
}

async function lint(document: unknown): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
}

describe("the document", async () => {
  await using service = await startService();
  const document = await fetchDocument(service);
  const operations = operationsOf(document);

  test("is OpenAPI 3.0.3 of Latchkey under the MIT licence", () => {
    expect(document.openapi).toBe("3.0.3");
    expect(document.info).toMatchObject({ title: "Latchkey", version: VERSION, license: { name: "MIT" } });
  });

  test("passes every recommended rule of the linter", async () => {
    expect(await lint(document)).toEqual([]);
  });

  test("would not pass if it were invalid", async () => {
    const broken = {
      ...document,
      components: {
        ...document.components,
        schemas: { ...document.components.schemas, User: { type: "null" } },
      },
    };
    const problems = await lint(broken);
    expect(problems.some((problem) => problem.startsWith("struct:"))).toBe(true);
  });

  test("describes every route of the service", () => {
    expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      "DELETE /auth/me",
      "DELETE /todos/{id}",
      "GET /auth/me",
      "GET /healthz",
      "GET /readyz",
      "GET /todos",
      "GET /todos/{id}",
      "PATCH /auth/me",
      "PATCH /todos/{id}",
      "POST /auth/login",
      "POST /auth/register",
      "POST /todos",
    ]);
  });

  test("gives every operation an id of its own, a summary and a described tag", () => {
    const tags = new Map(document.tags.map(({ name, description }) => [name, description]));
    for (const { operationId, summary, tags: [tag = ""] = [] } of operations) {
      expect(operationId).toBeString();
      expect(summary).toBeString();
      expect(tags.get(tag)).toBeString();
    }
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });

  test("gives every response a description, and every body a schema", () => {
    for (const { operationId, responses } of operations) {
      for (const [status, { description, content }] of Object.entries(responses)) {
        expect(description).not.toBe("");
        const hasBody = status !== "204";
        expect([operationId, status, content?.["application/json"]?.schema !== undefined]).toEqual([
          operationId,
          status,
          hasBody,
        ]);
      }
    }
  });

  test("takes request bodies as JSON alone, by name", () => {
    const bodies = operations.flatMap(({ requestBody }) => (requestBody ? [requestBody.content] : []));
    expect(bodies).toHaveLength(5);
    for (const content of bodies) {
      expect(Object.keys(content)).toEqual(["application/json"]);
      expect(content["application/json"]?.schema.$ref).toStartWith("#/components/schemas/");
    }
  });

  test("asks for the bearer token on protected operations and on no other", () => {
    expect(document.components.securitySchemes.bearer).toMatchObject({
      type: "http",
      scheme: "bearer",
      bearerFormat: "JWT",
    });
    for (const { operationId = "", security, responses } of operations) {
      expect(security).toEqual(PROTECTED.includes(operationId) ? [{ bearer: [] }] : []);
      if (PROTECTED.includes(operationId)) expect(responses).toContainKeys(["401", "403", "404"]);
    }
  });

  test("has an example for every schema of a request or a success", () => {
    const named = Object.entries(document.components.schemas).filter(([name]) => !/Error|Issue/.test(name));
    for (const [name, schema] of named) {
      const properties = Object.values(schema.properties as Record<string, object>);
      const isFixed = properties.every((property) => "enum" in property);
      expect([name, "example" in schema || isFixed]).toEqual([name, true]);
    }
  });

  test.each([...ERROR_CODES])("tells of %s with its status", (code) => {
    const row = `| ${ERROR_TABLE[code].status} | \`${code}\` | ${ERROR_TABLE[code].description} |`;
    expect(document.tags.find(({ name }) => name === "Errors")?.description).toContain(row);
  });

  test.each(ERROR_CODES.filter((code) => !["NOT_FOUND", "METHOD_NOT_ALLOWED"].includes(code)))(
    "shows %s as an example of an operation",
    (code) => {
      const found = operations.some(
        ({ responses }) =>
          code in (responses[ERROR_TABLE[code].status]?.content?.["application/json"]?.examples ?? {}),
      );
      expect(found).toBe(true);
    },
  );

  test("holds no keyword that 3.0.3 does not have", () => {
    const schemas = [...objectsIn(document.components.schemas)];
    const strangers = ["$id", "const", "examples", "~standard", "~kind", "patternProperties"];
    for (const schema of schemas) {
      for (const stranger of strangers) expect(Object.keys(schema)).not.toContain(stranger);
      expect(schema.type).not.toBe("null");
    }
  });

  test("lets a pattern pass what the service accepts, read with or without code points", () => {
    const patterns = [...objectsIn(document.components)].flatMap(({ pattern }) =>
      typeof pattern === "string" && pattern.startsWith("^[^\\u0000]") ? [pattern] : [],
    );
    expect(patterns.length).toBeGreaterThan(3);
    for (const pattern of patterns) {
      for (const flags of ["", "u"]) expect(new RegExp(pattern, flags).test("key 🔑")).toBe(true);
    }
  });
});
