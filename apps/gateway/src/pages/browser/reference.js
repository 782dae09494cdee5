/** Renders the reference in system fonts. */
const fontFamily = "system-ui, sans-serif";

globalThis.Redoc.init(
  "/openapi.json",
  {
    theme: {
      typography: {
        fontFamily,
        headings: { fontFamily },
        code: { fontFamily: "ui-monospace, monospace" },
      },
    },
  },
  document.getElementById("page"),
);
