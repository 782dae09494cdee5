/** Calls the passkey operations and the browser's WebAuthn functions. Shows either the part for visitors or the part for users. */
const byId = (id) => document.getElementById(id);
let token;

/** The keys are error codes of the service and names of browser errors. */
const MESSAGES = {
  INVALID_CREDENTIALS: "The e-mail, the password or the passkey is not right.",
  CURRENT_PASSWORD_INCORRECT: "The current password is not right.",
  EMAIL_NOT_VERIFIED: "Please open the link in the mail that confirms your e-mail address first.",
  ONE_TIME_TOKEN_INVALID: "That took too long, or you have ten passkeys. Please try again.",
  TOO_MANY_REQUESTS: "Too many attempts. Please wait a minute and try again.",
  INVALID_TOKEN: "Please log in again.",
  NotAllowedError: "No passkey was used. You can try again.",
  InvalidStateError: "This device already has a passkey of your account.",
  TypeError: "The service cannot be reached, or this browser does not support passkeys.",
};

const send = async (method, path, body) => {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(`..${path}`, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  if (response.ok) return text && JSON.parse(text);
  throw Object.assign(new Error(text), { name: JSON.parse(text).code });
};

const show = async () => {
  byId("visitor").hidden = Boolean(token);
  byId("user").hidden = !token;
  for (const form of document.forms) form.reset();
  if (!token) return byId("passkey").focus();
  const passkeys = await send("GET", "/auth/passkeys");
  byId("status").textContent = `You are logged in and have ${passkeys.length} of at most 10 passkeys.`;
  byId("passkeys").replaceChildren(
    ...passkeys.map(({ id, name, last_used_at: time }) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.textContent = `Remove ${name}`;
      onSuccess(button, "click", () => send("DELETE", `/auth/passkeys/${id}`));
      item.append(
        `${name}, ${time ? `used on ${new Date(time).toLocaleDateString()}` : "not used yet"} `,
        button,
      );
      return item;
    }),
  );
  byId("status").focus();
};

/** Runs `work` on each event, then updates the page or shows an error. */
const onSuccess = (element, type, work) =>
  element.addEventListener(type, async (event) => {
    event.preventDefault();
    byId("error").textContent = "";
    try {
      await work(Object.fromEntries(element instanceof HTMLFormElement ? new FormData(element) : []));
      await show();
    } catch (error) {
      byId("error").textContent = MESSAGES[error.name] ?? "That did not work. Please try again in a minute.";
    }
  });

onSuccess(byId("login"), "submit", async (credentials) => {
  token = (await send("POST", "/auth/login", credentials)).access_token;
});

onSuccess(byId("passkey"), "click", async () => {
  const { options, state } = await send("POST", "/auth/login/passkey/options");
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const response = (await navigator.credentials.get({ publicKey })).toJSON();
  token = (await send("POST", "/auth/login/passkey", { state, response })).access_token;
});

onSuccess(byId("create"), "submit", async ({ name, current_password }) => {
  const { options, state } = await send("POST", "/auth/passkeys/options", { current_password });
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const response = (await navigator.credentials.create({ publicKey })).toJSON();
  await send("POST", "/auth/passkeys", { state, response, name });
});

onSuccess(byId("logout"), "click", async () => {
  token = undefined;
});
