/**
 * Reads the responses of a provider, which can be anything. Invariant: the library parses no JSON, and no payload of a token, that is
 * not bounded in size, levels and values. `JSON.parse` of many levels, or of strings whose hashes collide, stops the event loop.
 */
import { printable } from "@latchkey/cli";
import type { CustomFetch } from "openid-client";
import { type JsonReader, readJsonMembers } from "../../http/json.ts";

/** The provider does not respond in time, or not with what a provider responds. Its users are not to blame. */
export class ProviderUnavailable extends Error {
  override readonly name = "ProviderUnavailable";
  readonly code = "PROVIDER_UNAVAILABLE";
}

/** The error and its causes: the library wraps errors. */
export function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) causes.push(cause);
  return causes;
}

export const findUnavailable = (error: unknown): ProviderUnavailable | undefined =>
  causesOf(error).find((cause) => cause instanceof ProviderUnavailable);

/** Of each request. */
export const TIMEOUT_MS = 5_000;
/** Of a response. Metadata and keys of large providers have some 20 KB, user infos with many groups some 100 KB. */
const MAX_RESPONSE_BYTES = 256 * 1024;
/** In one response, counted by commas. Metadata of large providers have some 200, user infos with many groups some 1,000. */
const MAX_VALUES = 4_096;
/** The header and the payload of a JWT (RFC 7515 §3.1), which a signature follows. */
const JWT = /^([\w-]+)\.([\w-]+)\./;

/** Reads the whole response. @throws ProviderUnavailable if there is none, also for one that blames the provider or this service */
export async function fetchBounded(
  url: string,
  options: RequestInit,
): Promise<{ readonly status: number; readonly headers: Headers; readonly content: string | null }> {
  try {
    const response = await fetch(url, {
      ...options,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      // The provider can close an idle connection at the moment at which it is used again.
      keepalive: false,
    });
    const { status, headers } = response;
    const content = await readBounded(response);
    if (status >= 500 || status === 429)
      throw new ProviderUnavailable(`The provider responded with ${status}${describeError(content)}`);
    return { status, headers, content };
  } catch (error) {
    if (error instanceof ProviderUnavailable) throw error;
    throw new ProviderUnavailable("The provider did not respond", { cause: error });
  }
}

/** The requests of the library, whose responses are also checked. @throws ProviderUnavailable */
export const boundedFetch: CustomFetch = async (url, { method, headers, body, redirect }) => {
  const answer = await fetchBounded(url, { method, headers, body: body ?? null, redirect });
  const { status, content } = answer;
  const isJwt = /^application\/(\w+\+)?jwt\b/i.test(answer.headers.get("content-type") ?? "");
  const isBounded = content === null || (isJwt ? isBoundedJwt(content) : isBoundedJson(content));
  // Without the content, the library rejects the response for the same reason as content that is not JSON.
  const answered = new Headers(answer.headers);
  // The library would read the challenge instead of the content, which names the error.
  if (isBounded && content !== null) answered.delete("www-authenticate");
  return new Response(isBounded ? content : null, { status, headers: answered });
};

/** Returns the error that a response names (RFC 6749 §5.2), for the log. */
function describeError(content: string | null): string {
  const names = ["error", "error_description"];
  const { error, error_description } = readMembers(content ?? "", names) ?? {};
  return describeOauthError(error, error_description);
}

const MAX_ERROR_LENGTH = 200;
/** Returns nothing if there is no error. @param values of a response: anything */
export const describeOauthError = (...values: readonly unknown[]): string =>
  values
    .flatMap((value) =>
      typeof value === "string" ? [`: ${printable(value).slice(0, MAX_ERROR_LENGTH)}`] : [],
    )
    .join("");

async function readBounded({ body, status }: Response): Promise<string | null> {
  if (body === null || status === 204) return null;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the rest of the response.
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES)
      throw new ProviderUnavailable("The response of the provider is too large");
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** Returns the members of bounded JSON, or null for any other text. @param readers see `readJsonMembers` */
export function readMembers(
  json: string,
  names: readonly string[] = [],
  readers?: ReadonlyMap<string, JsonReader>,
): Record<string, unknown> | null {
  let values = 1;
  for (let at = json.indexOf(","); at >= 0; at = json.indexOf(",", at + 1)) values += 1;
  if (values > MAX_VALUES) return null;
  try {
    return readJsonMembers(json, names, readers);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Whether the text is a JSON object within the bounds of request bodies whose ID token, if it has one, is bounded as well. */
function isBoundedJson(json: string): boolean {
  const members = readMembers(json, ["id_token"]);
  if (members === null) return false;
  return typeof members.id_token !== "string" || isBoundedJwt(members.id_token);
}

function isBoundedJwt(jwt: string): boolean {
  const [, ...parts] = JWT.exec(jwt) ?? [];
  const isBounded = (part: string) => readMembers(Buffer.from(part, "base64url").toString()) !== null;
  return parts.length > 0 && parts.every(isBounded);
}

/** Whether the text is a JWK set (RFC 7517 §5). */
export const isKeySet = (json: string): boolean => Array.isArray(readMembers(json, ["keys"])?.keys);
