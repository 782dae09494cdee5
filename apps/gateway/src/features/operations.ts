/** The operations of the public API, in the order of the OpenAPI document. Those of features that are off are included. */
import type { PublicKeySet } from "@latchkey/contracts";
import type { Operation } from "../http/operation.ts";
import type { Principal } from "../tokens/access-tokens.ts";
import { linkOperations } from "./auth/link-operations.ts";
import type { LinkService } from "./auth/links.ts";
import { type AuthOperationsOptions, authOperations } from "./auth/operations.ts";
import { keyOperations } from "./keys/operations.ts";
import { probeOperations } from "./probes/operations.ts";
import type { Readiness } from "./probes/service.ts";
import { todoOperations } from "./todos/operations.ts";
import type { TodoService } from "./todos/service.ts";

interface FeatureOptions extends AuthOperationsOptions {
  readonly links: LinkService;
  readonly readiness: Readiness;
  readonly todoService: TodoService;
  readonly publicKeySet: PublicKeySet;
  /** Those of features whose modules are loaded only if the feature is on. */
  readonly optionalOperations: readonly Operation<Principal>[];
}

export const createOperations = (options: FeatureOptions): readonly Operation<Principal>[] => [
  ...probeOperations(options.readiness),
  ...authOperations(options),
  ...linkOperations(options),
  ...options.optionalOperations,
  ...keyOperations(options.publicKeySet),
  ...todoOperations(options.todoService),
];
