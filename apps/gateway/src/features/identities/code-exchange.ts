/** The exchange of a code, whose answer is kept: with newer keys, the library reads the answer again, because a code works once. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { CustomFetch } from "openid-client";
import { boundedFetch, causesOf } from "./provider-responses.ts";

interface Exchange {
  /** Of the token endpoint. */
  answer: { readonly text: string; readonly ok: boolean; readonly init: ResponseInit } | null;
}

const exchanges = new AsyncLocalStorage<Exchange>();

/** How the library reports a signature that no key verifies, or another response that is not valid. */
const SIGNATURE_ERRORS = new Set(["OAUTH_KEY_SELECTION_FAILED", "OAUTH_INVALID_RESPONSE"]);

const isSignatureError = (error: unknown): boolean =>
  causesOf(error).some((cause) => "code" in cause && SIGNATURE_ERRORS.has(String(cause.code)));

/** Inside of `redeemOnce`, sends a code only once. */
export const exchangeFetch: CustomFetch = async (...request) => {
  const exchange = exchanges.getStore();
  if (!exchange || request[1].method !== "POST") return boundedFetch(...request);
  if (exchange.answer === null) {
    const response = await boundedFetch(...request);
    const { ok, status, headers } = response;
    exchange.answer = { text: await response.text(), ok, init: { status, headers } };
  }
  return new Response(exchange.answer.text, exchange.answer.init);
};

/**
 * Redeems a code and, if no key verifies the response, verifies the same response once more.
 * @param refresh returns what newer keys need, or null if the keys cannot be newer
 */
export async function redeemOnce<Keys, Result>(
  keys: Keys,
  redeem: (keys: Keys) => Promise<Result>,
  refresh: () => Promise<Keys | null>,
): Promise<{ readonly result: Result; readonly keys: Keys }> {
  const exchange: Exchange = { answer: null };
  const attempt = async (using: Keys) => ({
    result: await exchanges.run(exchange, () => redeem(using)),
    keys: using,
  });
  try {
    return await attempt(keys);
  } catch (error) {
    const refreshed = exchange.answer?.ok && isSignatureError(error) ? await refresh() : null;
    if (refreshed === null) throw error;
    return attempt(refreshed);
  }
}
