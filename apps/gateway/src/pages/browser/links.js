/**
 * Sends the form and the token of a link. The token comes from the fragment, which browsers send to no server. Until it is used,
 * the entry of the history keeps it for a reload, and the address does not show it.
 */
const { byId, onSubmit, send, showErrors } = globalThis.forms;
const form = document.querySelector("form");
const { action, needsToken } = form.dataset;
const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? history.state?.token;
const keep = (state) => history.replaceState(state, "", location.pathname);
keep(token ? { token } : null);

const replaceForm = (id) => {
  keep(null);
  form.hidden = true;
  byId(id).hidden = false;
  byId(id).focus();
};

onSubmit(
  form,
  async (members) => {
    await send("POST", action, { body: needsToken ? { ...members, token } : members });
    form.reset();
    replaceForm("success");
  },
  ({ status, code }) => {
    if (code === "ONE_TIME_TOKEN_INVALID") replaceForm("dead");
    else if (status === 409) showErrors(form, [], "Another account has this e-mail address now.");
    else return false;
    return true;
  },
);

if (needsToken && !token) replaceForm("dead");
// Opening another link of the same kind in this tab changes only the fragment.
addEventListener("hashchange", () => location.reload());
