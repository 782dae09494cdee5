/** `bun run openapi`: prints the OpenAPI document. Opens no resource: the routes are described, never called. */
import { createApp } from "../app.ts";
import { parseConfig } from "../config.ts";
import { createLogger } from "../observability/logger.ts";

/** The document does not depend on these parts, and no route that uses them is called. */
const unused = <Part extends object>(): Part => ({}) as Part;

const variables = { RATE_LIMIT_ENABLED: "false", LOG_LEVEL: "silent", LOG_FORMAT: "json" };
const readFile = () => "";
const config = parseConfig(variables, { kernels: [], isTerminal: false, readFile });
const app = createApp({
  config,
  secretKey: "unused",
  database: unused(),
  hasher: unused(),
  logger: createLogger(config.log),
  isStopping: () => false,
});
const response = await app.handle(new Request("http://localhost/openapi.json"));
process.stdout.write(`${JSON.stringify(await response.json(), null, 2)}\n`);
