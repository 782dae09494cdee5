/** Prints the OpenAPI document that the service returns, without starting it: `bun run openapi > openapi.json`. */
import { createFeatures } from "../app.ts";
import { createDocument } from "./routes.ts";

/** The cast is safe because describing the routes calls none of their services. */
const features = createFeatures({ authService: {} } as Parameters<typeof createFeatures>[0]);
process.stdout.write(await createDocument(features));
