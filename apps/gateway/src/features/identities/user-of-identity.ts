/**
 * Whose login a provider has verified, and what the login changes: the user that already has the identity, the user of the same
 * e-mail, or a new one. Invariants: an identity logs in to one user. An e-mail gives access to an existing user only if the
 * provider is configured to link.
 */
import { localPartOf, toAsciiEmail, usernameCandidates } from "@latchkey/contracts";
import {
  type Database,
  IdentityAlreadyUsed,
  type NewIdentity,
  noPassword,
  type User,
  UserAlreadyExists,
} from "@latchkey/database";
import { ServiceError } from "../../errors.ts";
import type { LoginCommit } from "../../login.ts";
import type { RequestContext } from "../../request-context.ts";
import type { Provider } from "./provider.ts";
import type { IdentityClaims } from "./provider-client.ts";

export interface UserOfIdentityOptions extends Pick<Database, "identities" | "users" | "factors"> {
  readonly sendsMail: boolean;
  /** Whether a first login creates a user. */
  readonly createsUsers: boolean;
}

/** `normalized`: the verified e-mail, as the service compares it. */
export type VerifiedClaims = IdentityClaims & { readonly normalized: string };

/** The user of an identity, and what a login changes. */
type Found =
  | { readonly user: User; readonly commit?: LoginCommit | undefined }
  | { readonly user: null; readonly commit: LoginCommit };

/**
 * Finds the user of an identity, or decides to create one. Returns null if another request has changed what was found: the caller
 * tries again.
 * @param username that of a new user. @default one that the provider prefers, or one of the e-mail
 * @throws UserAlreadyExists, REGISTRATION_CLOSED, or an error of `claims`
 */
export type UserOfIdentity = (
  provider: Provider,
  identity: NewIdentity,
  claims: () => Promise<VerifiedClaims>,
  username: string | undefined,
  request: RequestContext,
) => Promise<Found | null>;

export function createUserOfIdentity(options: UserOfIdentityOptions): UserOfIdentity {
  const { identities, users, factors, sendsMail: notifies, createsUsers } = options;

  /** @throws UserAlreadyExists, IdentityAlreadyUsed */
  const createUser = async (
    email: string,
    { preferredUsername }: IdentityClaims,
    identity: NewIdentity,
    username: string | undefined,
    request: RequestContext,
  ): Promise<User> => {
    await request.countAgainst("register");
    const preferred = typeof preferredUsername === "string" ? preferredUsername.slice(0, 256) : "";
    const candidates = usernameCandidates(preferred.trim() || localPartOf(email));
    const values = { email, ...noPassword(), emailVerified: true };
    for (const candidate of username === undefined ? candidates : [username]) {
      const user = { ...values, username: candidate };
      const created = await users.create(user, identity).catch((error: unknown) => {
        const isGenerated = username === undefined;
        if (!(isGenerated && error instanceof UserAlreadyExists && error.field === "username")) throw error;
      });
      if (created) return created;
    }
    throw new UserAlreadyExists("username");
  };

  /** What a login with the identity adds to the user of its verified e-mail. An inactive user stays unchanged. */
  const linkOf = (user: User, identity: NewIdentity): LoginCommit | undefined => {
    if (!user.isActive) return undefined;
    if (!user.emailVerified)
      return {
        verifiesEmail: true,
        endsFactor: true,
        event: "user.taken_over",
        run: () => identities.takeOver(user, identity, noPassword(), { notifies }).catch(nullIfRaced),
      };
    const condition = { version: user.tokenVersion, exceptToken: null, verifiedEmail: user.email };
    const add = () => identities.add(user.id, identity, condition, { notifies, isUsed: true });
    return { event: "identity.created", run: async () => ((await add().catch(nullIfRaced)) ? user : null) };
  };

  /** Only a takeover ends a factor, so no login adds an identity to a user whose e-mail is verified and who has one. */
  const isProtected = async (user: User): Promise<boolean> =>
    user.factorId !== null && (user.emailVerified || (await factors.protects(user)));

  return async ({ settings }, identity, claims, username, request) => {
    const { provider } = identity;
    const known = await identities.find(identity);
    if (known) {
      const user = await users.findById(known.userId);
      if (!user?.isActive) return user && { user };
      const use = () => identities.use({ ...known, provider });
      return { user, commit: { run: async () => ((await use()) ? user : null) } };
    }
    const { normalized, ...rest } = await claims();
    const user = await users.findByEmail(normalized);
    if (user && settings.link && !(await isProtected(user))) return { user, commit: linkOf(user, identity) };
    if (user) {
      // A parallel login of the same identity can have created the user.
      if (await identities.find(identity)) return null;
      throw new UserAlreadyExists("email");
    }
    if (!createsUsers) {
      request.audit("identity.rejected", normalized, undefined, { reason: "closed", provider });
      throw new ServiceError("REGISTRATION_CLOSED");
    }
    const email = toAsciiEmail(normalized);
    const run = () => createUser(email, rest, identity, username, request).catch(nullIfRaced);
    return { user: null, commit: { event: "user.registered", run } };
  };
}

/** Another login can have added the identity, or created the user, meanwhile. */
function nullIfRaced(error: unknown): null {
  const isRaced =
    error instanceof IdentityAlreadyUsed || (error instanceof UserAlreadyExists && error.field === "email");
  if (isRaced) return null;
  throw error;
}
