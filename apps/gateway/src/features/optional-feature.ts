/** A feature that is off by default: one folder, and the object of its `feature.ts`, which decides whether it is on. */
import type { FactorCipher } from "@latchkey/administration";
import type { Environment, VariableName } from "@latchkey/config";
import type { Database, LoginRule, User } from "@latchkey/database";
import type { Config } from "../config.ts";
import type { Features } from "../feature-flags.ts";
import type { Operation } from "../http/operation.ts";
import type { ExpectToken, Login } from "../login.ts";
import type { Owner } from "../owner.ts";
import type { FeaturePages } from "../pages/feature-pages.ts";
import type { Store } from "../rate-limit/store.ts";
import type { Principal, Tokens } from "../tokens/access-tokens.ts";
import type { TokenKeys } from "../tokens/token-keys.ts";
import type { NetworkDigestOf } from "./auth/familiar-networks.ts";

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
  readonly networkDigestOf: NetworkDigestOf;
  /** null: second factors are off. */
  readonly factorCipher: FactorCipher | null;
  readonly clearWrongPasswords: (user: User) => Promise<void>;
}

/** What a feature that is on adds to the server. */
export interface OpenFeature {
  readonly operations: readonly Operation<Principal>[];
  readonly pages: FeaturePages;
}

/** The values of the environment variables. */
type FeatureVariables = Environment["values"];

export interface OptionalFeature {
  /** One of `Feature` if other modules ask whether it is on. */
  readonly name: string;
  /** The way to log in that it adds, as the metrics name it. @default it adds none */
  readonly loginMethod?: string;
  /** Variables that turn it on, for the document of everything and for tests. */
  readonly example: { readonly [Variable in VariableName]?: string };
  isOn(variables: FeatureVariables): boolean;
  /** Returns null if the feature is off. */
  open(resources: FeatureResources): Promise<OpenFeature | null>;
}

interface Definition<Settings extends object> extends Omit<OptionalFeature, "isOn" | "open"> {
  /** Returns null if the feature is off: its routes do not exist. */
  settings(variables: FeatureVariables): Settings | null;
  /** Imports the modules of the feature, because they take time and memory at startup. */
  open(settings: Settings, resources: FeatureResources): Promise<OpenFeature>;
}

export const optionalFeature = <Settings extends object>({
  settings,
  open,
  ...facts
}: Definition<Settings>): OptionalFeature => ({
  ...facts,
  isOn: (variables) => settings(variables) !== null,
  async open(resources) {
    const own = settings(resources.config.variables);
    return own && open(own, resources);
  },
});
