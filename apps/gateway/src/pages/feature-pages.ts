/** What a feature that is off by default adds to the pages of accounts. Its members exist only while the feature is on. */
import type { AuthorizationServer } from "./authorization-request.ts";
import type { CardContext } from "./card.ts";
import type { Section } from "./section.ts";

export type HostedLoginPage = Omit<AuthorizationServer, "hasSecondFactor">;

export interface FeaturePages {
  /** Its section of the account. */
  readonly section?: (context: CardContext) => Section;
  /** The HTML of its ways to log in, below the form of the password. */
  readonly loginWays?: (context: CardContext) => readonly string[];
  /** The HTML of its ways to register, below the form. */
  readonly registrationWays?: (context: CardContext) => readonly string[];
  /** The HTML of a step that a login can need after the first one. */
  readonly loginStep?: (context: CardContext) => string;
  /** What a user without it does first if an application requires it. `path` is that of the page. */
  readonly enrolment?: (context: CardContext, path: string) => Section;
  /** The applications whose users log in on a page of the service. */
  readonly hostedLogin?: HostedLoginPage;
  /** The path that its page had in earlier releases. It leads to the account. */
  readonly formerPath?: string;
}
