/**
 * The text of every kind of mail. Mails contain no text that a client chose, except the names of passkeys, which are reduced to
 * words. URLs come from the configuration only.
 */
import {
  hasLink,
  type LinkKind,
  MAILS,
  type MailKind,
  type MailText,
  type MailTexts,
  type Product,
  TOKEN_PLACEHOLDER,
} from "@latchkey/contracts";

interface MailOptions {
  /** The base URL of the service's pages. */
  readonly publicUrl: string;
  /** Links that replace the links to the service's pages. */
  readonly linkTemplates: { readonly [Kind in LinkKind]?: string | null };
  readonly product: Product;
  /** Texts that replace the built-in texts. They can contain `{product}` and `{link}`. */
  readonly texts: MailTexts | null;
}

/** `{at}` is replaced by the word "at" and the product's name, or by nothing if no name is configured. */
const TEXTS: Readonly<Record<MailKind, MailText>> = {
  reset: {
    subject: "Reset your password{at}",
    text: `Somebody, probably you, has requested a new password for your account{at}.

Open this link within ${MAILS.reset.lifetime} and choose one. The link works once:

{link}

If you did not request it, ignore this mail. Your password does not change.
`,
  },
  verification: {
    subject: "Confirm your e-mail address{at}",
    text: `An account{at} was registered with this e-mail address.

If it is yours, open this link within ${MAILS.verification.lifetime} to confirm the address:

{link}

If you did not register, do not open the link and ignore this mail: the
address then stays unconfirmed. With "forgot password", you can take over the
account at any time, and its previous user loses access.
`,
  },
  password: {
    subject: "Your password{at} was changed",
    text: `The password of your account{at} was changed.

If it was you, there is nothing to do. If it was not, request a new password
at once with "forgot password", and tell the operator of the service.
`,
  },
  "email-change-approval": {
    subject: "Approve the new e-mail address of your account{at}",
    text: `Somebody, probably you, wants another e-mail address for your account{at}.

Open this link within ${MAILS["email-change-approval"].lifetime} to approve it. The other address then gets a link
that completes the change. That ends all logins and removes all passkeys of the
account, and you log in with the other address:

{link}

If you did not request it, do not open the link. Nothing changes, but somebody
knows your password: change it at once.
`,
  },
  "email-change": {
    subject: "Confirm your new e-mail address{at}",
    text: `Somebody, probably you, wants to use this e-mail address for an account{at}.

Open this link within ${MAILS["email-change"].lifetime} to confirm it. All logins of the account then
end, its passkeys are removed, and you log in with this address:

{link}

If you did not request it, ignore this mail. Nothing changes.
`,
  },
  email: {
    subject: "Your e-mail address{at} was changed",
    text: `Your account{at} has another e-mail address now. You cannot log in with this
one any more.

If it was you, there is nothing to do. If it was not, tell the operator of the
service at once.
`,
  },
  invitation: {
    subject: "You are invited{at}",
    text: `An account{at} was created for you.

Open this link within ${MAILS.invitation.lifetime} and choose a password. The link works once:

{link}

If you do not want the account, ignore this mail. Nobody can log in to it.
`,
  },
  "login-code": {
    subject: "Your code to log in{at}",
    text: `Somebody, probably you, wants to log in to your account{at} with a code.

Enter this code within ${MAILS["login-code"].lifetime} on the page that asked for it. It works once:

{code}

If you did not request it, ignore this mail. Do not give the code to anybody:
whoever has it can log in.
`,
  },
  "factor-code": {
    subject: "Your code to protect your account{at} with an app",
    text: `Somebody, probably you, wants to protect the logins to your account{at} with
codes of an app.

Enter this code within ${MAILS["factor-code"].lifetime} on the page that asked for it. It works once:

{code}

If you did not request it, do not give the code to anybody: somebody knows your
password, and could lock you out. Change it at once.
`,
  },
  factor: {
    subject: "The second factor of your account{at} was set up",
    text: `Logins to your account{at} need a code of an app from now on, or the app or its
recovery codes were replaced. All other logins have ended.

If it was you, there is nothing to do. If it was not, tell the operator of the
service at once: a new password alone does not remove the codes.
`,
  },
  "factor-removed": {
    subject: "The second factor of your account{at} was removed",
    text: `Logins to your account{at} do not need a code of an app any more. All logins
have ended.

If it was you, there is nothing to do. If it was not, request a new password
at once with "forgot password", and tell the operator of the service.
`,
  },
  "factor-failures": {
    subject: "Wrong codes at your account{at}",
    text: `Somebody has entered your password{at}, or another login of yours, and then wrong
codes of the app. Without a right code, nobody logs in.

If it was you, check the clock of the device with the app. If it was not,
somebody has your password: change it at once.
`,
  },
  "recovery-code": {
    subject: "A recovery code of your account{at} was used",
    text: `A recovery code was used for your account{at}, instead of a code of the app. It
does not work again.

If it was you, there is nothing to do. If it was not, change your password at
once, and make new recovery codes.
`,
  },
  deletion: {
    subject: "Your account{at} was deleted",
    text: `Your account{at} was deleted. This cannot be undone.

If it was you, there is nothing to do. If it was not, tell the operator of the
service at once.
`,
  },
  passkey: {
    subject: "The passkeys of your account{at} were changed",
    text: `A passkey was added to your account{at}, or removed from it.

If it was you, there is nothing to do. If it was not, request a new password
at once with "forgot password", which removes all passkeys, and tell the
operator of the service.
`,
  },
  identity: {
    subject: "The logins of your account{at} were changed",
    text: `A login with another service was added to your account{at}, or removed
from it.

If it was you, there is nothing to do. If it was not, request a new password
at once with "forgot password", which ends all other ways to log in, and tell
the operator of the service.
`,
  },
  takeover: {
    subject: "You have taken over your account{at}",
    text: `You have logged in to the account{at} with this e-mail address and so
confirmed the address. Somebody else could have registered it before. Therefore,
its earlier password, logins and passkeys have ended.

To log in with a password, choose a new one with "forgot password".

If it was not you, somebody else reads your mail or uses your account at another
service: secure it, request a new password at once, and tell the operator of the
service.
`,
  },
};

/** What the recipient can log in with. `createdAt` is in RFC 3339. The operator has chosen the names of providers. */
export interface ListedLogins {
  /** Listed if true. @default false */
  readonly hasPassword?: boolean;
  readonly passkeys: readonly { readonly name: string; readonly createdAt: string }[];
  readonly identities: readonly { readonly provider: string; readonly createdAt: string }[];
}

/** What a mail contains in addition to its text. */
export interface MailContents {
  /** Part of the link. @default none */
  readonly token?: string;
  /** The code of a login. @default none */
  readonly code?: string;
  /** Listed at the end of the text. @default none */
  readonly logins?: ListedLogins;
  /** The number of recovery codes that are left. @default it is not mentioned */
  readonly recoveryCodes?: number;
}

const NAME_MAX_LENGTH = 32;
const NAME_MAX_DIGITS = 6;

/**
 * Returns only the letters, digits and spaces of a name. Without dots, slashes and colons, no mail program recognises a link,
 * and without format characters, the text keeps its direction. So many digits that they could be a telephone number are omitted.
 */
function wordsOf(name: string): string {
  const hasNumber = (name.match(/\p{Nd}/gu)?.length ?? 0) > NAME_MAX_DIGITS;
  const words = name.replaceAll(hasNumber ? /[^\p{L}\p{M} ]+/gu : /[^\p{L}\p{M}\p{Nd} ]+/gu, " ");
  return [...words.replaceAll(/ +/g, " ").trim()].slice(0, NAME_MAX_LENGTH).join("");
}

function listLogins({ hasPassword = false, passkeys, identities }: ListedLogins): string {
  const logins = [
    ...(hasPassword ? ["- the password\n"] : []),
    ...passkeys.map(({ name, createdAt }) => `- ${createdAt.slice(0, 10)} "${wordsOf(name)}"\n`),
    ...identities.map(({ provider, createdAt }) => `- ${createdAt.slice(0, 10)} ${provider}\n`),
  ];
  if (logins.length === 0) return "";
  const what = logins.length === passkeys.length ? "These passkeys still" : "These";
  return `\n${what} log in. "Forgot password" removes them:\n\n${logins.join("")}`;
}

/** Returns a function that writes a mail. The logins are listed at the end of the text, also of an operator's. */
export function createMails({ publicUrl, linkTemplates, product, texts }: MailOptions) {
  const at = product.name === null ? "" : ` at ${product.name}`;
  const footer = product.url === null ? "" : `\n${product.url}\n`;
  return (kind: MailKind, { token = "", code = "", logins, recoveryCodes }: MailContents = {}): MailText => {
    const { subject, text } = TEXTS[kind];
    const given = texts?.[kind] ?? { subject, text };
    const left =
      recoveryCodes === undefined ? "" : `\nUnused recovery codes that are left: ${recoveryCodes}\n`;
    const end = (logins ? listLogins(logins) : "") + left + (texts?.[kind] ? "" : footer);
    const template = hasLink(kind) ? linkTemplates[kind] : null;
    const link = (template ?? `${publicUrl}${MAILS[kind].page}#token=${TOKEN_PLACEHOLDER}`).replace(
      TOKEN_PLACEHOLDER,
      token,
    );
    const values = new Map(Object.entries({ at, link, code, product: product.name ?? "your account" }));
    // All placeholders are replaced in one pass, so that values are never searched for placeholders.
    const fill = (text: string) => text.replace(/\{(\w+)\}/g, (found, name) => values.get(name) ?? found);
    return { subject: fill(given.subject), text: fill(given.text) + end };
  };
}
