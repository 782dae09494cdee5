/** The texts of mails. They contain nothing that a client chose, and no link comes from a request. */
import { TOKEN_PLACEHOLDER } from "@latchkey/config";
import type { MailKind } from "@latchkey/database";
import type { Config } from "../config.ts";
import type { Purpose } from "../tokens/one-time-tokens.ts";

const HOUR_MS = 60 * 60 * 1000;

/** The pages of the service to which mails link. */
export const PAGE_PATHS = { reset: "/account/reset-password", verification: "/account/verify-email" };

/** @param serviceUrl where the pages are if `PUBLIC_URL` is not set */
export function createLinks({ publicUrl, templates }: NonNullable<Config["mail"]>, serviceUrl: string) {
  return (purpose: Purpose, token: string): string => {
    const page = `${publicUrl ?? serviceUrl}${PAGE_PATHS[purpose]}#token=${TOKEN_PLACEHOLDER}`;
    return (templates[purpose] ?? page).replace(TOKEN_PLACEHOLDER, token);
  };
}

/** `lifetimeMs`: how long a mail is useful, which is as long as its link is valid. */
export const TEMPLATES = {
  reset: {
    lifetimeMs: HOUR_MS,
    subject: "Reset your password",
    text: (link: string) => `Somebody, probably you, has requested a new password for your account.

Open this link within 60 minutes and choose one. The link works once:

${link}

If you did not request it, ignore this mail. Your password does not change.
`,
  },
  verification: {
    lifetimeMs: 24 * HOUR_MS,
    subject: "Confirm your e-mail address",
    text: (link: string) => `An account was registered with this e-mail address.

If it is yours, open this link within 24 hours to confirm the address:

${link}

If you did not register, do not open the link and ignore this mail: the
address then stays unconfirmed. With "forgot password", you can take over the
account at any time, and its previous user loses access.
`,
  },
  password: {
    lifetimeMs: 24 * HOUR_MS,
    subject: "Your password was changed",
    text: () => `The password of your account was changed.

If it was you, there is nothing to do. If it was not, request a new password
at once with "forgot password", and tell the operator of the service.
`,
  },
} satisfies Record<MailKind, object>;
