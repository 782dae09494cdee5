/** Renders the explorer. A token entered under Authorize is not stored, so that none remains on a shared computer. */
globalThis.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#page",
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  persistAuthorization: false,
  // No badge from an external validator.
  validatorUrl: null,
});
