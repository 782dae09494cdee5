/** Draws the explorer. A token given to Authorize is forgotten with the page, so none stays on a shared computer. */
globalThis.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#page",
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  persistAuthorization: false,
  // The badge of an outside validator.
  validatorUrl: null,
});
