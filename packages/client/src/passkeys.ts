/**
 * Passes the service's options to the browser and returns the browser's response, as JSON (WebAuthn Level 3, §5.1.7 to §5.1.10).
 * The browser's own conversions are never used: Safari before 18.4 has none, and those of password managers can throw.
 */
import { readObject, subjectOf } from "./claims.ts";
import { createStoredText, type StorageOption, tabStorage } from "./storage.ts";

const MESSAGES = {
  not_supported: "This browser or device does not support passkeys",
  not_allowed_here: "The page's origin cannot use the passkeys of this service",
  unsuitable_device: "The device cannot store a passkey or verify its user",
  already_registered: "The device already has a passkey of this user",
  request_pending: "Another request for a passkey is pending",
  cancelled: "The user cancelled the passkey",
  timed_out: "The user did not respond in time",
  failed: "The device failed to use a passkey",
};
type Reason = keyof typeof MESSAGES;

/** The browser returned no passkey. `cause` is the browser's error. */
export class LatchkeyPasskeyError extends Error {
  override readonly name = "LatchkeyPasskeyError";
  readonly reason: Reason;

  constructor(reason: Reason, cause?: unknown) {
    super(MESSAGES[reason], { cause });
    this.reason = reason;
  }
}

/** By the name of the browser's error, except `NotAllowedError`, which has two reasons. Every other error is `failed`. */
const REASONS: Readonly<Record<string, Reason>> = {
  NotSupportedError: "not_supported",
  SecurityError: "not_allowed_here",
  ConstraintError: "unsuitable_device",
  InvalidStateError: "already_registered",
  OperationError: "request_pending",
};

interface Prompt {
  /** The JSON that the service sends. */
  readonly options: unknown;
  readonly signal?: AbortSignal | null | undefined;
  /** Offers passkeys in the autocompletion of a form, without a dialog. */
  readonly isConditional?: boolean;
}

type Descriptors = readonly { readonly id: string }[];
interface JsonOptions {
  readonly challenge: string;
  readonly rp?: { readonly id?: string };
  readonly rpId?: string;
  readonly timeout?: number;
  readonly user?: { readonly id: string };
  readonly excludeCredentials?: Descriptors;
  readonly allowCredentials?: Descriptors;
}
interface Credential {
  readonly rawId: ArrayBuffer;
  readonly type: string;
  readonly response: Readonly<Partial<Record<(typeof MEMBERS)[number], ArrayBuffer | null>>>;
}
type Method = "create" | "get";
type Call = (request: object) => Promise<Credential | null>;

/** The cast is safe because every member is optional: Node and old browsers lack some members. */
const browser = globalThis as {
  readonly navigator?: { readonly credentials?: Partial<Record<Method, Call>> };
  readonly PublicKeyCredential?: {
    isConditionalMediationAvailable?(): Promise<boolean>;
    signalAllAcceptedCredentials?(accepted: object): Promise<unknown>;
  };
};

/** The binary members of a response that the service reads. */
const MEMBERS = [
  "clientDataJSON",
  "attestationObject",
  "authenticatorData",
  "signature",
  "userHandle",
] as const;

const toBytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (byte) => byte.charCodeAt(0));

export const toBase64url = (bytes: ArrayBuffer | Uint8Array): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const withBytes = <Member extends { readonly id: string }>(member: Member) => ({
  ...member,
  id: toBytes(member.id),
});

const toRequest = ({ user, excludeCredentials, allowCredentials, ...options }: JsonOptions) => ({
  ...options,
  challenge: toBytes(options.challenge),
  ...(user && { user: withBytes(user) }),
  ...(excludeCredentials && { excludeCredentials: excludeCredentials.map(withBytes) }),
  ...(allowCredentials && { allowCredentials: allowCredentials.map(withBytes) }),
});

function toJson({ rawId, type, response }: Credential) {
  const id = toBase64url(rawId);
  const members = MEMBERS.flatMap((name) => {
    const bytes = response[name];
    return bytes ? [[name, toBase64url(bytes)] as const] : [];
  });
  return { id, rawId: id, type, response: Object.fromEntries(members) };
}

/**
 * Returns the response of the browser. The casts assume that the service and the browser implement WebAuthn correctly.
 * @throws {LatchkeyPasskeyError} if there is no passkey. @throws the signal's reason, or an error that is no `DOMException`
 */
export async function promptForPasskey<Response>(
  method: Method,
  { options, signal, isConditional = false }: Prompt,
): Promise<Response> {
  const { navigator, PublicKeyCredential: type } = browser;
  const isAvailable = !isConditional || (await type?.isConditionalMediationAvailable?.());
  if (!type || !isAvailable || !navigator?.credentials?.[method])
    throw new LatchkeyPasskeyError("not_supported");
  const publicKey = toRequest(options as JsonOptions);
  const { timeout = Number.POSITIVE_INFINITY } = publicKey;
  const startedAt = Date.now();
  const mediation = isConditional ? "conditional" : undefined;
  const request = { publicKey, signal: signal ?? undefined, mediation };
  let credential: Credential | null;
  try {
    credential = await navigator.credentials[method](request);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (!(error instanceof DOMException)) throw error;
    // Browsers report a cancellation and a timeout with the same `NotAllowedError`.
    const ended = Date.now() - startedAt < timeout ? "cancelled" : "timed_out";
    throw new LatchkeyPasskeyError(
      error.name === "NotAllowedError" ? ended : (REASONS[error.name] ?? "failed"),
      error,
    );
  }
  if (!credential) throw new LatchkeyPasskeyError("cancelled");
  return toJson(credential) as Response;
}

/** The owner of passkeys: the user of the token, and what authenticators know of this user. */
interface PasskeyOwner {
  readonly subject: unknown;
  readonly rpId: string;
  readonly userId: string;
}

/**
 * Tells the browser which passkeys the service accepts, so that password managers hide removed ones (WebAuthn Level 3, §5.1.10.3).
 * The service names the owner only when a passkey is created or used, so the tab keeps it. Invariant: the passkeys of one user are
 * never signalled for another one.
 */
export function createAcceptedPasskeys(key: string, option: StorageOption = tabStorage) {
  const stored = createStoredText(option, key);
  let inMemory: Partial<PasskeyOwner> = {};
  return {
    /** @param options those of the service @param userId of a login; default: that of the options */
    async learn(token: string | undefined, options: unknown, userId?: string): Promise<void> {
      const { rp, rpId = rp?.id, user } = options as JsonOptions;
      const owner = { subject: subjectOf(token), rpId, userId: userId ?? user?.id };
      inMemory = owner as Partial<PasskeyOwner>;
      await stored.write(JSON.stringify(owner));
    },
    /** @param ids of all passkeys of the user of `token` */
    async signal(token: string | undefined, ids: readonly string[]): Promise<void> {
      const text = await stored.read();
      const { subject, rpId, userId } = text ? readObject(() => text) : inMemory;
      if (!rpId || !userId || subject === undefined || subject !== subjectOf(token)) return;
      const accepted = { rpId, userId, allAcceptedCredentialIds: ids };
      // A browser can refuse the domain. Nothing depends on it.
      await browser.PublicKeyCredential?.signalAllAcceptedCredentials?.(accepted).catch(() => {});
    },
  };
}
