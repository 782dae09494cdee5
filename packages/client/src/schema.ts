/** The types of the OpenAPI document. Generated: run `bun run --cwd packages/client generate`, do not edit. */
export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the process is running
         * @description Liveness: uses no other resource, so a supervisor can restart the process if it fails.
         */
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the service can handle requests
         * @description Readiness: runs a trivial query on the database. Not ready during a shutdown.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register a user
         * @description The user is active and can log in at once, unless the service requires a verified e-mail. If the service sends mail, it also requests the mail that verifies the e-mail.
         */
        post: operations["register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange e-mail and password for an access token
         * @description An unknown e-mail and a wrong password have the same response. Earlier tokens remain valid. An inactive user gets a token, but operations that require one return 403. If the service signs tokens with a key pair, an inactive user gets 403 instead of a token.
         */
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the current user
         * @description Reads the user from the database, so it includes all changes since the token was issued.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        /**
         * Delete the current user
         * @description Cannot be undone. The tokens of the user stop working immediately, and e-mail and username can be registered again.
         */
        delete: operations["deleteMe"];
        options?: never;
        head?: never;
        /**
         * Change the username, the password or both
         * @description An empty object changes nothing. `current_password` is verified if it is present, also alone; the service can be configured to require it with a new password. A password change revokes all tokens of the user except the one in this request, which remains valid until it expires, another token changes the password, or all tokens are revoked. Returns 401 if another request revokes the token before this one ends; with a password or a current password, also if another request changes the password. A password change makes the networks of the user unfamiliar, except that of a request with the current password. A user can change the username ten times a minute.
         */
        patch: operations["updateMe"];
        trace?: never;
    };
    "/auth/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a token for a new one of the same login
         * @description The token in the request remains valid until it expires. No token of a login is valid later than the configured number of days after it. The token that made the latest password change cannot be renewed.
         */
        post: operations["renewToken"];
        /**
         * Revoke all tokens of the current user
         * @description Revokes every token, including the one in this request.
         */
        delete: operations["revokeTokens"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request a mail that resets a password
         * @description Returns the same response for every valid e-mail, registered or not. The link in the mail is valid for 60 minutes and works once. Each recipient gets three resets in 24 hours, then one every two hours, and as many again for requests from networks where the user has logged in within 30 days.
         */
        post: operations["requestPasswordReset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/email-verification/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify an e-mail with the token of a mail
         * @description Has the same response if the e-mail is already verified.
         */
        post: operations["confirmEmailVerification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password-reset/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set a new password with the token of a mail
         * @description Revokes all tokens of the user, deletes their passkeys and identities, makes their other networks unfamiliar, and verifies the e-mail.
         */
        post: operations["confirmPasswordReset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/email-verification": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request a mail that verifies the e-mail of the current user
         * @description A registration requests the first one. The link is valid for 24 hours.
         */
        post: operations["requestEmailVerification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/email-change/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve a change of e-mail with the token of a mail
         * @description Requests the mail that confirms the change, to the new address; its link is valid for 60 minutes. No mail is sent if the address is taken. The token works once.
         */
        post: operations["approveEmailChange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/email-change/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the e-mail with the token of a mail
         * @description The new e-mail is verified. Revokes all tokens of the user, deletes their passkeys and identities, makes their networks unfamiliar, and notifies the old e-mail.
         */
        post: operations["confirmEmailChange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/email-change": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request a change of the e-mail of the current user
         * @description If the present e-mail is verified, a mail to it asks for approval; otherwise, the mail that confirms the change is sent to the new address at once. Its link is valid for 60 minutes, until the next request, or until the password, the e-mail or the token version of the user changes. A request for the present e-mail only cancels the change. Returns the same response if the address is taken, and for further requests after three of a user in 24 hours, which have no effect.
         */
        post: operations["requestEmailChange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login/passkey/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin a login with a passkey
         * @description Returns the options for `navigator.credentials.get`, in JSON, and a state, which is valid for five minutes. They do not depend on the user.
         */
        post: operations["passkeyLoginOptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login/passkey": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange the response of a passkey for an access token
         * @description Every rejection has the same response. A state works once with a passkey. A passkey can log in eight times in five minutes, then gets 429.
         */
        post: operations["passkeyLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the passkeys of the current user
         * @description The oldest comes first.
         */
        get: operations["listPasskeys"];
        put?: never;
        /**
         * Create a passkey
         * @description Stores the passkey that the browser has created. A user can have ten.
         */
        post: operations["createPasskey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/passkeys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a passkey of the current user
         * @description Only if the configuration does not require `current_password` (`AUTH_REQUIRE_CURRENT_PASSWORD=false`); otherwise 403, and the operation whose path ends in `/removal` removes it. Tokens of earlier logins with it remain valid.
         */
        delete: operations["deletePasskey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/passkeys/{id}/removal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove a passkey of the current user
         * @description Tokens of earlier logins with it remain valid.
         */
        post: operations["removePasskey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/passkeys/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to create a passkey
         * @description Returns the options for `navigator.credentials.create`, in JSON, and a state, which is valid for five minutes and until the password, the tokens or the passkeys of the user change. If the service sends mail, the e-mail must be verified.
         */
        post: operations["createPasskeyOptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login/oidc/{name}/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin a login with an OpenID Connect provider
         * @description Returns the page of the provider, and a state, which is valid for ten minutes. The application keeps the verifier of the challenge, and sends the browser to the page.
         */
        post: operations["oidcLoginOptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login/oidc/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange the response of a provider for an access token
         * @description Logs in the user of the identity. Otherwise, the provider must have verified the e-mail. If no user has it, one is created without a password. If a user has it, the identity is added only if the provider is configured to link and no second factor protects the user; if that user has not verified the e-mail, the login ends the password, tokens, passkeys and identities of the user, because somebody else can have registered the e-mail. Every rejection of the provider, the state or the verifier has the same response.
         */
        post: operations["oidcLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/identities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the identities of the current user
         * @description The oldest comes first.
         */
        get: operations["listIdentities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/identities/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add an identity to the current user
         * @description `id` is the name of the provider. The e-mail of the identity can be any. If the service sends mail, the e-mail of the user must be verified. Adding an identity again returns it.
         */
        post: operations["addIdentity"];
        /**
         * Remove an identity of the current user
         * @description Only if the configuration does not require `current_password` (`AUTH_REQUIRE_CURRENT_PASSWORD=false`); otherwise 403, and the operation whose path ends in `/removal` removes it. Tokens of earlier logins with it remain valid.
         */
        delete: operations["deleteIdentity"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/identities/{id}/removal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove an identity of the current user
         * @description Tokens of earlier logins with it remain valid.
         */
        post: operations["removeIdentity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login/email/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request a code to log in
         * @description Mails a code of eight digits, which is valid for ten minutes, if a user has this e-mail. The response does not depend on whether one has it.
         */
        post: operations["emailLoginOptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login/email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a code from a mail for an access token
         * @description A code works once, and ends all others of the user. A state allows five attempts. If the e-mail of the user was not verified, the login verifies it and, unless a second factor protects the user, ends the password, tokens, passkeys and identities, because somebody else can have registered the e-mail.
         */
        post: operations["emailLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login/factor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Complete a login with a code of the second factor
         * @description Every way to log in returns 403 `SECOND_FACTOR_REQUIRED` with a `state` if the user has a second factor; a passkey is two factors by itself. The state can be used again with another code until it expires. A code works once, and no earlier one after it. A recovery code replaces a code once.
         */
        post: operations["factorLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/factor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the second factor of the current user
         * @description Neither the secret nor the recovery codes are ever returned again.
         */
        get: operations["getFactor"];
        put?: never;
        /**
         * Set up the second factor
         * @description From now on, every login of the user needs a code, except with a passkey. All tokens of the user end; the response has a new one and the recovery codes. The mailed code has five attempts.
         */
        post: operations["createFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/factor/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to set up a second factor
         * @description Returns a secret for an application that shows codes, and a state, which is valid for ten minutes and until the password, the tokens or the second factor of the user change. The factor is not stored yet. If the service sends mail, the e-mail must be verified, and gets a code. A user who has a second factor replaces it, and also sends a code of it.
         */
        post: operations["createFactorOptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/factor/recovery-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make new recovery codes
         * @description The earlier ones end.
         */
        post: operations["createRecoveryCodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/factor/removal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove the second factor
         * @description Ends all tokens of the user, including the one in this request.
         */
        post: operations["removeFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a code for an application
         * @description For the page `/account/authorize`, which then redirects to the application. The login of the token must be at most five minutes old. The code is valid for a minute and works once, with the verifier of the challenge.
         */
        post: operations["authorize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a code for an access token
         * @description The token endpoint of OAuth (RFC 6749 §4.1.3, RFC 7636 §4.5) for public clients. The token is that of the login on the page: `auth_time`, `amr` and `acr` are those of the login. There is no refresh token: renew the token with `POST /auth/tokens`. A code that is malformed, expired, used, of another client, redirect URI or verifier, or whose user has changed, is `invalid_grant`.
         */
        post: operations["exchangeCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-authorization-server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the metadata of the authorization server
         * @description For libraries of OAuth (RFC 8414). Every origin can read it.
         */
        get: operations["getAuthorizationServer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the public keys that verify tokens
         * @description A JSON Web Key Set (RFC 7517). Verify a token with the key whose `kid` is in the token's header, and only with that key's `alg`; request the set again if it does not contain the `kid`. During a key rotation, the set also contains the next or the previous key. The keys do not show that a token has been revoked, or that its user has been deactivated or deleted: read `GET /auth/me`, or follow the account events.
         */
        get: operations["getJwks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/todos": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List todos by page
         * @description In ascending order of id. A malformed cursor starts the listing at the beginning.
         */
        get: operations["listTodos"];
        put?: never;
        /**
         * Create a todo
         * @description A todo without `completed` is not completed.
         */
        post: operations["createTodo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/todos/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a todo
         * @description Todos have no owner: every client can read, change and delete each of them.
         */
        get: operations["getTodo"];
        put?: never;
        post?: never;
        /**
         * Delete a todo
         * @description Cannot be undone. The id is never used again.
         */
        delete: operations["deleteTodo"];
        options?: never;
        head?: never;
        /**
         * Update a todo
         * @description An empty object changes nothing.
         */
        patch: operations["updateTodo"];
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        RegisterRequest: {
            /**
             * @description Trimmed, lowercased and, if the domain is internationalized, converted to ASCII (`xn--…`) before validation.
             * @example ada@example.com
             */
            email: string;
            /** @example ada */
            username: string;
            /**
             * Format: password
             * @description Never trimmed. A login that sends the same characters in another Unicode form succeeds if the form NFC is correct.
             * @example correct horse battery staple
             */
            password: string;
            /**
             * @description The language of the user's mails and pages. null only while none was set: mails then have the default language.
             * @example de
             * @enum {string|null}
             */
            locale?: "en" | "de" | null;
        };
        LoginRequest: {
            /**
             * @description Trimmed and lowercased before validation.
             * @example ada@example.com
             */
            email: string;
            /**
             * Format: password
             * @example correct horse battery staple
             */
            password: string;
        };
        /**
         * @example {
         *       "username": "countess"
         *     }
         */
        UpdateUserRequest: {
            /** @example ada */
            username?: string;
            /**
             * Format: password
             * @description Never trimmed. A login that sends the same characters in another Unicode form succeeds if the form NFC is correct.
             * @example correct horse battery staple
             */
            password?: string;
            /**
             * Format: password
             * @description Verified if it is present.
             * @example correct horse battery staple
             */
            current_password?: string;
            /**
             * @description true: the new password also ends the passkeys of the user. Requires `password`.
             * @example true
             */
            remove_passkeys?: boolean;
            /**
             * @description The language of the user's mails and pages. null only while none was set: mails then have the default language.
             * @example de
             * @enum {string|null}
             */
            locale?: "en" | "de" | null;
        };
        PasswordResetRequest: {
            /**
             * @description Trimmed and lowercased before validation.
             * @example ada@example.com
             */
            email: string;
        };
        PasswordResetConfirmation: {
            /**
             * @description From the link in the mail.
             * @example WyJyZXNldCIsMSwxNzY5ODU4NDMwMDAwLCIiXQ.c2lnbmF0dXJl
             */
            token: string;
            /**
             * Format: password
             * @description Never trimmed. A login that sends the same characters in another Unicode form succeeds if the form NFC is correct.
             * @example correct horse battery staple
             */
            password: string;
        };
        EmailVerificationConfirmation: {
            /**
             * @description From the link in the mail.
             * @example WyJyZXNldCIsMSwxNzY5ODU4NDMwMDAwLCIiXQ.c2lnbmF0dXJl
             */
            token: string;
        };
        /**
         * @example {
         *       "title": "Buy milk"
         *     }
         */
        CreateTodoRequest: {
            /** @example Buy milk */
            title: string;
            /** @description False if omitted. */
            completed?: boolean;
        };
        /**
         * @example {
         *       "completed": true
         *     }
         */
        UpdateTodoRequest: {
            /** @example Buy milk */
            title?: string;
            completed?: boolean;
        };
        UserResponse: {
            /**
             * Format: int64
             * @example 1
             */
            id: number;
            /** @example ada@example.com */
            email: string;
            /**
             * @description Whether the user has opened a link in a mail to this address.
             * @example false
             */
            email_verified: boolean;
            /** @example ada */
            username: string;
            /** @example true */
            is_active: boolean;
            /**
             * Format: date-time
             * @description RFC 3339 in UTC with milliseconds
             * @example 2026-01-31T10:20:30.123Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description RFC 3339 in UTC with milliseconds
             * @example 2026-01-31T10:20:30.123Z
             */
            updated_at: string;
            /**
             * @description What other services permit the user, for example; the service itself ignores them.
             * @example [
             *       "admin"
             *     ]
             */
            roles?: string[];
            /**
             * @description The application's claims, such as a plan; the service itself ignores them. At most 1024 bytes of JSON. A name has 1 to 64 of the characters a to z, 0 to 9, and `_ . : / -`, and begins with a letter. A value is a text, a finite number, a boolean or an array of these.
             * @example {
             *       "plan": "pro",
             *       "seats": 5
             *     }
             */
            claims?: {
                [key: string]: string | number | boolean | (string | number | boolean)[];
            };
            /**
             * @description The language of the user's mails and pages. null until it is set for the first time.
             * @example en
             */
            locale?: string | null;
        };
        TokenResponse: {
            /**
             * @description A JWT (RFC 7519) for the Authorization header.
             * @example eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIiwiZXhwIjoxNzY5ODU4NDMwfQ.c2lnbmF0dXJl
             */
            access_token: string;
            /** @enum {string} */
            token_type: "bearer";
        };
        TodoResponse: {
            /**
             * Format: int64
             * @example 1
             */
            id: number;
            /** @example Buy milk */
            title: string;
            /** @example false */
            completed: boolean;
            /**
             * Format: date-time
             * @description RFC 3339 in UTC with milliseconds
             * @example 2026-01-31T10:20:30.123Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description RFC 3339 in UTC with milliseconds
             * @example 2026-01-31T10:20:30.123Z
             */
            updated_at: string;
        };
        TodoPageResponse: {
            items: components["schemas"]["TodoResponse"][];
            /** @example null */
            next_cursor: string | null;
        };
        PublicKeySet: {
            /** @description Empty if tokens are signed with a secret key. */
            keys: {
                /** @enum {string} */
                kty: "EC" | "OKP";
                /** @enum {string} */
                crv: "P-256" | "Ed25519";
                x: string;
                /** @description Absent from Ed25519 keys. */
                y?: string;
                /**
                 * @description The only algorithm for which the key is valid.
                 * @enum {string}
                 */
                alg: "ES256" | "EdDSA";
                /** @enum {string} */
                use: "sig";
                /** @description The thumbprint of the key (RFC 7638), as in the header of tokens that it verifies. */
                kid: string;
            }[];
        };
        LivenessResponse: {
            /** @enum {string} */
            status: "ok";
        };
        ReadinessResponse: {
            /** @enum {string} */
            status: "ready";
        };
        UnavailableResponse: {
            /** @enum {string} */
            status: "unavailable";
        };
        ValidationErrorResponse: {
            detail: components["schemas"]["ValidationIssue"][];
            /** @enum {string} */
            code: "INVALID_REQUEST";
        };
        ValidationIssue: {
            /**
             * @example [
             *       "body",
             *       "password"
             *     ]
             */
            loc: (string | number)[];
            /** @example must be at least 8 characters long */
            msg: string;
            /** @example string_too_short */
            type: string;
        };
        EmailChangeRequest: {
            /**
             * @description Trimmed, lowercased and, if the domain is internationalized, converted to ASCII (`xn--…`) before validation.
             * @example ada@example.com
             */
            email: string;
            /**
             * Format: password
             * @description Required, unless the user has no password. Such a user must have logged in within the last five minutes.
             * @example correct horse battery staple
             */
            current_password?: string;
        };
        EmailChangeApproval: {
            /**
             * @description From the link in the mail.
             * @example WyJyZXNldCIsMSwxNzY5ODU4NDMwMDAwLCIiXQ.c2lnbmF0dXJl
             */
            token: string;
        };
        EmailChangeConfirmation: {
            /**
             * @description From the link in the mail.
             * @example WyJyZXNldCIsMSwxNzY5ODU4NDMwMDAwLCIiXQ.c2lnbmF0dXJl
             */
            token: string;
        };
        RemovalRequest: {
            /**
             * Format: password
             * @description Required, unless the user has no password. Such a user must have logged in within the last five minutes.
             * @example correct horse battery staple
             */
            current_password?: string;
        };
        PasskeyOptionsRequest: {
            /**
             * Format: password
             * @description Required, unless the user has no password. Such a user must have logged in within the last five minutes.
             * @example correct horse battery staple
             */
            current_password?: string;
        };
        CreatePasskeyRequest: {
            /**
             * @description From the options.
             * @example WyJwYXNza2V5Il0.c2lnbmF0dXJl
             */
            state: string;
            /**
             * @description From the browser.
             * @example {
             *       "id": "cGFzc2tleQ",
             *       "rawId": "cGFzc2tleQ",
             *       "type": "public-key",
             *       "response": {
             *         "clientDataJSON": "cGFzc2tleQ",
             *         "attestationObject": "cGFzc2tleQ"
             *       }
             *     }
             */
            response: {
                /** @example cGFzc2tleQ */
                id: string;
                /** @example cGFzc2tleQ */
                rawId: string;
                /** @enum {string} */
                type: "public-key";
                response: {
                    /** @example cGFzc2tleQ */
                    clientDataJSON: string;
                    /** @example cGFzc2tleQ */
                    attestationObject: string;
                };
            };
            /** @example Phone */
            name: string;
        };
        PasskeyLoginRequest: {
            /**
             * @description From the options.
             * @example WyJwYXNza2V5Il0.c2lnbmF0dXJl
             */
            state: string;
            /**
             * @description From the browser.
             * @example {
             *       "id": "cGFzc2tleQ",
             *       "rawId": "cGFzc2tleQ",
             *       "type": "public-key",
             *       "response": {
             *         "clientDataJSON": "cGFzc2tleQ",
             *         "authenticatorData": "cGFzc2tleQ",
             *         "signature": "cGFzc2tleQ"
             *       }
             *     }
             */
            response: {
                /** @example cGFzc2tleQ */
                id: string;
                /** @example cGFzc2tleQ */
                rawId: string;
                /** @enum {string} */
                type: "public-key";
                response: {
                    /** @example cGFzc2tleQ */
                    clientDataJSON: string;
                    /** @example cGFzc2tleQ */
                    authenticatorData: string;
                    /** @example cGFzc2tleQ */
                    signature: string;
                    /** @example cGFzc2tleQ */
                    userHandle?: string;
                };
            };
        };
        /**
         * @example {
         *       "options": {
         *         "challenge": "cGFzc2tleQ"
         *       },
         *       "state": "WyJwYXNza2V5Il0.c2lnbmF0dXJl"
         *     }
         */
        PasskeyOptionsResponse: {
            /**
             * @description For the browser, unchanged.
             * @example {}
             */
            options: unknown;
            /**
             * @description From the options.
             * @example WyJwYXNza2V5Il0.c2lnbmF0dXJl
             */
            state: string;
        };
        PasskeyResponse: {
            /**
             * @description The credential id, base64url.
             * @example cGFzc2tleQ
             */
            id: string;
            /** @example Phone */
            name: string;
            /**
             * Format: date-time
             * @description RFC 3339 in UTC with milliseconds
             * @example 2026-01-31T10:20:30.123Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Of a login.
             * @example null
             */
            last_used_at: string | null;
        };
        /** @example [] */
        PasskeyListResponse: components["schemas"]["PasskeyResponse"][];
        EmailLoginOptionsRequest: {
            /**
             * @description Trimmed and lowercased before validation.
             * @example ada@example.com
             */
            email: string;
        };
        EmailLoginRequest: {
            /**
             * @description From the options.
             * @example WyJvaWRjIl0.c2lnbmF0dXJl
             */
            state: string;
            /**
             * @description The eight digits from the mail.
             * @example 12345678
             */
            code: string;
        };
        EmailLoginOptionsResponse: {
            /**
             * @description From the options.
             * @example WyJvaWRjIl0.c2lnbmF0dXJl
             */
            state: string;
        };
        OidcOptionsRequest: {
            /**
             * @description One of the configured pages of the application.
             * @example https://app.example.com/callback
             */
            redirect_uri: string;
            /**
             * @description The S256 challenge of a verifier that the application keeps (RFC 7636 §4.2).
             * @example E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM
             */
            code_challenge: string;
        };
        OidcLoginRequest: {
            /**
             * @description From the redirect.
             * @example SplxlOBeZQQYbYS6WxSbIA
             */
            code: string;
            /**
             * @description From the options.
             * @example WyJvaWRjIl0.c2lnbmF0dXJl
             */
            state: string;
            /** @example dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk */
            code_verifier: string;
            /**
             * @description From the redirect, if it has one (RFC 9207).
             * @example https://accounts.example.com
             */
            iss?: string;
            /** @example ada */
            username?: string;
        };
        AddIdentityRequest: {
            /**
             * @description From the redirect.
             * @example SplxlOBeZQQYbYS6WxSbIA
             */
            code: string;
            /**
             * @description From the options.
             * @example WyJvaWRjIl0.c2lnbmF0dXJl
             */
            state: string;
            /** @example dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk */
            code_verifier: string;
            /**
             * @description From the redirect, if it has one (RFC 9207).
             * @example https://accounts.example.com
             */
            iss?: string;
            /**
             * Format: password
             * @description Required, unless the user has no password. Such a user must have logged in within the last five minutes.
             * @example correct horse battery staple
             */
            current_password?: string;
        };
        OidcOptionsResponse: {
            /**
             * @description The page of the provider to which the application sends the browser.
             * @example https://accounts.example.com/authorize
             */
            authorization_url: string;
            /**
             * @description From the options.
             * @example WyJvaWRjIl0.c2lnbmF0dXJl
             */
            state: string;
        };
        IdentityResponse: {
            /**
             * Format: int64
             * @example 1
             */
            id: number;
            /**
             * @description The configured name of the provider.
             * @example example
             */
            provider: string;
            /**
             * Format: date-time
             * @description RFC 3339 in UTC with milliseconds
             * @example 2026-01-31T10:20:30.123Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Of a login.
             * @example null
             */
            last_used_at: string | null;
        };
        /** @example [] */
        IdentityListResponse: components["schemas"]["IdentityResponse"][];
        FactorOptionsRequest: {
            /**
             * Format: password
             * @description Required, unless the user has no password. Such a user must have logged in within the last five minutes.
             * @example correct horse battery staple
             */
            current_password?: string;
            /**
             * @description Required if the user has a second factor, which the new one replaces: one of its codes.
             * @example 123456
             */
            code?: string;
        };
        CreateFactorRequest: {
            /**
             * @description From the options.
             * @example WyJmYWN0b3IiXQ.c2lnbmF0dXJl
             */
            state: string;
            /**
             * @description The six digits of the application.
             * @example 123456
             */
            code: string;
            /**
             * @description The eight digits from the mail. Required if the service sends mail.
             * @example 12345678
             */
            email_code?: string;
        };
        FactorLoginRequest: {
            /**
             * @description From the error of the first step.
             * @example WyJmYWN0b3IiXQ.c2lnbmF0dXJl
             */
            state: string;
            /**
             * @description The six digits of the application, or a recovery code.
             * @example 123456
             */
            code: string;
        };
        FactorProofRequest: {
            /**
             * Format: password
             * @description Required, unless the user has no password. Such a user must have logged in within the last five minutes.
             * @example correct horse battery staple
             */
            current_password?: string;
            /**
             * @description The six digits of the application, or a recovery code.
             * @example 123456
             */
            code: string;
        };
        FactorOptionsResponse: {
            /**
             * @description For users who cannot scan the QR code, in base32 (RFC 4648).
             * @example JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP
             */
            secret: string;
            /**
             * @description The content of the QR code.
             * @example otpauth://totp/Latchkey:ada%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Latchkey
             */
            uri: string;
            /**
             * @description From the options.
             * @example WyJmYWN0b3IiXQ.c2lnbmF0dXJl
             */
            state: string;
        };
        CreateFactorResponse: {
            /**
             * @description Eight codes, each of which replaces a code of the application once. They are never shown again.
             * @example [
             *       "mfrggzdfmztwq2lknnwg23tp"
             *     ]
             */
            recovery_codes: string[];
            /**
             * @description A JWT (RFC 7519) for the Authorization header.
             * @example eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIiwiZXhwIjoxNzY5ODU4NDMwfQ.c2lnbmF0dXJl
             */
            access_token: string;
            /** @enum {string} */
            token_type: "bearer";
        };
        RecoveryCodesResponse: {
            /**
             * @description Eight codes, each of which replaces a code of the application once. They are never shown again.
             * @example [
             *       "mfrggzdfmztwq2lknnwg23tp"
             *     ]
             */
            recovery_codes: string[];
        };
        FactorResponse: {
            /**
             * Format: date-time
             * @description RFC 3339 in UTC with milliseconds
             * @example 2026-01-31T10:20:30.123Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When a code was last accepted after the enrolment.
             * @example null
             */
            last_used_at: string | null;
            /** @example 8 */
            recovery_codes_left: number;
        };
        AuthorizationRequest: {
            /**
             * @description A client of the configuration.
             * @example web
             */
            client_id: string;
            /**
             * @description One of the client's, character by character; at `127.0.0.1` and `[::1]`, its port can be another one.
             * @example https://app.example.com/callback
             */
            redirect_uri: string;
            /**
             * @description The S256 challenge of a verifier that the client keeps (RFC 7636 §4.2).
             * @example E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM
             */
            code_challenge: string;
        };
        AuthorizationResponse: {
            /** @example WyJhdXRob3JpemF0aW9uIl0.c2lnbmF0dXJl */
            code: string;
            /**
             * @description The issuer, for the redirect (RFC 9207).
             * @example https://accounts.example.com
             */
            iss: string;
        };
        CodeExchangeRequest: {
            /** @enum {string} */
            grant_type: "authorization_code";
            /** @example WyJhdXRob3JpemF0aW9uIl0.c2lnbmF0dXJl */
            code: string;
            /**
             * @description A client of the configuration.
             * @example web
             */
            client_id: string;
            /** @example dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk */
            code_verifier: string;
            /**
             * @description One of the client's, character by character; at `127.0.0.1` and `[::1]`, its port can be another one.
             * @example https://app.example.com/callback
             */
            redirect_uri?: string;
        };
        ExchangedTokenResponse: {
            /**
             * @description A JWT (RFC 7519) for the Authorization header.
             * @example eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIiwiZXhwIjoxNzY5ODU4NDMwfQ.c2lnbmF0dXJl
             */
            access_token: string;
            /** @enum {string} */
            token_type: "bearer";
            /**
             * @description In seconds.
             * @example 3600
             */
            expires_in: number;
        };
        AuthorizationServerMetadata: {
            /** @example https://accounts.example.com */
            issuer: string;
            /** @example https://accounts.example.com/account/authorize */
            authorization_endpoint: string;
            /** @example https://accounts.example.com/oauth/token */
            token_endpoint: string;
            /** @example https://accounts.example.com/.well-known/jwks.json */
            jwks_uri: string;
            /**
             * @description Only `code`.
             * @example [
             *       "code"
             *     ]
             */
            response_types_supported: string[];
            /**
             * @description Only `authorization_code`.
             * @example [
             *       "authorization_code"
             *     ]
             */
            grant_types_supported: string[];
            /**
             * @description Only `none`: clients are public.
             * @example [
             *       "none"
             *     ]
             */
            token_endpoint_auth_methods_supported: string[];
            /**
             * @description Only `S256`.
             * @example [
             *       "S256"
             *     ]
             */
            code_challenge_methods_supported: string[];
            /** @example true */
            authorization_response_iss_parameter_supported: boolean;
            /**
             * @description If second factors are on.
             * @example [
             *       "2fa"
             *     ]
             */
            acr_values_supported?: string[];
        };
        PayloadTooLargeError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "PAYLOAD_TOO_LARGE";
        };
        RegistrationClosedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "REGISTRATION_CLOSED";
        };
        UserAlreadyExistsError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "USER_ALREADY_EXISTS";
            /**
             * @description The value that another user has; `email` if both are taken. Only with `USER_ALREADY_EXISTS`.
             * @enum {string}
             */
            field?: "email" | "username";
        };
        TooManyRequestsError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "TOO_MANY_REQUESTS";
        };
        InternalError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INTERNAL_ERROR";
        };
        RegisterServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "HASH_QUEUE_FULL" | "HASHER_CLOSED" | "HASH_WORKER_CRASHED" | "DATABASE_UNAVAILABLE";
        };
        InvalidCredentialsError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_CREDENTIALS";
        };
        LoginForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "EMAIL_NOT_VERIFIED" | "SECOND_FACTOR_REQUIRED";
            /**
             * @description For `POST /auth/login/factor`, within five minutes. It is no token. Only with `SECOND_FACTOR_REQUIRED`.
             * @example WyJmYWN0b3IiXQ.c2lnbmF0dXJl
             */
            state?: string;
        };
        LoginServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "HASH_QUEUE_FULL" | "HASHER_CLOSED" | "HASH_WORKER_CRASHED" | "DATABASE_UNAVAILABLE";
        };
        GetMeUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        InactiveUserError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER";
        };
        UserNotFoundError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "USER_NOT_FOUND";
        };
        DatabaseUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "DATABASE_UNAVAILABLE";
        };
        UpdateMeUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        UpdateMeForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "CURRENT_PASSWORD_INCORRECT" | "RECENT_LOGIN_REQUIRED";
        };
        UpdateMeServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "HASH_QUEUE_FULL" | "HASHER_CLOSED" | "HASH_WORKER_CRASHED" | "DATABASE_UNAVAILABLE";
        };
        DeleteMeUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        DeleteMeForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "RECENT_LOGIN_REQUIRED";
        };
        RenewTokenUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        RenewTokenForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "EMAIL_NOT_VERIFIED";
        };
        RevokeTokensUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        OneTimeTokenInvalidError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "ONE_TIME_TOKEN_INVALID";
        };
        ConfirmPasswordResetServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "HASH_QUEUE_FULL" | "HASHER_CLOSED" | "HASH_WORKER_CRASHED" | "DATABASE_UNAVAILABLE";
        };
        RequestEmailVerificationUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        RequestEmailChangeUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        RequestEmailChangeForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "CURRENT_PASSWORD_INCORRECT" | "RECENT_LOGIN_REQUIRED";
        };
        RequestEmailChangeServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "HASH_QUEUE_FULL" | "HASHER_CLOSED" | "HASH_WORKER_CRASHED" | "DATABASE_UNAVAILABLE";
        };
        PasskeyRejectedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "PASSKEY_REJECTED";
        };
        PasskeyLoginForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "EMAIL_NOT_VERIFIED";
        };
        ListPasskeysUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        PasskeyInvalidError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "PASSKEY_INVALID";
        };
        CreatePasskeyUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        DeletePasskeyUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        DeletePasskeyForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "OWNER_PROOF_REQUIRED" | "RECENT_LOGIN_REQUIRED";
        };
        DeletePasskeyNotFoundError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "USER_NOT_FOUND" | "PASSKEY_NOT_FOUND";
        };
        LastLoginError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "LAST_LOGIN";
        };
        RemovePasskeyUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        RemovePasskeyForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "CURRENT_PASSWORD_INCORRECT" | "RECENT_LOGIN_REQUIRED";
        };
        RemovePasskeyNotFoundError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "USER_NOT_FOUND" | "PASSKEY_NOT_FOUND";
        };
        RemovePasskeyServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "HASH_QUEUE_FULL" | "HASHER_CLOSED" | "HASH_WORKER_CRASHED" | "DATABASE_UNAVAILABLE";
        };
        CreatePasskeyOptionsUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        CreatePasskeyOptionsForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "CURRENT_PASSWORD_INCORRECT" | "RECENT_LOGIN_REQUIRED" | "EMAIL_NOT_VERIFIED";
        };
        CreatePasskeyOptionsServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "HASH_QUEUE_FULL" | "HASHER_CLOSED" | "HASH_WORKER_CRASHED" | "DATABASE_UNAVAILABLE";
        };
        OidcLoginOptionsServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "PROVIDER_UNAVAILABLE" | "DATABASE_UNAVAILABLE";
        };
        IdentityRejectedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "IDENTITY_REJECTED";
        };
        OidcLoginForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "EMAIL_NOT_VERIFIED" | "REGISTRATION_CLOSED" | "INACTIVE_USER" | "SECOND_FACTOR_REQUIRED";
            /**
             * @description For `POST /auth/login/factor`, within five minutes. It is no token. Only with `SECOND_FACTOR_REQUIRED`.
             * @example WyJmYWN0b3IiXQ.c2lnbmF0dXJl
             */
            state?: string;
        };
        OidcLoginConflictError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "USER_ALREADY_EXISTS" | "TOO_MANY_IDENTITIES";
            /**
             * @description The value that another user has; `email` if both are taken. Only with `USER_ALREADY_EXISTS`.
             * @enum {string}
             */
            field?: "email" | "username";
        };
        OidcLoginServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "PROVIDER_UNAVAILABLE" | "DATABASE_UNAVAILABLE";
        };
        ListIdentitiesUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        AddIdentityUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED" | "IDENTITY_REJECTED";
        };
        AddIdentityForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "EMAIL_NOT_VERIFIED" | "CURRENT_PASSWORD_INCORRECT" | "RECENT_LOGIN_REQUIRED";
        };
        AddIdentityConflictError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "IDENTITY_ALREADY_USED" | "TOO_MANY_IDENTITIES";
        };
        AddIdentityServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "PROVIDER_UNAVAILABLE" | "HASH_QUEUE_FULL" | "HASHER_CLOSED" | "HASH_WORKER_CRASHED" | "DATABASE_UNAVAILABLE";
        };
        DeleteIdentityUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        DeleteIdentityForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "OWNER_PROOF_REQUIRED" | "RECENT_LOGIN_REQUIRED";
        };
        DeleteIdentityNotFoundError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "USER_NOT_FOUND" | "IDENTITY_NOT_FOUND";
        };
        RemoveIdentityUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        RemoveIdentityForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "CURRENT_PASSWORD_INCORRECT" | "RECENT_LOGIN_REQUIRED";
        };
        RemoveIdentityNotFoundError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "USER_NOT_FOUND" | "IDENTITY_NOT_FOUND";
        };
        RemoveIdentityServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "HASH_QUEUE_FULL" | "HASHER_CLOSED" | "HASH_WORKER_CRASHED" | "DATABASE_UNAVAILABLE";
        };
        LoginCodeInvalidError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "LOGIN_CODE_INVALID";
        };
        EmailLoginForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "EMAIL_NOT_VERIFIED" | "SECOND_FACTOR_REQUIRED";
            /**
             * @description For `POST /auth/login/factor`, within five minutes. It is no token. Only with `SECOND_FACTOR_REQUIRED`.
             * @example WyJmYWN0b3IiXQ.c2lnbmF0dXJl
             */
            state?: string;
        };
        FactorLoginUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "LOGIN_REQUIRED" | "FACTOR_CODE_REJECTED";
        };
        FactorLoginForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "FACTOR_LOCKED" | "INACTIVE_USER" | "EMAIL_NOT_VERIFIED";
        };
        GetFactorUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        GetFactorNotFoundError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "USER_NOT_FOUND" | "FACTOR_NOT_FOUND";
        };
        FactorCodeInvalidError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "FACTOR_CODE_INVALID";
        };
        CreateFactorUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        CreateFactorOptionsUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        CreateFactorOptionsForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "CURRENT_PASSWORD_INCORRECT" | "RECENT_LOGIN_REQUIRED" | "FACTOR_CODE_INCORRECT" | "FACTOR_LOCKED" | "EMAIL_NOT_VERIFIED";
        };
        CreateFactorOptionsServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "HASH_QUEUE_FULL" | "HASHER_CLOSED" | "HASH_WORKER_CRASHED" | "DATABASE_UNAVAILABLE";
        };
        CreateRecoveryCodesUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        CreateRecoveryCodesForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "CURRENT_PASSWORD_INCORRECT" | "RECENT_LOGIN_REQUIRED" | "FACTOR_CODE_INCORRECT" | "FACTOR_LOCKED";
        };
        CreateRecoveryCodesNotFoundError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "USER_NOT_FOUND" | "FACTOR_NOT_FOUND";
        };
        CreateRecoveryCodesServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "HASH_QUEUE_FULL" | "HASHER_CLOSED" | "HASH_WORKER_CRASHED" | "DATABASE_UNAVAILABLE";
        };
        RemoveFactorUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        RemoveFactorForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "CURRENT_PASSWORD_INCORRECT" | "RECENT_LOGIN_REQUIRED" | "FACTOR_CODE_INCORRECT" | "FACTOR_LOCKED";
        };
        RemoveFactorNotFoundError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "USER_NOT_FOUND" | "FACTOR_NOT_FOUND";
        };
        RemoveFactorServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "HASH_QUEUE_FULL" | "HASHER_CLOSED" | "HASH_WORKER_CRASHED" | "DATABASE_UNAVAILABLE";
        };
        AuthorizeUnauthorizedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN" | "LOGIN_REQUIRED";
        };
        AuthorizeForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INACTIVE_USER" | "RECENT_LOGIN_REQUIRED";
        };
        ExchangeCodeBadRequestError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_TOKEN_REQUEST" | "UNSUPPORTED_GRANT_TYPE" | "INVALID_CLIENT" | "INVALID_GRANT";
            /**
             * @description The error in OAuth's words (RFC 6749 §5.2).
             * @enum {string}
             */
            error?: "invalid_request" | "invalid_client" | "invalid_grant" | "unsupported_grant_type";
        };
        ExchangeCodePayloadTooLargeError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "PAYLOAD_TOO_LARGE";
            /**
             * @description The error in OAuth's words (RFC 6749 §5.2).
             * @enum {string}
             */
            error?: "invalid_request" | "invalid_client" | "invalid_grant" | "unsupported_grant_type";
        };
        ExchangeCodeTooManyRequestsError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "TOO_MANY_REQUESTS";
            /**
             * @description The error in OAuth's words (RFC 6749 §5.2).
             * @enum {string}
             */
            error?: "invalid_request" | "invalid_client" | "invalid_grant" | "unsupported_grant_type";
        };
        TodoNotFoundError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "TODO_NOT_FOUND";
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /**
         * @description Identifies the request in the service's log: the value that the client sent if it is valid, otherwise a UUIDv7.
         * @example 0199d3f2-8a4e-7c31-9a55-3f0f0a7be5d2
         */
        "X-Request-ID": string;
        /**
         * @description The required authentication scheme (RFC 9110 §11.6.1).
         * @example Bearer
         */
        "WWW-Authenticate": string;
        /**
         * @description Seconds to wait before a retry (RFC 9110 §10.2.3).
         * @example 42
         */
        "Retry-After": number;
        /**
         * @description Requests per window of the operation's own limit if it counted the request, otherwise of the default limit. Absent from probes, and if rate limits are disabled.
         * @example 6000
         */
        "RateLimit-Limit": number;
        /**
         * @description Remaining requests in this window.
         * @example 5999
         */
        "RateLimit-Remaining": number;
        /**
         * @description Seconds until this window ends.
         * @example 42
         */
        "RateLimit-Reset": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is running. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LivenessResponse"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ready for traffic. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadinessResponse"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The database is unreachable, or the service is shutting down. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnavailableResponse"];
                };
            };
        };
    };
    register: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegisterRequest"];
            };
        };
        responses: {
            /** @description The new user. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserResponse"];
                };
            };
            /** @description Only the operator creates users. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegistrationClosedError"];
                };
            };
            /** @description The e-mail or username belongs to another user. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserAlreadyExistsError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Registrations have their own limit, by default 3 per 1 minute per client address. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The hash queue is full, or the password has waited too long. The service is shutting down. The hash worker crashed twice, or the verification of an imported hash failed. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegisterServiceUnavailableError"];
                };
            };
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginRequest"];
            };
        };
        responses: {
            /** @description An access token. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenResponse"];
                };
            };
            /** @description Unknown e-mail or wrong password. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidCredentialsError"];
                };
            };
            /** @description The user is deactivated. The e-mail is not verified. The first factor is right, but the user has a second one: send `state` and a code to `POST /auth/login/factor` within five minutes. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginForbiddenError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Logins have their own limit, by default 5 per 1 minute per client address. For each e-mail, registered or not, attempts from networks from which its user has not registered or logged in within 30 days and since the latest password change are also limited: ten, then one every 15 minutes. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The hash queue is full, or the password has waited too long. The service is shutting down. The hash worker crashed twice, or the verification of an imported hash failed. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginServiceUnavailableError"];
                };
            };
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The current user. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserResponse"];
                };
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetMeUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InactiveUserError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    deleteMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user is deleted. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteMeUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. The login is older than five minutes, and the user has no password or has a second factor, or the request is for a code of hosted login: the user must log in again. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteMeForbiddenError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    updateMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateUserRequest"];
            };
        };
        responses: {
            /** @description The updated user. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserResponse"];
                };
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateMeUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. The current password is wrong. The login is older than five minutes, and the user has no password or has a second factor, or the request is for a code of hosted login: the user must log in again. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateMeForbiddenError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The e-mail or username belongs to another user. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserAlreadyExistsError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Updates with a password or a current password have their own limit, by default 5 per 1 minute per user and per client address. After 10 wrong current passwords of a user in one day, updates with a current password return 429 for the rest of that day. A login with the password, and a change of the token version, start this count anew. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The hash queue is full, or the password has waited too long. The service is shutting down. The hash worker crashed twice, or the verification of an imported hash failed. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateMeServiceUnavailableError"];
                };
            };
        };
    };
    renewToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An access token. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenResponse"];
                };
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RenewTokenUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. The e-mail is not verified. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RenewTokenForbiddenError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    revokeTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tokens are revoked. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevokeTokensUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InactiveUserError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    requestPasswordReset: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordResetRequest"];
            };
        };
        responses: {
            /** @description A mail is sent if an active user has this e-mail. */
            202: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Requests for mails have their own limit, by default 5 per 1 minute per client address. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    confirmEmailVerification: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmailVerificationConfirmation"];
            };
        };
        responses: {
            /** @description The e-mail is verified. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token of the link is malformed, expired or outdated; except for verifications, also used, or its user is inactive. */
            400: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OneTimeTokenInvalidError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    confirmPasswordReset: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordResetConfirmation"];
            };
        };
        responses: {
            /** @description The password is changed. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token of the link is malformed, expired or outdated; except for verifications, also used, or its user is inactive. */
            400: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OneTimeTokenInvalidError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Confirmations count against the limit of password changes, by default 5 per 1 minute per client address. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The hash queue is full, or the password has waited too long. The service is shutting down. The hash worker crashed twice, or the verification of an imported hash failed. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfirmPasswordResetServiceUnavailableError"];
                };
            };
        };
    };
    requestEmailVerification: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A mail is sent unless the e-mail is verified. */
            202: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestEmailVerificationUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InactiveUserError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description A rate limit is exceeded. Requests for mails have their own limit, by default 5 per 1 minute per client address. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    approveEmailChange: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmailChangeApproval"];
            };
        };
        responses: {
            /** @description The change is approved. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token of the link is malformed, expired or outdated; except for verifications, also used, or its user is inactive. */
            400: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OneTimeTokenInvalidError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    confirmEmailChange: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmailChangeConfirmation"];
            };
        };
        responses: {
            /** @description The e-mail is changed. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token of the link is malformed, expired or outdated; except for verifications, also used, or its user is inactive. */
            400: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OneTimeTokenInvalidError"];
                };
            };
            /** @description The e-mail or username belongs to another user. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserAlreadyExistsError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    requestEmailChange: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmailChangeRequest"];
            };
        };
        responses: {
            /** @description The request is accepted; it can have no effect. */
            202: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestEmailChangeUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. The current password is wrong. The login is older than five minutes, and the user has no password or has a second factor, or the request is for a code of hosted login: the user must log in again. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestEmailChangeForbiddenError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Requests count against the limit of password changes, by default 5 per 1 minute per user and per client address, and against that of wrong current passwords. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The hash queue is full, or the password has waited too long. The service is shutting down. The hash worker crashed twice, or the verification of an imported hash failed. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestEmailChangeServiceUnavailableError"];
                };
            };
        };
    };
    passkeyLoginOptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Options and state. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyOptionsResponse"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
        };
    };
    passkeyLogin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeyLoginRequest"];
            };
        };
        responses: {
            /** @description An access token. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenResponse"];
                };
            };
            /** @description The login with a passkey is rejected. The reason is only logged. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyRejectedError"];
                };
            };
            /** @description The user is deactivated. The e-mail is not verified. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyLoginForbiddenError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Logins with passkeys have their own limit, by default 5 per 1 minute per client address. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    listPasskeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The passkeys. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyListResponse"];
                };
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListPasskeysUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InactiveUserError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    createPasskey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreatePasskeyRequest"];
            };
        };
        responses: {
            /** @description The new passkey. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyResponse"];
                };
            };
            /** @description The state or the response of the new passkey is not valid, the user or the passkeys have changed since the options, or the user has ten passkeys. */
            400: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyInvalidError"];
                };
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatePasskeyUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InactiveUserError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    deletePasskey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The credential id.
                 * @example cGFzc2tleQ
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The passkey is removed. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletePasskeyUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. The configuration requires a proof of the owner, which this operation has not: use the one whose path ends in `/removal`. The login is older than five minutes, and the user has no password or has a second factor, or the request is for a code of hosted login: the user must log in again. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletePasskeyForbiddenError"];
                };
            };
            /** @description The current user no longer exists. The current user has no such passkey. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletePasskeyNotFoundError"];
                };
            };
            /** @description Without it, the user could not log in any more. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LastLoginError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    removePasskey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The credential id.
                 * @example cGFzc2tleQ
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RemovalRequest"];
            };
        };
        responses: {
            /** @description The passkey is removed. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemovePasskeyUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. The current password is wrong. The login is older than five minutes, and the user has no password or has a second factor, or the request is for a code of hosted login: the user must log in again. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemovePasskeyForbiddenError"];
                };
            };
            /** @description The current user no longer exists. The current user has no such passkey. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemovePasskeyNotFoundError"];
                };
            };
            /** @description Without it, the user could not log in any more. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LastLoginError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Counts against the limits of updates with a current password, by default 5 per 1 minute per user and per client address. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The hash queue is full, or the password has waited too long. The service is shutting down. The hash worker crashed twice, or the verification of an imported hash failed. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemovePasskeyServiceUnavailableError"];
                };
            };
        };
    };
    createPasskeyOptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeyOptionsRequest"];
            };
        };
        responses: {
            /** @description Options and state. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyOptionsResponse"];
                };
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatePasskeyOptionsUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. The current password is wrong. The login is older than five minutes, and the user has no password or has a second factor, or the request is for a code of hosted login: the user must log in again. The e-mail is not verified. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatePasskeyOptionsForbiddenError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Counts against the limits of updates with a current password, by default 5 per 1 minute per user and per client address. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The hash queue is full, or the password has waited too long. The service is shutting down. The hash worker crashed twice, or the verification of an imported hash failed. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatePasskeyOptionsServiceUnavailableError"];
                };
            };
        };
    };
    oidcLoginOptions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The configured name of the provider.
                 * @example example
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OidcOptionsRequest"];
            };
        };
        responses: {
            /** @description The page and the state. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OidcOptionsResponse"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The provider does not respond in time, or its response is not valid. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OidcLoginOptionsServiceUnavailableError"];
                };
            };
        };
    };
    oidcLogin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The configured name of the provider.
                 * @example example
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OidcLoginRequest"];
            };
        };
        responses: {
            /** @description An access token. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenResponse"];
                };
            };
            /** @description The login with the provider is rejected. The reason is only logged. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityRejectedError"];
                };
            };
            /** @description The e-mail is not verified. Only the operator creates users. The user is deactivated. The first factor is right, but the user has a second one: send `state` and a code to `POST /auth/login/factor` within five minutes. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OidcLoginForbiddenError"];
                };
            };
            /** @description The e-mail or username belongs to another user. The user already has ten identities. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OidcLoginConflictError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Logins with providers have their own limit, by default 5 per 1 minute per client address. A new user also counts as a registration. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The provider does not respond in time, or its response is not valid. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OidcLoginServiceUnavailableError"];
                };
            };
        };
    };
    listIdentities: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The identities. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityListResponse"];
                };
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListIdentitiesUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InactiveUserError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    addIdentity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The configured name of the provider.
                 * @example example
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddIdentityRequest"];
            };
        };
        responses: {
            /** @description The identity. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityResponse"];
                };
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. The login with the provider is rejected. The reason is only logged. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddIdentityUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. The e-mail is not verified. The current password is wrong. The login is older than five minutes, and the user has no password or has a second factor, or the request is for a code of hosted login: the user must log in again. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddIdentityForbiddenError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The identity belongs to another user. The user already has ten identities. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddIdentityConflictError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Counts against the limits of updates with a current password, by default 5 per 1 minute per user and per client address. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The provider does not respond in time, or its response is not valid. The hash queue is full, or the password has waited too long. The service is shutting down. The hash worker crashed twice, or the verification of an imported hash failed. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddIdentityServiceUnavailableError"];
                };
            };
        };
    };
    deleteIdentity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The identity is removed. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteIdentityUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. The configuration requires a proof of the owner, which this operation has not: use the one whose path ends in `/removal`. The login is older than five minutes, and the user has no password or has a second factor, or the request is for a code of hosted login: the user must log in again. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteIdentityForbiddenError"];
                };
            };
            /** @description The current user no longer exists. The current user has no such identity. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteIdentityNotFoundError"];
                };
            };
            /** @description Without it, the user could not log in any more. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LastLoginError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    removeIdentity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RemovalRequest"];
            };
        };
        responses: {
            /** @description The identity is removed. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemoveIdentityUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. The current password is wrong. The login is older than five minutes, and the user has no password or has a second factor, or the request is for a code of hosted login: the user must log in again. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemoveIdentityForbiddenError"];
                };
            };
            /** @description The current user no longer exists. The current user has no such identity. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemoveIdentityNotFoundError"];
                };
            };
            /** @description Without it, the user could not log in any more. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LastLoginError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Counts against the limits of updates with a current password, by default 5 per 1 minute per user and per client address. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The hash queue is full, or the password has waited too long. The service is shutting down. The hash worker crashed twice, or the verification of an imported hash failed. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemoveIdentityServiceUnavailableError"];
                };
            };
        };
    };
    emailLoginOptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmailLoginOptionsRequest"];
            };
        };
        responses: {
            /** @description The state of the code. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailLoginOptionsResponse"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Requests for mails have their own limit, by default 5 per 1 minute per client address. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    emailLogin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmailLoginRequest"];
            };
        };
        responses: {
            /** @description An access token. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenResponse"];
                };
            };
            /** @description The code or the state is wrong, expired or used, or had too many attempts. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginCodeInvalidError"];
                };
            };
            /** @description The user is deactivated. The e-mail is not verified. The first factor is right, but the user has a second one: send `state` and a code to `POST /auth/login/factor` within five minutes. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailLoginForbiddenError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Logins with codes have their own limit, by default 5 per 1 minute per client address. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    factorLogin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FactorLoginRequest"];
            };
        };
        responses: {
            /** @description An access token. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenResponse"];
                };
            };
            /** @description The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. The code is wrong or was used. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FactorLoginUnauthorizedError"];
                };
            };
            /** @description After 100 wrong codes, only recovery codes are accepted. The user is deactivated. The e-mail is not verified. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FactorLoginForbiddenError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Attempts with a second factor have their own limit, by default 5 per 1 minute per client address. Attempts with codes of the application are also limited per user: five, then one a minute, from ten on one every 15 minutes, from twenty on one an hour. After 100 without a success, only recovery codes are accepted. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    getFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The second factor. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FactorResponse"];
                };
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetFactorUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InactiveUserError"];
                };
            };
            /** @description The current user no longer exists. The user has no second factor. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetFactorNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    createFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateFactorRequest"];
            };
        };
        responses: {
            /** @description The recovery codes and a token. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateFactorResponse"];
                };
            };
            /** @description A code or the state is wrong or expired, the user or the second factor has changed since the options, or the mailed code had too many attempts. */
            400: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FactorCodeInvalidError"];
                };
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateFactorUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InactiveUserError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    createFactorOptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FactorOptionsRequest"];
            };
        };
        responses: {
            /** @description Secret and state. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FactorOptionsResponse"];
                };
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateFactorOptionsUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. The current password is wrong. The login is older than five minutes, and the user has no password or has a second factor, or the request is for a code of hosted login: the user must log in again. The code is wrong or was used. After 100 wrong codes, only recovery codes are accepted. The e-mail is not verified. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateFactorOptionsForbiddenError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Counts against the limits of updates with a current password, by default 5 per 1 minute per user and per client address. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The hash queue is full, or the password has waited too long. The service is shutting down. The hash worker crashed twice, or the verification of an imported hash failed. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateFactorOptionsServiceUnavailableError"];
                };
            };
        };
    };
    createRecoveryCodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FactorProofRequest"];
            };
        };
        responses: {
            /** @description The codes. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryCodesResponse"];
                };
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateRecoveryCodesUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. The current password is wrong. The login is older than five minutes, and the user has no password or has a second factor, or the request is for a code of hosted login: the user must log in again. The code is wrong or was used. After 100 wrong codes, only recovery codes are accepted. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateRecoveryCodesForbiddenError"];
                };
            };
            /** @description The current user no longer exists. The user has no second factor. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateRecoveryCodesNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Counts against the limits of updates with a current password, by default 5 per 1 minute per user and per client address. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The hash queue is full, or the password has waited too long. The service is shutting down. The hash worker crashed twice, or the verification of an imported hash failed. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateRecoveryCodesServiceUnavailableError"];
                };
            };
        };
    };
    removeFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FactorProofRequest"];
            };
        };
        responses: {
            /** @description The second factor is removed. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemoveFactorUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. The current password is wrong. The login is older than five minutes, and the user has no password or has a second factor, or the request is for a code of hosted login: the user must log in again. The code is wrong or was used. After 100 wrong codes, only recovery codes are accepted. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemoveFactorForbiddenError"];
                };
            };
            /** @description The current user no longer exists. The user has no second factor. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemoveFactorNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. Counts against the limits of updates with a current password, by default 5 per 1 minute per user and per client address. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The hash queue is full, or the password has waited too long. The service is shutting down. The hash worker crashed twice, or the verification of an imported hash failed. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemoveFactorServiceUnavailableError"];
                };
            };
        };
    };
    authorize: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AuthorizationRequest"];
            };
        };
        responses: {
            /** @description The code. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorizationResponse"];
                };
            };
            /** @description The token is missing, expired, revoked, wrongly signed or malformed. The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorizeUnauthorizedError"];
                };
            };
            /** @description The user is deactivated. The login is older than five minutes, and the user has no password or has a second factor, or the request is for a code of hosted login: the user must log in again. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorizeForbiddenError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    exchangeCode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["CodeExchangeRequest"];
            };
        };
        responses: {
            /** @description An access token. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExchangedTokenResponse"];
                };
            };
            /** @description The body is not form-encoded, or a parameter is missing, repeated or malformed. The `grant_type` is not `authorization_code`. No client of the configuration has this `client_id`. The code is not accepted. The reason is only logged. */
            400: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExchangeCodeBadRequestError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExchangeCodePayloadTooLargeError"];
                };
            };
            /** @description A rate limit is exceeded. Rejected codes have their own limit, by default 5 per 1 minute per client address. A user can exchange 60 codes in two minutes. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExchangeCodeTooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    getAuthorizationServer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The metadata. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorizationServerMetadata"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
        };
    };
    getJwks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The public keys. Can be cached for 300 seconds. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublicKeySet"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
        };
    };
    listTodos: {
        parameters: {
            query?: {
                /**
                 * @description The next_cursor of the previous page.
                 * @example eyJpZCI6MX0=
                 */
                cursor?: string;
                /** @example 20 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TodoPageResponse"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    createTodo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTodoRequest"];
            };
        };
        responses: {
            /** @description The new todo. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TodoResponse"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    getTodo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The todo. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TodoResponse"];
                };
            };
            /** @description The todo does not exist. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TodoNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    deleteTodo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The todo is deleted. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The todo does not exist. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TodoNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    updateTodo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateTodoRequest"];
            };
        };
        responses: {
            /** @description The updated todo. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TodoResponse"];
                };
            };
            /** @description The todo does not exist. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TodoNotFoundError"];
                };
            };
            /** @description The body is larger than 128 KiB or has more than 512 chunks. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadTooLargeError"];
                };
            };
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationErrorResponse"];
                };
            };
            /** @description A rate limit is exceeded. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TooManyRequestsError"];
                };
            };
            /** @description An unexpected error. Its cause is only logged. */
            500: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
}
