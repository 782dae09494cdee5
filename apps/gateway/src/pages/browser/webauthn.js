/**
 * Asks the browser for a passkey. Converts from and to JSON by hand, because Safari before 18.4 has no conversions, and those of
 * password managers' extensions can throw.
 */
const { toBase64Url } = globalThis.forms;

const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (byte) => byte.charCodeAt(0));

const withBytes = (member) => ({ ...member, id: toBytes(member.id) });

const prompt = async (method, { user, excludeCredentials, allowCredentials, ...options }, members) => {
  if (!navigator.credentials?.[method] || !globalThis.PublicKeyCredential)
    throw new DOMException("WebAuthn is missing", "NotSupportedError");
  const publicKey = {
    ...options,
    challenge: toBytes(options.challenge),
    ...(user && { user: withBytes(user) }),
    ...(excludeCredentials && { excludeCredentials: excludeCredentials.map(withBytes) }),
    ...(allowCredentials && { allowCredentials: allowCredentials.map(withBytes) }),
  };
  const credential = await navigator.credentials[method]({ publicKey });
  if (!credential) throw new DOMException("No credential", "NotAllowedError");
  const { rawId, type, response } = credential;
  const id = toBase64Url(rawId);
  const present = members.filter((name) => response[name]);
  return {
    ...{ id, rawId: id, type },
    response: Object.fromEntries(present.map((name) => [name, toBase64Url(response[name])])),
  };
};

globalThis.webauthn = {
  create: (options) => prompt("create", options, ["clientDataJSON", "attestationObject"]),
  get: (options) =>
    prompt("get", options, ["clientDataJSON", "authenticatorData", "signature", "userHandle"]),
};
