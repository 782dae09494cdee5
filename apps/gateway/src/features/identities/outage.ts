/**
 * Requests to a provider that does not respond validly. Invariant: after an error, a second passes before the next request. Only
 * requests whose responses no user can influence are watched: a user who can cause an error could otherwise prevent all logins.
 */
import { ProviderUnavailable } from "./provider-responses.ts";

const RETRY_DELAY_MS = 1_000;

export interface Outage {
  /** @throws the latest error if less than a second has passed since then */
  expectOver(): void;
  /** Returns the result of `request`, and stores its error. @throws the latest error, as `expectOver` */
  watch<Result>(request: () => Promise<Result>): Promise<Result>;
}

/** @param now in milliseconds; can be set back */
export function createOutage(now: () => number): Outage {
  let latest: { readonly error: ProviderUnavailable; readonly at: number } | null = null;
  const expectOver = (): void => {
    if (latest === null) return;
    const elapsedMs = now() - latest.at;
    if (elapsedMs >= 0 && elapsedMs < RETRY_DELAY_MS) throw latest.error;
  };
  return {
    expectOver,
    async watch(request) {
      expectOver();
      try {
        return await request();
      } catch (error) {
        if (error instanceof ProviderUnavailable) latest = { error, at: now() };
        throw error;
      }
    },
  };
}
