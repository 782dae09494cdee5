/** A request produces every documented status, and each response matches the document and its examples. */
import { afterAll, describe, expect, test } from "bun:test";
import type { PublicKeySet } from "@latchkey/contracts";
import { EVERYTHING } from "../../src/features/optional-features.ts";
import { createContract } from "../support/openapi/contract.ts";
import { fetchDocument, operationsOf } from "../support/openapi/document.ts";
import { PRODUCERS, startSubjects, validBody } from "../support/openapi/requests.ts";
import { startService } from "../support/service.ts";

/** Operations of second factors and hosted login: most of them need what an earlier step returned. */
const TESTED_ELSEWHERE = [
  ...["factorLogin", "getFactor", "createFactorOptions", "createFactor"],
  ...["createRecoveryCodes", "removeFactor", "authorize", "exchangeCode", "getAuthorizationServer"],
];

describe("the document and the service", async () => {
  const subjects = await startSubjects();
  afterAll(() => subjects[Symbol.asyncDispose]());
  const document = await fetchDocument(subjects.working);
  const contract = createContract(document);
  const operations = operationsOf(document);
  const promises = operations.flatMap((operation) =>
    Object.keys(operation.responses).map(
      (status) => [operation.operationId ?? "", status, operation] as const,
    ),
  );

  test("the document lists every operation, except those with tests of their own", async () => {
    await using complete = await startService({ env: EVERYTHING });
    const documented = operationsOf(await fetchDocument(complete)).map(({ operationId = "" }) => operationId);
    const tested = new Set(operations.map(({ operationId }) => operationId));
    expect(documented.filter((id) => !tested.has(id)).toSorted()).toEqual(TESTED_ELSEWHERE.toSorted());
  });

  test.each(promises)("agree on %s returning %s", async (_id, status, operation) => {
    const produce = PRODUCERS[status.replace(/^2../, "2xx")];
    if (!produce) throw new Error(`No request produces a ${status}`);
    const response = await produce(operation, subjects);
    expect([response.status, response.text]).toEqual([Number(status), response.text]);
    expect(contract(operation, response)).toEqual([]);
    const { examples } = operation.responses[status]?.content?.["application/json"] ?? {};
    // The limited service does not have the default quotas.
    if (!examples || status === "429") return;
    const body = JSON.parse(response.text);
    expect(examples[body.code]?.value).toEqual(body);
  });

  test.each(operations.map((one) => [one.operationId ?? "", one] as const))(
    "agree on whether %s requires a token",
    async (_id, operation) => {
      const { method, path, security = [] } = operation;
      const response = await subjects.working.call(method, path, { body: validBody(operation) });
      expect(response.text.includes("INVALID_TOKEN")).toBe(security.length > 0);
    },
  );

  test.each(
    operations.flatMap((one) => ("429" in one.responses ? [[one.operationId ?? "", one] as const] : [])),
  )("agree on the default quota of %s", async (_id, operation) => {
    const { method, path, responses } = operation;
    const env = { ...subjects.variables, RATE_LIMIT_ENABLED: "true" };
    await using service = await startService({ env });
    const { token } = await service.createUser();
    const valid = validBody(operation);
    // Only a current password makes an update count.
    const options = { token, ...(valid && { body: { ...valid, current_password: "wrong" } }) };
    const { headers } = await service.call(
      method,
      path.replace("{id}", "1").replace("{name}", "example"),
      options,
    );
    expect(responses[429]?.content?.["application/json"]?.examples?.TOO_MANY_REQUESTS?.value).toEqual({
      detail: `429: Too Many Requests: ${headers.get("RateLimit-Limit")} per 1 minute`,
      code: "TOO_MANY_REQUESTS",
    });
  });

  test("agree on the members of an Ed25519 key", async () => {
    const { PublicKeySet: shown } = document.components.schemas as {
      PublicKeySet: { properties: { keys: { items: { example: object } } } };
    };
    const response = await subjects.publishing.call("GET", "/.well-known/jwks.json");
    const [key] = response.expect<PublicKeySet>(200).keys;
    expect(Object.keys(shown.properties.keys.items.example).sort()).toEqual(Object.keys(key ?? {}).sort());
  });

  const response = (status: number, text: string, headers: Record<string, string> = {}) => ({
    status,
    text,
    headers: new Headers({ "content-type": "application/json", "x-request-id": "id", ...headers }),
  });
  const healthz = { method: "GET", path: "/healthz" };

  // Each response in every test is checked in this way: see `service.call`.
  test.each([
    ["a status", healthz, response(418, "{}")],
    ["a member", healthz, response(200, '{"status":"ok","uptime":1}')],
    ["a value", healthz, response(200, '{"status":"fine"}')],
    ["a missing header", healthz, response(200, '{"status":"ok"}', { "x-request-id": "" })],
    ["a header", healthz, response(200, '{"status":"ok"}', { "retry-after": "1" })],
    ["a content type", healthz, response(200, '{"status":"ok"}', { "content-type": "text/html" })],
    ["a body that is not JSON", healthz, response(200, "ok")],
    ["a success of an unknown path", { method: "GET", path: "/nowhere" }, response(200, "{}")],
    ["a 405 without Allow", { method: "PUT", path: "/todos" }, response(405, '{"detail":"no"}')],
  ])("the assertion rejects %s that is not documented", (_case, request, given) => {
    expect(contract(request, given)).not.toEqual([]);
  });
});
