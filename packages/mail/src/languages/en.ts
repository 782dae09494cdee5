/** The texts of mails in English, in ASCII. */
import type { MailLanguage } from "./language.ts";

export const en: MailLanguage = {
  mails: {
    reset: {
      subject: "Reset your password[ at {product}]",
      text: `Somebody, probably you, has requested a new password for your account[ at {product}].

Open this link within {lifetime} and choose one. The link works once:

{link}

If you did not request it, ignore this mail. Your password does not change.`,
    },
    verification: {
      subject: "Confirm your e-mail address[ at {product}]",
      text: `An account[ at {product}] was registered with this e-mail address.

If it is yours, open this link within {lifetime} to confirm the address:

{link}

If you did not register, do not open the link and ignore this mail: the address then stays unconfirmed.
With "forgot password", you can take over the account at any time, and its previous user loses access.`,
    },
    password: {
      subject: "Your password[ at {product}] was changed",
      text: `The password of your account[ at {product}] was changed.

If it was you, there is nothing to do. If it was not, request a new password at once with "forgot password",
and tell the operator of the service.`,
    },
    "email-change-approval": {
      subject: "Approve the new e-mail address of your account[ at {product}]",
      text: `Somebody, probably you, wants another e-mail address for your account[ at {product}].

Open this link within {lifetime} to approve it. The other address then gets a link that completes the change.
That ends all logins and removes all passkeys of the account, and you log in with the other address:

{link}

If you did not request it, do not open the link. Nothing changes, but somebody knows your password: change it
at once.`,
    },
    "email-change": {
      subject: "Confirm your new e-mail address[ at {product}]",
      text: `Somebody, probably you, wants to use this e-mail address for an account[ at {product}].

Open this link within {lifetime} to confirm it. All logins of the account then end, its passkeys are removed,
and you log in with this address:

{link}

If you did not request it, ignore this mail. Nothing changes.`,
    },
    email: {
      subject: "Your e-mail address[ at {product}] was changed",
      text: `Your account[ at {product}] has another e-mail address now. You cannot log in with this one any more.

If it was you, there is nothing to do. If it was not, tell the operator of the service at once.`,
    },
    invitation: {
      subject: "You are invited[ at {product}]",
      text: `An account[ at {product}] was created for you.

Open this link within {lifetime} and choose a password. The link works once:

{link}

If you do not want the account, ignore this mail. Nobody can log in to it.`,
    },
    "login-code": {
      subject: "Your code to log in[ at {product}]",
      text: `Somebody, probably you, wants to log in to your account[ at {product}] with a code.

Enter this code within {lifetime} on the page that asked for it. It works once:

{code}

If you did not request it, ignore this mail. Do not give the code to anybody: whoever has it can log in.`,
    },
    "factor-code": {
      subject: "Your code to protect your account[ at {product}] with an app",
      text: `Somebody, probably you, wants to protect the logins to your account[ at {product}] with codes of an app.

Enter this code within {lifetime} on the page that asked for it. It works once:

{code}

If you did not request it, do not give the code to anybody: somebody knows your password, and could lock you
out. Change it at once.`,
    },
    factor: {
      subject: "The second factor of your account[ at {product}] was set up",
      text: `Logins to your account[ at {product}] need a code of an app from now on, or the app or its recovery
codes were replaced. Setting up or replacing the app has ended all other logins.

If it was you, there is nothing to do. If it was not, tell the operator of the service at once: a new password
alone does not remove the codes.`,
    },
    "factor-removed": {
      subject: "The second factor of your account[ at {product}] was removed",
      text: `Logins to your account[ at {product}] do not need a code of an app any more. All logins have ended.

If it was you, there is nothing to do. If it was not, request a new password at once with "forgot password",
and tell the operator of the service.`,
    },
    "factor-failures": {
      subject: "Wrong codes at your account[ at {product}]",
      text: `Somebody has entered your password[ at {product}], or another login of yours, and then wrong codes of
the app. Without a right code, nobody logs in.

If it was you, check the clock of the device with the app. If it was not, somebody has your password: change it
at once.`,
    },
    "recovery-code": {
      subject: "A recovery code of your account[ at {product}] was used",
      text: `A recovery code was used for your account[ at {product}], instead of a code of the app. It does not work
again.

If it was you, there is nothing to do. If it was not, change your password at once, and make new recovery
codes.`,
    },
    deletion: {
      subject: "Your account[ at {product}] was deleted",
      text: `Your account[ at {product}] was deleted. This cannot be undone.

If it was you, there is nothing to do. If it was not, tell the operator of the service at once.`,
    },
    passkey: {
      subject: "The passkeys of your account[ at {product}] were changed",
      text: `A passkey was added to your account[ at {product}], or removed from it.

If it was you, there is nothing to do. If it was not, request a new password at once with "forgot password",
which removes all passkeys, and tell the operator of the service.`,
    },
    identity: {
      subject: "The logins of your account[ at {product}] were changed",
      text: `A login with another service was added to your account[ at {product}], or removed from it.

If it was you, there is nothing to do. If it was not, request a new password at once with "forgot password",
which ends all other ways to log in, and tell the operator of the service.`,
    },
    takeover: {
      subject: "You have taken over your account[ at {product}]",
      text: `You have logged in to the account[ at {product}] with this e-mail address and so confirmed the address.
Somebody else could have registered it before. Therefore, its earlier password, logins and passkeys have ended.

To log in with a password, choose a new one with "forgot password".

If it was not you, somebody else reads your mail or uses your account at another service: secure it, request a
new password at once, and tell the operator of the service.`,
    },
  },
  buttons: {
    reset: "Choose a new password",
    verification: "Confirm the address",
    "email-change-approval": "Approve the new address",
    "email-change": "Confirm the new address",
    invitation: "Choose a password",
  },
  linkBelow: "If the button does not work, open this link:",
  lifetimes: {
    "60 minutes": "60 minutes",
    "ten minutes": "ten minutes",
    "24 hours": "24 hours",
    "seven days": "seven days",
  },
  yourAccount: "your account",
  thePassword: "the password",
  quoted: (name) => `"${name}"`,
  dateOf: (date) => date,
  passkeysLogIn: `These passkeys still log in. "Forgot password" removes them:`,
  loginsLogIn: `These log in. "Forgot password" removes them:`,
  recoveryCodesLeft: "Unused recovery codes that are left: {count}",
};
