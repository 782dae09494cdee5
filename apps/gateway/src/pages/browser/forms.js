/**
 * What the pages of accounts share: sends forms to the service, and shows its answers beside the fields. The other scripts of a
 * page use it as `globalThis.forms`.
 */
const byId = (id) => document.getElementById(id);
/** The pages have relative URLs, because a proxy can serve them below a prefix of the path. */
const { root } = document.querySelector(".card").dataset;

/** An answer other than a success; status 0: no answer. */
class ServiceError extends Error {
  constructor(status, { code, detail, field, state } = {}, retryAfter = null) {
    super(`Status ${status}`);
    Object.assign(this, { status, code, detail, field, state, retryAfterSeconds: Number(retryAfter) });
  }
}

let requests = new AbortController();
/** Aborts all requests. Their forms show nothing. */
const cancelRequests = () => {
  requests.abort();
  requests = new AbortController();
};

/** A response that is not JSON comes from a proxy. */
const parse = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Returns the body, or throws a `ServiceError`. `token` is the access token, if the operation needs one. */
const send = async (method, path, { body, token } = {}) => {
  const { signal } = requests;
  const headers = { ...(body && { "content-type": "application/json" }) };
  if (token) headers.authorization = `Bearer ${token}`;
  let response;
  let text;
  try {
    response = await fetch(root + path, { method, headers, signal, body: body && JSON.stringify(body) });
    text = await response.text();
  } catch (error) {
    throw signal.aborted ? signal.reason : new ServiceError(0, {}, error);
  }
  if (response.ok) return parse(text);
  throw new ServiceError(response.status, parse(text), response.headers.get("retry-after"));
};

/** Errors of one field: its name, and the message. The keys are error codes. */
const FIELD_MESSAGES = {
  INVALID_CREDENTIALS: ["password", "The e-mail or the password is not right."],
  CURRENT_PASSWORD_INCORRECT: ["current_password", "This is not your current password."],
  FACTOR_CODE_REJECTED: ["code", "This code is not right, or was used. Wait for the next one."],
  LOGIN_CODE_INVALID: ["code", "This code is not right, or is not valid any more."],
};
/** Errors of a form. The keys are error codes, also those of the pages' scripts, and names of browser errors. */
const MESSAGES = {
  FACTOR_LOCKED: "After too many wrong codes, only a recovery code is accepted.",
  BEGUN_ELSEWHERE: "You began this login in another tab, or it has ended. Please begin again here.",
  EMAIL_NOT_VERIFIED: "First open the link in the mail that confirms your e-mail address.",
  IDENTITY_NOT_FOUND: "This login is removed already.",
  IDENTITY_REJECTED: "You were not logged in. Please try again.",
  INACTIVE_USER: "This account is deactivated.",
  LAST_LOGIN: "You could not log in any more without it.",
  PASSKEY_INVALID: "That took too long, or you have ten passkeys already. Please try again.",
  PASSKEY_NOT_FOUND: "This passkey is removed already.",
  PASSKEY_REJECTED: "This passkey is not registered here.",
  PROVIDER_UNAVAILABLE: "That service cannot be reached. Please try again in a minute.",
  RECENT_LOGIN_REQUIRED: "Please log out, log in again, and repeat this within five minutes.",
  STORAGE_BLOCKED:
    "Your browser blocks the storage of this page, which this login needs. Please allow it, or log in another way.",
  USER_ALREADY_EXISTS: "Somebody has this e-mail address already. If it is you, log in as before.",
  ConstraintError: "This device cannot store a passkey or check that it is you.",
  InvalidStateError: "This device already has a passkey of your account.",
  NotAllowedError: "No passkey was used. You can try again.",
  NotSupportedError: "This browser or device does not support passkeys.",
  SecurityError: "This address cannot use your passkeys.",
};

const waitOf = (seconds) =>
  seconds > 90 ? `in ${Math.ceil(seconds / 60)} minutes` : `in ${Math.ceil(seconds) || 60} seconds`;

const messageOf = ({ status, code, name, retryAfterSeconds }) => {
  const known = MESSAGES[code] ?? MESSAGES[name];
  if (known) return known;
  if (status === 429) return `Too many attempts. Please try again ${waitOf(retryAfterSeconds)}.`;
  if (status === 0) return "The service cannot be reached. Please try again in a minute.";
  return "That did not work. Please try again in a minute.";
};

/** A line break after the hyphen of "e-mail" would look like two words. */
const unbroken = (text) => text.replaceAll(/\b(e)-(mail)/gi, "$1\u2011$2");

/** base64url without padding (RFC 4648 §5). */
const toBase64Url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const labelOf = (input) => input.labels[0].textContent.trim();

/** Messages by the name of the field. Issues of members without a field in the form are omitted. */
const fieldErrorsOf = (form, error) => {
  const { code, detail } = error;
  const hasField = (name) => form.elements.namedItem(name) !== null;
  if (code === "INVALID_REQUEST")
    return detail
      .map(({ loc, msg }) => ({ name: String(loc.at(-1)), msg }))
      .filter(({ name }) => hasField(name))
      .map(({ name, msg }) => [name, `${labelOf(form.elements.namedItem(name))} ${msg}.`]);
  const [name, message] = FIELD_MESSAGES[code] ?? [];
  return hasField(name) ? [[name, message]] : [];
};

/** Shows the messages beside their fields, or `problem` above the form, and moves the focus there. */
const showErrors = (form, fieldErrors, problem) => {
  for (const [name, message] of fieldErrors) {
    const input = form.elements.namedItem(name);
    input.setAttribute("aria-invalid", "true");
    byId(`${input.id}-error`).textContent = unbroken(message);
  }
  const invalid = form.querySelector("[aria-invalid]");
  if (invalid) return invalid.focus();
  const place = form.querySelector(".problem");
  place.textContent = unbroken(problem);
  place.focus();
};

const clearErrors = (form) => {
  for (const place of form.querySelectorAll(".error, .problem")) place.textContent = "";
  for (const input of form.elements) input.removeAttribute("aria-invalid");
};

const missingOf = (form) =>
  [...form.elements]
    .filter((input) => input.required && (input.type === "checkbox" ? !input.checked : input.value === ""))
    .map((input) => [input.name, input.dataset.missing ?? `${labelOf(input)} must not be empty.`]);

/** Optional fields that are empty are not sent. */
const membersOf = (form) => Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));

/** Runs `work`, unless it already runs, and shows its error in the form. */
const run = async (form, work, showError) => {
  if (form.hasAttribute("aria-busy")) return;
  clearErrors(form);
  // A disabled button would lose the focus.
  form.setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (error) {
    if (error.name !== "AbortError" && !showError?.(error))
      showErrors(form, fieldErrorsOf(form, error), messageOf(error));
  } finally {
    form.removeAttribute("aria-busy");
  }
};

/** Shows or hides the password beside the button. */
const reveal = (button, isShown) => {
  const input = button.previousElementSibling;
  const verb = isShown ? "Hide" : "Show";
  input.type = isShown ? "text" : "password";
  button.textContent = verb;
  button.setAttribute("aria-label", `${verb} ${labelOf(input).toLowerCase()}`);
};

/**
 * Calls `work` with the members of the form when it is submitted.
 * @param showError returns true for an error that it showed itself
 */
const onSubmit = (form, work, showError) =>
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearErrors(form);
    // Otherwise a browser remembers the password as a text.
    for (const button of form.querySelectorAll(".reveal")) reveal(button, false);
    const missing = missingOf(form);
    if (missing.length > 0) showErrors(form, missing);
    else run(form, () => work(membersOf(form)), showError);
  });

for (const button of document.querySelectorAll(".reveal")) {
  reveal(button, false);
  button.addEventListener("click", () => reveal(button, button.previousElementSibling.type === "password"));
}

globalThis.forms = { byId, cancelRequests, onSubmit, run, send, showErrors, toBase64Url, unbroken };
