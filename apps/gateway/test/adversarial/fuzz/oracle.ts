/** The oracle of the fuzzer: the rules for every response, regardless of the request. */
import { ERROR_CODES } from "../../../src/errors.ts";
import type { WireResponse } from "../../support/wire.ts";
import { ECHO, SECRET } from "./values.ts";

/** Every header that the service sends; any other was injected. */
const HEADERS = new Set([
  ...["content-type", "content-length", "content-encoding", "etag", "date", "connection", "vary", "allow"],
  ...["access-control-allow-origin", "access-control-expose-headers", "access-control-allow-methods"],
  ...["access-control-allow-headers", "access-control-max-age", "cache-control", "content-security-policy"],
  ...["cross-origin-opener-policy", "cross-origin-resource-policy", "permissions-policy", "referrer-policy"],
  ...["x-content-type-options", "x-frame-options", "x-request-id", "www-authenticate", "retry-after"],
  ...["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"],
]);

/** The statuses that the HTTP server itself returns for malformed HTTP, without a body. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 431, 505]);

const CODES = new Set<unknown>(ERROR_CODES);

const INTERNALS =
  /node_modules|\.tsx?\b|\bat .+:\d+|Error:|sqlite|libsql|select |insert |\/(src|home|tmp|usr|etc|work)\/|elysia|typebox|\bbun\b|hashed_?password/i;

export function violationsOf({ status, headers, body }: WireResponse, method: string): string[] {
  const text = body.toString();
  const violations: string[] = [];
  const fail = (isViolation: boolean, violation: string): void =>
    void (isViolation && violations.push(violation));

  const names = headers.map(([name]) => name);
  if (REFUSALS.has(status) && !names.includes("x-request-id")) {
    fail(text !== "" || names.join() !== "connection", `a refusal with ${names.join()} and ${text}`);
    return violations;
  }
  fail(status >= 500, `a ${status}`);
  for (const [index, name] of names.entries()) {
    fail(!HEADERS.has(name), `a header ${name}`);
    fail(names.indexOf(name) !== index, `two headers ${name}`);
  }
  for (const name of ["x-request-id", "x-content-type-options", "vary", "content-security-policy"]) {
    fail(!names.includes(name), `no header ${name}`);
  }
  const everything = `${JSON.stringify(headers)}${text}`;
  fail(everything.includes(SECRET), "the client's secret");
  if (status >= 400) {
    fail(text.includes(ECHO), "a submitted value");
    fail(INTERNALS.test(text), "internals");
    fail(method !== "HEAD" && !isEnvelope(text), "no envelope");
  }
  return violations;
}

/** @throws {Error} if the text is not JSON */
function isEnvelope(text: string): boolean {
  const { detail, code, field, ...others } = JSON.parse(text);
  if (Object.keys(others).length > 0 || !CODES.has(code)) return false;
  if ((code === "USER_ALREADY_EXISTS") !== ["email", "username"].includes(field)) return false;
  if (code !== "INVALID_REQUEST") return typeof detail === "string";
  return Array.isArray(detail) && detail.length > 0 && detail.every(isIssue);
}

const isIssue = (issue: unknown): boolean =>
  typeof issue === "object" && issue !== null && Object.keys(issue).sort().join() === "loc,msg,type";
