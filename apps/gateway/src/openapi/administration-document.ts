/** The OpenAPI document of the administration. */
import type { Features } from "../feature-flags.ts";
import { createDocument } from "./document.ts";
import type { DescribedOperation } from "./operation.ts";

/** What keys can do, and which variables contain them. */
const keysOf = (features: Features) =>
  features.has("restrictedKeys")
    ? {
        rights:
          "a key of `ADMIN_API_KEYS` can do everything, one of `ADMIN_READ_KEYS` only reads users and account events, one of `ADMIN_EVENT_KEYS` only account events.",
        variables: "`ADMIN_API_KEYS`, `ADMIN_READ_KEYS` or `ADMIN_EVENT_KEYS`",
      }
    : { rights: "every key can do everything.", variables: "`ADMIN_API_KEYS`" };

const describe = ({ rights, variables }: ReturnType<typeof keysOf>): string =>
  `Administers the users of the service. For programs of the operator only: ${rights}

Send a key of ${variables} as \`Authorization: Bearer <key>\`. Every change is logged with the name of the key and the \`reason\`.`;

export const createAdministrationDocument = (
  operations: readonly DescribedOperation[],
  features: Features,
): Promise<string> =>
  createDocument({
    operations,
    features: new Set([...features, "administration"]),
    authenticationErrors: ["INVALID_API_KEY", "KEY_NOT_ALLOWED", "TOO_MANY_REQUESTS"],
    title: "Latchkey administration",
    description: describe(keysOf(features)),
    tags: {
      Administration: "Find, create, change and delete users.",
      Events: "Follow what happens to users.",
    },
    topics: {},
    server: { url: "..", description: "The URL of the administration port." },
    bearer: { type: "http", scheme: "bearer", description: `A key of ${keysOf(features).variables}.` },
  });
