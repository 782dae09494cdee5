/** Prints the OpenAPI document that the service returns, without starting it: `bun run openapi > openapi.json`. */
import { createFeatures } from "../app.ts";
import { createDocument } from "./routes.ts";

/** The cast is safe because describing the routes calls none of their services. */
const uncalled = <Service>(): Service => ({}) as Service;

const features = createFeatures({
  readiness: uncalled(),
  authService: uncalled(),
  limiters: null,
  digests: uncalled(),
  requireCurrentPassword: false,
  todoService: uncalled(),
  publicKeySet: uncalled(),
});
process.stdout.write(await createDocument(features));
