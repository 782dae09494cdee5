// The page. It knows no token: the cookie of its own server is its login.
const element = (id) => document.getElementById(id);
const say = (text) => element("message").replaceChildren(text);
const list = (id, texts = []) =>
  element(id).replaceChildren(
    ...texts.map((text) => Object.assign(document.createElement("li"), { textContent: text })),
  );

/** Returns the body, or undefined after a message or on the way to the login that the response asks for. */
async function call(method, path, body) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`/api${path}`, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  if (response.ok) return text && JSON.parse(text);
  if (response.status !== 401) return say(text ? JSON.parse(text).detail : `Error ${response.status}`);
  const challenge = response.headers.get("www-authenticate") ?? "";
  const [, acr] = /acr_values="(\w+)"/.exec(challenge) ?? [];
  const [, age] = /max_age=(\d+)/.exec(challenge) ?? [];
  if (acr) location.href = loginOf({ acr_values: acr, max_age: age });
  else show(undefined);
}

/** The address of a login that returns to this page. */
const loginOf = (query) => `/login?${new URLSearchParams({ ...query, page: location.pathname })}`;

/** What each page shows. Its element has the path as `data-page`. */
const pages = {
  async "/"() {
    list("notes", await call("GET", "/notes"));
  },
  async "/users"() {
    const answer = await call("GET", "/users");
    if (answer) list("users", [...answer.emails, `${answer.authors} of them have notes`]);
  },
};

async function show(me) {
  element("guest").hidden = me !== undefined;
  element("user").hidden = me === undefined;
  if (!me) return;
  element("me").textContent = `${me.username}, plan ${me.plan}, roles: ${me.roles.join(", ") || "none"}`;
  element("admin").hidden = !me.roles.includes("admin");
  for (const page of document.querySelectorAll("[data-page]"))
    page.hidden = page.dataset.page !== location.pathname;
  await pages[location.pathname]?.();
}

const refresh = async () => show(await call("GET", "/me"));

function onSubmit(id, send) {
  element(id).addEventListener("submit", async (event) => {
    event.preventDefault();
    const sent = await send(Object.fromEntries(new FormData(event.target)));
    if (sent === undefined) return;
    event.target.reset();
    say("Done");
    await refresh();
  });
}

onSubmit("add", ({ text }) => call("POST", "/notes", { text }));
onSubmit("invite", ({ email }) => call("POST", "/invitations", { email }));
element("clear").addEventListener("click", async () => {
  if ((await call("DELETE", "/notes")) !== undefined) await refresh();
});
element("login").href = loginOf({});
element("register").href = loginOf({ prompt: "create" });
element("logout").addEventListener("click", async () => {
  await fetch("/logout", { method: "POST" });
  await show(undefined);
});

const error = new URLSearchParams(location.search).get("error");
if (error) say(`You were not logged in: ${error}`);
history.replaceState(null, "", location.pathname);
await refresh();
