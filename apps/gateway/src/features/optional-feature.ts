/** A feature that is off by default: one folder, and the object of its `feature.ts`. */
import type { FactorCipher } from "@latchkey/administration";
import type { Database, LoginRule, User } from "@latchkey/database";
import type { Config } from "../config.ts";
import type { Feature, Features } from "../feature-flags.ts";
import type { Operation } from "../http/operation.ts";
import type { ExpectToken, Login } from "../login.ts";
import type { Owner } from "../owner.ts";
import type { FeaturePages } from "../pages/feature-pages.ts";
import type { Store } from "../rate-limit/store.ts";
import type { Principal, Tokens } from "../tokens/access-tokens.ts";
import type { TokenKeys } from "../tokens/token-keys.ts";

/** What the server provides to features. */
export interface FeatureResources {
  readonly config: Config;
  /** Those that are on. */
  readonly features: Features;
  readonly database: Database;
  readonly keys: TokenKeys;
  readonly store: Store;
  readonly tokens: Tokens;
  readonly login: Login;
  readonly owner: Owner;
  readonly expectToken: ExpectToken;
  readonly canLogIn: LoginRule;
  /** null: second factors are off. */
  readonly factorCipher: FactorCipher | null;
  readonly clearWrongPasswords: (user: User) => Promise<void>;
}

/** What a feature that is on adds to the server. */
export interface OpenFeature {
  readonly operations: readonly Operation<Principal>[];
  readonly pages: FeaturePages;
}

export interface OptionalFeature {
  readonly name: Feature;
  isOn(config: Config): boolean;
  /** Returns null if the feature is off. */
  open(resources: FeatureResources): Promise<OpenFeature | null>;
}

/**
 * @param settingsOf what the configuration says of the feature; null: it is off
 * @param open imports the modules of the feature, because they take time and memory at startup
 */
export const optionalFeature = <Settings extends object>(
  name: Feature,
  settingsOf: (config: Config) => Settings | null,
  open: (settings: Settings, resources: FeatureResources) => Promise<OpenFeature>,
): OptionalFeature => ({
  name,
  isOn: (config) => settingsOf(config) !== null,
  async open(resources) {
    const settings = settingsOf(resources.config);
    return settings && open(settings, resources);
  },
});
