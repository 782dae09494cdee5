/**
 * Every kind of mail: how long it is useful, who gets it, where it links to, and its text. Mails contain nothing that a client
 * chose, and no link comes from a request.
 */

interface MailDefinition {
  /** How long a mail is useful, which is as long as its link is valid; and the same in words. */
  readonly lifetimeMs: number;
  readonly lifetime: string;
  readonly isWanted: (user: { readonly isActive: boolean; readonly emailVerified: boolean }) => boolean;
  /** The page of the service to which it links; null: it has no link. */
  readonly page: string | null;
  /** `{at}` is nothing, or the word "at" and the product. */
  readonly subject: string;
  readonly text: string;
}

export interface MailText {
  readonly subject: string;
  readonly text: string;
}

export type MailKind = keyof typeof MAILS;
/** The kinds with a link. */
export type LinkKind = {
  [Kind in MailKind]: (typeof MAILS)[Kind]["page"] extends string ? Kind : never;
}[MailKind];

interface MailOptions {
  /** Where the pages of the service are. */
  readonly publicUrl: string;
  /** In place of the pages of the service. */
  readonly linkTemplates: { readonly [Kind in LinkKind]?: string | null };
  readonly product: Product;
  /** In place of the built-in texts, with `{product}` and `{link}`. */
  readonly texts: MailTexts | null;
}

export interface Product {
  readonly name: string | null;
  readonly url: string | null;
}

export type MailTexts = { readonly [Kind in MailKind]?: MailText };

const AN_HOUR = { lifetimeMs: 60 * 60 * 1000, lifetime: "60 minutes" };
const A_DAY = { lifetimeMs: 24 * AN_HOUR.lifetimeMs, lifetime: "24 hours" };
const NOTIFICATION = { ...A_DAY, isWanted: () => true, page: null };

/** Replaced by the token in a template of a link. */
export const TOKEN_PLACEHOLDER = "{token}";

export const MAILS = {
  reset: {
    ...AN_HOUR,
    isWanted: ({ isActive }) => isActive,
    page: "/account/reset-password",
    subject: "Reset your password{at}",
    text: `Somebody, probably you, has requested a new password for your account{at}.

Open this link within ${AN_HOUR.lifetime} and choose one. The link works once:

{link}

If you did not request it, ignore this mail. Your password does not change.
`,
  },
  verification: {
    ...A_DAY,
    isWanted: ({ emailVerified }) => !emailVerified,
    page: "/account/verify-email",
    subject: "Confirm your e-mail address{at}",
    text: `An account{at} was registered with this e-mail address.

If it is yours, open this link within ${A_DAY.lifetime} to confirm the address:

{link}

If you did not register, do not open the link and ignore this mail: the
address then stays unconfirmed. With "forgot password", you can take over the
account at any time, and its previous user loses access.
`,
  },
  password: {
    ...NOTIFICATION,
    subject: "Your password{at} was changed",
    text: `The password of your account{at} was changed.

If it was you, there is nothing to do. If it was not, request a new password
at once with "forgot password", and tell the operator of the service.
`,
  },
  "email-change": {
    ...A_DAY,
    isWanted: ({ isActive }) => isActive,
    page: "/account/change-email",
    subject: "Confirm your new e-mail address{at}",
    text: `Somebody, probably you, wants to use this e-mail address for an account{at}.

Open this link within ${A_DAY.lifetime} to confirm it. All logins of the account then
end, and you log in with this address:

{link}

If you did not request it, ignore this mail. Nothing changes.
`,
  },
  email: {
    ...NOTIFICATION,
    subject: "Your e-mail address{at} was changed",
    text: `Your account{at} has another e-mail address now. You cannot log in with this
one any more.

If it was you, there is nothing to do. If it was not, tell the operator of the
service at once.
`,
  },
  passkey: {
    ...NOTIFICATION,
    subject: "The passkeys of your account{at} were changed",
    text: `A passkey was added to your account{at}, or removed from it.

If it was you, there is nothing to do. If it was not, request a new password
at once with "forgot password", which removes all passkeys, and tell the
operator of the service.
`,
  },
} satisfies Record<string, MailDefinition>;

/** In the order of their definitions. The cast is safe: the object has exactly these keys. */
export const MAIL_KINDS = Object.keys(MAILS) as readonly MailKind[];

export const hasLink = (kind: MailKind): kind is LinkKind => MAILS[kind].page !== null;

/** Returns the function that writes a mail; `token` is that of its link, if it has one. */
export function createMails({ publicUrl, linkTemplates, product, texts }: MailOptions) {
  const at = product.name === null ? "" : ` at ${product.name}`;
  const footer = product.url === null ? "" : `\n${product.url}\n`;
  return (kind: MailKind, token: string): MailText => {
    const { page, subject, text } = MAILS[kind];
    const given = texts?.[kind] ?? { subject, text: text + footer };
    const template = hasLink(kind) ? linkTemplates[kind] : null;
    const link = (template ?? `${publicUrl}${page}#token=${TOKEN_PLACEHOLDER}`).replace(
      TOKEN_PLACEHOLDER,
      token,
    );
    const values = new Map(Object.entries({ at, link, product: product.name ?? "your account" }));
    // In one pass: a value is never searched for placeholders.
    const fill = (text: string) => text.replace(/\{(\w+)\}/g, (found, name) => values.get(name) ?? found);
    return { subject: fill(given.subject), text: fill(given.text) };
  };
}
