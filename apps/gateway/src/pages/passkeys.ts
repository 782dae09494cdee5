/** The page on which users log in, and create, list and remove passkeys. Closing the page discards the token. */
import { EMAIL_MAX_LENGTH } from "@latchkey/contracts";
import type { PageOptions } from "./pages.ts";

export const PASSKEY_PAGES: Readonly<Record<string, PageOptions>> = {
  "/account/passkeys": {
    title: "Passkeys",
    scripts: ["passkeys.js"],
    policy: { "style-src": "'self'", "img-src": "'self'" },
    body: `<main class="account">
<h1>Passkeys</h1>
<noscript><p>This page needs JavaScript.</p></noscript>
<div id="visitor">
<button id="passkey">Log in with a passkey</button>
<form id="login">
<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="${EMAIL_MAX_LENGTH}" aria-describedby="error" required>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" aria-describedby="error" required>
<button>Log in with a password</button>
</form>
</div>
<div id="user" hidden>
<p id="status" role="status" tabindex="-1"></p>
<ul id="passkeys"></ul>
<form id="create">
<label for="name">Name of a new passkey</label>
<input id="name" name="name" autocomplete="off" maxlength="64" aria-describedby="error" required>
<label for="current">Current password</label>
<input id="current" name="current_password" type="password" autocomplete="current-password" aria-describedby="error" required>
<button>Create a passkey</button>
</form>
<button id="logout">Log out</button>
</div>
<p id="error" role="alert"></p>
</main>`,
  },
};
