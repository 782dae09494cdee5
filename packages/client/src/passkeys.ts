/** Passes the service's options to the browser and returns the browser's response, as JSON (WebAuthn Level 3, §5.1.7 to §5.1.10). */

const MESSAGES = {
  not_supported: "This browser does not support passkeys",
  cancelled: "The user cancelled the passkey",
  timed_out: "The user did not respond in time",
};

/** The browser returned no passkey. `cause` is the browser's error. */
export class LatchkeyPasskeyError extends Error {
  override readonly name = "LatchkeyPasskeyError";
  readonly reason: keyof typeof MESSAGES;

  constructor(reason: keyof typeof MESSAGES, cause?: unknown) {
    super(MESSAGES[reason], { cause });
    this.reason = reason;
  }
}

interface Prompt {
  /** The JSON that the service sends. */
  readonly options: unknown;
  readonly signal?: AbortSignal | null | undefined;
  /** Offers passkeys in the autocompletion of a form, without a dialog. */
  readonly isConditional?: boolean;
}

const CONVERTERS = { create: "parseCreationOptionsFromJSON", get: "parseRequestOptionsFromJSON" } as const;
type Method = keyof typeof CONVERTERS;
type Convert = (options: unknown) => { readonly timeout?: number };
type Call = (request: object) => Promise<{ toJSON(): unknown } | null>;

/** The cast is safe because every member is optional: Node and old browsers lack some members. */
const browser = globalThis as {
  readonly navigator?: { readonly credentials?: Partial<Record<Method, Call>> };
  readonly PublicKeyCredential?: Partial<Record<(typeof CONVERTERS)[Method], Convert>> & {
    isConditionalMediationAvailable?(): Promise<boolean>;
  };
};

/**
 * Returns the response of the browser. The cast assumes that the browser implements WebAuthn correctly.
 * @throws {LatchkeyPasskeyError} if there is no passkey. @throws the signal's reason, or an unexpected error of the browser
 */
export async function promptForPasskey<Response>(
  method: Method,
  { options, signal, isConditional = false }: Prompt,
): Promise<Response> {
  const { navigator, PublicKeyCredential: type } = browser;
  const publicKey = type?.[CONVERTERS[method]]?.(options);
  const isAvailable = !isConditional || (await type?.isConditionalMediationAvailable?.());
  if (!publicKey || !isAvailable || !navigator?.credentials?.[method])
    throw new LatchkeyPasskeyError("not_supported");
  const { timeout = Number.POSITIVE_INFINITY } = publicKey;
  const startedAt = Date.now();
  const mediation = isConditional ? "conditional" : undefined;
  const request = { publicKey, signal: signal ?? undefined, mediation };
  const credential = await navigator.credentials[method](request).catch((error: unknown) => {
    if (signal?.aborted) throw signal.reason;
    // Browsers report a cancellation and a timeout with the same `NotAllowedError`.
    if (!(error instanceof Error) || error.name !== "NotAllowedError") throw error;
    throw new LatchkeyPasskeyError(Date.now() - startedAt < timeout ? "cancelled" : "timed_out", error);
  });
  if (!credential) throw new LatchkeyPasskeyError("cancelled");
  return credential.toJSON() as Response;
}
