/** Renders the explorer in the colours that the browser prefers. A token entered under Authorize is kept until the tab is closed. */
const TOKEN_ITEM = "authorized";
const dark = matchMedia("(prefers-color-scheme: dark)");
const applyColours = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", applyColours);
applyColours();

/** Replaces Swagger UI's `persistAuthorization`, which uses local storage. All tabs share local storage, and it never expires. */
const keepTokenInTab = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        persistAuthorizationIfNeeded:
          (_, { authSelectors }) =>
          () =>
            sessionStorage.setItem(TOKEN_ITEM, JSON.stringify(authSelectors.authorized())),
      },
    },
  },
});

const explorer = globalThis.SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#page",
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // Removes the badge, which an external validator would provide.
  validatorUrl: null,
  plugins: [keepTokenInTab],
  onComplete() {
    const authorized = JSON.parse(sessionStorage.getItem(TOKEN_ITEM));
    if (authorized !== null) explorer.authActions.restoreAuthorization({ authorized });
  },
});
