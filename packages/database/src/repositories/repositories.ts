/** The repositories. Each has one implementation for both databases. Every method can reject with `DatabaseUnavailable`. */
import type { Dialect } from "../dialect.ts";
import { createDigestRepository, type DigestRepository } from "./digests.ts";
import { createEventRepository, type EventRepository } from "./events.ts";
import { createFactorRepository, type FactorRepository } from "./factors.ts";
import { createIdentityRepository, type IdentityRepository } from "./identities.ts";
import { createOutboxRepository, type OutboxRepository } from "./outbox.ts";
import { createPasskeyRepository, type PasskeyRepository } from "./passkeys.ts";
import type { RepositoryClient } from "./repository-client.ts";
import { createTodoRepository, type TodoRepository } from "./todos.ts";
import { createUserRepository, type UserRepository } from "./users.ts";

export interface Repositories {
  readonly users: UserRepository;
  readonly passkeys: PasskeyRepository;
  readonly identities: IdentityRepository;
  readonly factors: FactorRepository;
  readonly todos: TodoRepository;
  readonly outbox: OutboxRepository;
  readonly digests: DigestRepository;
  readonly events: EventRepository;
}

export const createRepositories = (client: RepositoryClient, dialect: Dialect): Repositories => ({
  users: createUserRepository(client, dialect),
  passkeys: createPasskeyRepository(client, dialect),
  identities: createIdentityRepository(client, dialect),
  factors: createFactorRepository(client, dialect),
  todos: createTodoRepository(client, dialect),
  outbox: createOutboxRepository(client, dialect),
  digests: createDigestRepository(client, dialect),
  events: createEventRepository(client, dialect),
});
