/** The OpenAPI document of the administration. */
import type { Features } from "../optional-features.ts";
import { createDocument } from "./document.ts";
import type { DescribedOperation } from "./operation.ts";

const DESCRIPTION = `Administers the users of the service. For programs of the operator only: every key can do everything.

Send a key of \`ADMIN_API_KEYS\` as \`Authorization: Bearer <key>\`. Every change is logged with the name of the key and the \`reason\`.`;

export const createAdministrationDocument = (
  operations: readonly DescribedOperation[],
  features: Features,
): Promise<string> =>
  createDocument({
    operations,
    features: new Set([...features, "administration"]),
    authenticationErrors: ["INVALID_API_KEY", "TOO_MANY_REQUESTS"],
    title: "Latchkey administration",
    description: DESCRIPTION,
    tags: { Administration: "Find, create, change and delete users." },
    topics: {},
    server: { url: "..", description: "The URL of the administration port." },
    bearer: { type: "http", scheme: "bearer", description: "A key of `ADMIN_API_KEYS`." },
  });
