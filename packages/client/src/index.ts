/** The public API of `@latchkey/client`. Runs on Node 20 and later, on Bun and in browsers. */
export {
  type Client,
  type ClientOptions,
  createClient,
  type Passkeys,
  type RequestOptions,
} from "./client.ts";
export { LatchkeyConnectionError, LatchkeyError } from "./errors.ts";
export { LatchkeyPasskeyError } from "./passkeys.ts";
export type { TokenStorage } from "./session.ts";
export type * from "./types.ts";
