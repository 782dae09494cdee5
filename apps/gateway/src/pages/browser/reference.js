/** Renders the reference in system fonts and in the colours that the browser prefers. */
const fontFamily = "system-ui, sans-serif";
const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", () => location.reload());

/** Dark colours, because Redoc has no dark theme. */
const colours = {
  colors: {
    primary: { main: "#a3b8ff" },
    success: { main: "#6fd07a" },
    error: { main: "#ff8f88" },
    gray: { 50: "#24292c", 100: "#2d3337" },
    text: { primary: "#e4e6e6", secondary: "#b9bebe" },
    border: { dark: "rgba(255, 255, 255, 0.2)", light: "#24292c" },
  },
  schema: { nestedBackground: "#24292c" },
  typography: { code: { color: "#ffaea8", backgroundColor: "rgba(255, 255, 255, 0.1)" } },
  sidebar: { backgroundColor: "#1c2022", textColor: "#e4e6e6" },
};

const options = {
  theme: {
    ...(dark.matches && colours),
    typography: {
      ...(dark.matches && colours.typography),
      fontFamily,
      headings: { fontFamily },
      code: { ...(dark.matches && colours.typography.code), fontFamily: "ui-monospace, monospace" },
    },
  },
};

/** Makes the server's URL absolute, because Redoc would append a relative one unresolved to every address. */
const readDocument = async () => {
  const api = await (await fetch("openapi.json")).json();
  for (const server of api.servers) server.url = new URL(server.url, location.href).href;
  return api;
};

// With the URL in place of the document, Redoc repeats the request and shows why it failed.
readDocument()
  .catch(() => "openapi.json")
  .then((api) => globalThis.Redoc.init(api, options, document.getElementById("page")));
