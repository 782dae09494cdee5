/** The kinds of mails: lifetimes, conditions for sending, and linked pages. `packages/mail` contains the texts. */

interface MailDefinition {
  /** Time from the creation of a mail until the link of the mail expires. A mail is not sent after this time. */
  readonly lifetimeMs: number;
  /** `lifetimeMs` in words. The texts of each language have their own. */
  readonly lifetime: string;
  readonly isWanted: (user: { readonly isActive: boolean; readonly emailVerified: boolean }) => boolean;
  /** The page of the service to which the mail links; null: the mail has no link. */
  readonly page: string | null;
}

export interface MailText {
  readonly subject: string;
  readonly text: string;
}

export type MailKind = keyof typeof MAILS;
export type Lifetime = (typeof MAILS)[MailKind]["lifetime"];
/** The kinds of mails that have a link. */
export type LinkKind = {
  [Kind in MailKind]: (typeof MAILS)[Kind]["page"] extends string ? Kind : never;
}[MailKind];

export interface Product {
  readonly name: string | null;
  readonly url: string | null;
}

export type MailTexts = { readonly [Kind in MailKind]?: MailText };

const AN_HOUR = { lifetimeMs: 60 * 60 * 1000, lifetime: "60 minutes" } as const;
const TEN_MINUTES = { lifetimeMs: 10 * 60 * 1000, lifetime: "ten minutes" } as const;
const A_DAY = { lifetimeMs: 24 * AN_HOUR.lifetimeMs, lifetime: "24 hours" } as const;
const SEVEN_DAYS = { lifetimeMs: 7 * A_DAY.lifetimeMs, lifetime: "seven days" } as const;
const NOTIFICATION = { ...A_DAY, isWanted: () => true, page: null };
const isActive: MailDefinition["isWanted"] = (user) => user.isActive;

/** The token replaces this text in the template of a link. */
export const TOKEN_PLACEHOLDER = "{token}";

export const MAILS = {
  reset: { ...AN_HOUR, isWanted: isActive, page: "/account/reset-password" },
  verification: { ...A_DAY, isWanted: ({ emailVerified }) => !emailVerified, page: "/account/verify-email" },
  password: NOTIFICATION,
  "email-change-approval": { ...AN_HOUR, isWanted: isActive, page: "/account/approve-email" },
  "email-change": { ...AN_HOUR, isWanted: isActive, page: "/account/change-email" },
  invitation: { ...SEVEN_DAYS, isWanted: isActive, page: "/account/invitation" },
  "login-code": { ...TEN_MINUTES, isWanted: isActive, page: null },
  "factor-code": { ...TEN_MINUTES, isWanted: isActive, page: null },
  email: NOTIFICATION,
  passkey: NOTIFICATION,
  identity: NOTIFICATION,
  factor: NOTIFICATION,
  "factor-removed": NOTIFICATION,
  "factor-failures": NOTIFICATION,
  "recovery-code": NOTIFICATION,
  takeover: NOTIFICATION,
  deletion: NOTIFICATION,
} satisfies Record<string, MailDefinition>;

/** In the order of `MAILS`. The cast is safe because `MAILS` has no other keys. */
export const MAIL_KINDS = Object.keys(MAILS) as readonly MailKind[];

export const hasLink = (kind: MailKind): kind is LinkKind => MAILS[kind].page !== null;

/** The kinds of mails that have a code. */
export const CODE_MAILS = ["login-code", "factor-code"] as const satisfies readonly MailKind[];
export type CodeKind = (typeof CODE_MAILS)[number];
export const hasCode = (kind: MailKind): kind is CodeKind => CODE_MAILS.some((one) => one === kind);

/** Whether the mail only informs about what has happened. All other mails have a link or a code. */
export const isNotification = (kind: MailKind): boolean => !hasLink(kind) && !hasCode(kind);
