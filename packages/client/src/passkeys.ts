/** Passkeys in browsers: passes the options of the service to `navigator.credentials`, and returns what the service expects. */
import type { CreatePasskeyRequest, PasskeyLoginRequest } from "./types.ts";

const MESSAGES = {
  not_supported: "This browser does not support passkeys",
  cancelled: "The user cancelled the passkey",
  timed_out: "The user did not respond in time",
};

/** There is no passkey to send. `cause` is the browser's error. */
export class LatchkeyPasskeyError extends Error {
  override readonly name = "LatchkeyPasskeyError";
  readonly reason: keyof typeof MESSAGES;

  constructor(reason: keyof typeof MESSAGES, cause?: unknown) {
    super(MESSAGES[reason], { cause });
    this.reason = reason;
  }
}

interface Prompt {
  readonly signal?: AbortSignal | null;
  /** Offers passkeys in the autocompletion of a form, without a dialog. */
  readonly isConditional?: boolean;
}

/** The members that this file converts, as the service sends them. */
interface Options {
  readonly challenge: string;
  readonly timeout: number;
  readonly user?: { readonly id: string };
  readonly excludeCredentials?: readonly { readonly id: string }[];
}

/** A `PublicKeyCredential` as far as this file reads it. */
interface Credential {
  readonly id: string;
  readonly response: Readonly<
    Record<"clientDataJSON" | "attestationObject" | "authenticatorData" | "signature", ArrayBuffer>
  > & { readonly userHandle?: ArrayBuffer | null };
}

type Credentials = Readonly<Record<"create" | "get", (request: object) => Promise<Credential | null>>>;

/** The cast is safe because every member is optional: Node and old browsers have none of them. */
const browser = globalThis as {
  readonly navigator?: { readonly credentials?: Credentials };
  readonly PublicKeyCredential?: { isConditionalMediationAvailable?(): Promise<boolean> };
};

const toBytes = (text: string): Uint8Array =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
    character.charCodeAt(0),
  );

const toText = (buffer: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const withBytes = <Value extends { readonly id: string }>(value: Value) => ({
  ...value,
  id: toBytes(value.id),
});

/** @throws {LatchkeyPasskeyError}, the reason of the signal, or another error of the browser */
async function prompt(method: "create" | "get", options: Options, { signal, isConditional }: Prompt) {
  const { navigator, PublicKeyCredential } = browser;
  if (!navigator?.credentials || !PublicKeyCredential) throw new LatchkeyPasskeyError("not_supported");
  if (isConditional && !(await PublicKeyCredential.isConditionalMediationAvailable?.()))
    throw new LatchkeyPasskeyError("not_supported");
  const { challenge, timeout, user, excludeCredentials } = options;
  const publicKey = {
    ...options,
    challenge: toBytes(challenge),
    ...(user && { user: withBytes(user) }),
    ...(excludeCredentials && { excludeCredentials: excludeCredentials.map(withBytes) }),
  };
  const startedAt = Date.now();
  try {
    const credential = await navigator.credentials[method]({
      publicKey,
      ...(signal && { signal }),
      ...(isConditional && { mediation: "conditional" }),
    });
    if (credential) return credential;
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    // Browsers do not tell which of the two it was.
    if (!(error instanceof Error) || error.name !== "NotAllowedError") throw error;
    throw new LatchkeyPasskeyError(Date.now() - startedAt < timeout ? "cancelled" : "timed_out", error);
  }
  throw new LatchkeyPasskeyError("cancelled");
}

const TYPE = "public-key" as const;

/** @param options as the service sends them */
export async function createCredential(
  options: unknown,
  request: Prompt,
): Promise<CreatePasskeyRequest["response"]> {
  const { id, response } = await prompt("create", toOptions(options), request);
  const { clientDataJSON, attestationObject } = response;
  const texts = { clientDataJSON: toText(clientDataJSON), attestationObject: toText(attestationObject) };
  return { id, rawId: id, type: TYPE, response: texts };
}

/** @param options as the service sends them */
export async function getCredential(
  options: unknown,
  request: Prompt,
): Promise<PasskeyLoginRequest["response"]> {
  const { id, response } = await prompt("get", toOptions(options), request);
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  const texts = {
    clientDataJSON: toText(clientDataJSON),
    authenticatorData: toText(authenticatorData),
    signature: toText(signature),
    ...(userHandle && { userHandle: toText(userHandle) }),
  };
  return { id, rawId: id, type: TYPE, response: texts };
}

/** The cast is safe because these are the options of WebAuthn, which the document of the service does not repeat. */
const toOptions = (options: unknown): Options => options as Options;
