/** Sends the form and the token from the fragment. The fragment is removed from the address and the history immediately. */
const byId = (id) => document.getElementById(id);
const form = document.querySelector("form");
const { action } = form.dataset;
const needsToken = action.endsWith("/confirm");
const token = new URLSearchParams(location.hash.slice(1)).get("token");
history.replaceState(null, "", location.pathname);

const showInvalidLink = () => {
  form.hidden = true;
  byId("error").textContent = "This link is not valid any more. It may have been used, or a newer one sent.";
  byId("again").hidden = action !== "/auth/password-reset/confirm";
};

const messageOf = (status, body) => {
  const sentenceOf = ({ loc, msg }) => `The ${loc.at(-1)} ${msg}.`;
  if (status === 422) return JSON.parse(body).detail.map(sentenceOf).join(" ");
  if (status === 409) return "Another account has this e-mail address now.";
  if (status === 429) return "Too many attempts. Please wait a minute and try again.";
  return "That did not work. Please try again in a minute.";
};

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  const members = { ...Object.fromEntries(new FormData(form)), ...(needsToken && { token }) };
  const headers = { "content-type": "application/json" };
  button.disabled = true;
  byId("error").textContent = "";
  try {
    const response = await fetch(`..${action}`, { method: "POST", headers, body: JSON.stringify(members) });
    const body = await response.text();
    if (response.ok) {
      form.hidden = true;
      byId("success").hidden = false;
      byId("success").focus();
    } else if (response.status === 400) showInvalidLink();
    else byId("error").textContent = messageOf(response.status, body);
  } catch {
    byId("error").textContent = "The service cannot be reached. Please try again in a minute.";
  }
  button.disabled = false;
});

if (needsToken && token === null) showInvalidLink();
// Opening another link of the same kind in this tab changes only the fragment.
addEventListener("hashchange", () => location.reload());
