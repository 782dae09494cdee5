/** The types of the OpenAPI document. Generated: run `bun run --cwd packages/client generate`, do not edit. */
export interface paths {
    "/admin/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List and find users by page
         * @description In ascending order of id. Lists the users that meet all conditions. A malformed cursor starts the listing at the beginning.
         */
        get: operations["listUsers"];
        put?: never;
        /**
         * Create or invite a user
         * @description With a password, `username` is required. With `invite`, the user gets a mail with a link that sets the password; a user who exists without a password gets another mail and the `roles`, `claims` and `locale`, if they are sent; `username` and `email_verified` are ignored.
         */
        post: operations["createUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a user
         * @description The state of the user, and the number of each other way to log in.
         */
        get: operations["getUser"];
        put?: never;
        post?: never;
        /**
         * Delete a user
         * @description Cannot be undone. The id is never used again.
         */
        delete: operations["deleteUser"];
        options?: never;
        head?: never;
        /**
         * Change a user
         * @description Makes all changes or none; an empty object changes nothing. The present `email` changes nothing, also if its case, the form of its domain or spaces around it differ. Another `email` is not verified and ends all credentials; with mail, a reset is sent to it. A `password` ends all tokens, passkeys and identities. A removed role, `is_active: true` for an inactive user, and `email_verified: false` for a verified e-mail end all tokens. `claims` replaces all claims, and ends no token: the next ones have the new claims. With mail, a role can be given only to a user with a verified e-mail, or together with `email_verified: true`.
         */
        patch: operations["updateUser"];
        trace?: never;
    };
    "/admin/users/{id}/explanation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain what happens if a user logs in now
         * @description Sentences in the order in which the service decides, each with the command of the admin tool that changes the state. Reads the limits from Redis or, without Redis, from the memory of the replica that responds, and counts nothing.
         */
        get: operations["explainUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}/tokens": {
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
         * Revoke all tokens of a user
         * @description Effective with the next request. The user can log in again.
         */
        delete: operations["revokeUserTokens"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}/passkeys": {
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
         * Delete all passkeys of a user
         * @description Tokens of earlier logins remain valid. With mail, the user is notified.
         */
        delete: operations["removeUserPasskeys"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}/factor": {
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
         * Remove the second factor of a user
         * @description For a user who lost the device and the recovery codes. Ends all tokens of the user. With mail, the user is notified.
         */
        delete: operations["removeUserFactor"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}/password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mail a user the link that resets the password
         * @description The budget of the recipient does not limit the mail, which is sent within seconds.
         */
        post: operations["sendUserPasswordReset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the users
         * @description Reads all users, in short queries.
         */
        get: operations["countUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what happened to users
         * @description In ascending order of position, each event exactly once. With `wait`, the response is sent as soon as there is an event. `after=now` and `since` return only a cursor. 404 while no events are recorded (`bun run admin events on`).
         */
        get: operations["readEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @example {
         *       "email": "ada@example.com",
         *       "username": "ada",
         *       "password": "correct horse battery staple"
         *     }
         */
        CreateAdminUserRequest: {
            /**
             * @description Trimmed, lowercased and, if the domain is internationalized, converted to ASCII (`xn--…`) before validation.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description 1 to 32 characters. Optional with `invite`: then made of the e-mail.
             * @example ada
             */
            username?: string;
            /**
             * Format: password
             * @description Never trimmed. A login that sends the same characters in another Unicode form succeeds if the form NFC is correct.
             * @example correct horse battery staple
             */
            password?: string;
            /**
             * @description In place of `password`: mails a link with which the user sets one.
             * @enum {boolean}
             */
            invite?: true;
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
            /** @example true */
            email_verified?: boolean;
            /**
             * @description Why the change is made. It is only logged.
             * @example ticket 42
             */
            reason?: string;
            /**
             * @description The language of the user's mails and pages. null only while none was set: mails then have the default language.
             * @example de
             * @enum {string|null}
             */
            locale?: "en" | "de" | null;
        };
        /**
         * @example {
         *       "is_active": false,
         *       "reason": "ticket 42"
         *     }
         */
        UpdateAdminUserRequest: {
            /** @example ada */
            username?: string;
            /**
             * @description Trimmed, lowercased and, if the domain is internationalized, converted to ASCII (`xn--…`). The present e-mail, in whichever form, changes nothing.
             * @example ada@example.com
             */
            email?: string;
            /**
             * Format: password
             * @description Never trimmed. A login that sends the same characters in another Unicode form succeeds if the form NFC is correct.
             * @example correct horse battery staple
             */
            password?: string;
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
            /** @example true */
            is_active?: boolean;
            /** @example true */
            email_verified?: boolean;
            /**
             * @description Why the change is made. It is only logged.
             * @example ticket 42
             */
            reason?: string;
            /**
             * @description The language of the user's mails and pages. null only while none was set: mails then have the default language.
             * @example de
             * @enum {string|null}
             */
            locale?: "en" | "de" | null;
        };
        AdminUserResponse: {
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
            roles: string[];
            /**
             * @description The application's claims, such as a plan; the service itself ignores them. At most 1024 bytes of JSON. A name has 1 to 64 of the characters a to z, 0 to 9, and `_ . : / -`, and begins with a letter. A value is a text, a finite number, a boolean or an array of these.
             * @example {
             *       "plan": "pro",
             *       "seats": 5
             *     }
             */
            claims: {
                [key: string]: string | number | boolean | (string | number | boolean)[];
            };
            /**
             * Format: date-time
             * @description The time of the latest login, at most a day too early. null: no login is known.
             * @example 2026-01-31T10:20:30.123Z
             */
            last_login_at: string | null;
            /**
             * @description false: every password is wrong.
             * @example true
             */
            has_password: boolean;
            /**
             * @description Whether the password still has the hash of another system, until the next login.
             * @example false
             */
            imported: boolean;
            /**
             * @description The number of passkeys.
             * @example 1
             */
            passkeys: number;
            /**
             * @description The number of identities of OpenID Connect providers.
             * @example 1
             */
            identities: number;
            /**
             * @description The number of networks from which the user logged in within 30 days.
             * @example 1
             */
            networks: number;
            /**
             * @description The language of the user's mails and pages. null until it is set for the first time.
             * @example en
             */
            locale?: string | null;
        };
        AdminUserPageResponse: {
            items: components["schemas"]["AdminUserResponse"][];
            /** @example null */
            next_cursor: string | null;
        };
        AdminStatsResponse: {
            /**
             * @description All users.
             * @example 1
             */
            users: number;
            /**
             * @description Deactivated users.
             * @example 1
             */
            inactive: number;
            /**
             * @description Users who logged in within 30 days.
             * @example 1
             */
            active_30_days: number;
            /**
             * @description Users with a second factor; only if second factors are on.
             * @example 1
             */
            second_factor?: number;
            /**
             * @description Users whose password still has the hash of another system, by format.
             * @example {
             *       "bcrypt": 12
             *     }
             */
            imported: {
                [key: string]: number;
            };
        };
        AdminExplanationResponse: {
            /**
             * @description A stable name of the state.
             * @example inactive
             */
            code: string;
            /**
             * @description A sentence for people.
             * @example The user is inactive.
             */
            message: string;
            /**
             * @description The command of the admin tool that changes the state.
             * @example bun run admin users activate 1
             */
            command?: string;
        }[];
        AccountEventResponse: {
            /**
             * Format: int64
             * @description Identifies the event, also after a restore. In ascending order, not always without gaps.
             * @example 42
             */
            position: number;
            /**
             * @description `user.created`, `user.updated`, `user.deleted` or `database.restored`. Later versions can add types.
             * @example user.updated
             */
            type: string;
            /**
             * Format: int64
             * @description null: the event concerns all users (`database.restored`).
             * @example 1
             */
            user_id: number | null;
            /**
             * @description Of `user.updated`: which of `email`, `email_verified`, `username`, `roles`, `claims`, `is_active` and `tokens` (all tokens ended). Later versions can add names.
             * @example [
             *       "is_active"
             *     ]
             */
            changed: string[];
            /**
             * @description Whether the user was active after the change. null if there is no such user.
             * @example false
             */
            is_active: boolean | null;
            /**
             * Format: int64
             * @description Tokens of the user with a smaller `ver` are revoked, except the one in `kept_jti`.
             * @example 3
             */
            token_version: number | null;
            /**
             * @description The `jti` of the token that made the latest password change, which remains valid.
             * @example null
             */
            kept_jti: string | null;
            /**
             * Format: date-time
             * @description RFC 3339 in UTC with milliseconds
             * @example 2026-01-31T10:20:30.123Z
             */
            created_at: string;
        };
        AccountEventPageResponse: {
            items: components["schemas"]["AccountEventResponse"][];
            /**
             * @description Send it as `after`, also if `items` is empty.
             * @example WyJldmVudHMiXQ.c2lnbmF0dXJl
             */
            next_cursor: string;
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
        InvalidApiKeyError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "INVALID_API_KEY";
        };
        KeyNotAllowedError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "KEY_NOT_ALLOWED";
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
        DatabaseUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "DATABASE_UNAVAILABLE";
        };
        CreateUserForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "KEY_NOT_ALLOWED" | "INACTIVE_USER";
        };
        CreateUserConflictError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "USER_ALREADY_EXISTS" | "EMAIL_NOT_MAILABLE";
            /**
             * @description The value that another user has; `email` if both are taken. Only with `USER_ALREADY_EXISTS`.
             * @enum {string}
             */
            field?: "email" | "username";
        };
        CreateUserServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "HASH_QUEUE_FULL" | "HASHER_CLOSED" | "HASH_WORKER_CRASHED" | "DATABASE_UNAVAILABLE";
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
        UpdateUserForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "KEY_NOT_ALLOWED" | "EMAIL_NOT_VERIFIED";
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
        UpdateUserServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "HASH_QUEUE_FULL" | "HASHER_CLOSED" | "HASH_WORKER_CRASHED" | "DATABASE_UNAVAILABLE";
        };
        RemoveUserFactorNotFoundError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "USER_NOT_FOUND" | "FACTOR_NOT_FOUND";
        };
        SendUserPasswordResetForbiddenError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "KEY_NOT_ALLOWED" | "INACTIVE_USER";
        };
        EmailNotMailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "EMAIL_NOT_MAILABLE";
        };
        NotFoundError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "NOT_FOUND";
        };
        CursorExpiredError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "CURSOR_EXPIRED";
        };
        ReadEventsServiceUnavailableError: {
            /** @description A sentence for people. */
            detail: string;
            /**
             * @description Identifies the error.
             * @enum {string}
             */
            code: "TOO_MANY_READERS" | "DATABASE_UNAVAILABLE";
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
    listUsers: {
        parameters: {
            query?: {
                /**
                 * @description The exact e-mail. Send `+` as `%2B`.
                 * @example ada@example.com
                 */
                email?: string;
                /**
                 * @description The beginning of the e-mail or of the username. The case is ignored.
                 * @example ada
                 */
                search?: string;
                /** @example active */
                state?: "active" | "inactive";
                /**
                 * @description A role of the user.
                 * @example admin
                 */
                role?: string;
                /** @example true */
                without_password?: "true" | "false";
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminUserPageResponse"];
                };
            };
            /** @description The key is missing or wrong. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidApiKeyError"];
                };
            };
            /** @description The key can only read: users and account events, or only account events. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyNotAllowedError"];
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
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    createUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAdminUserRequest"];
            };
        };
        responses: {
            /** @description The user, who existed without a password and was invited again. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminUserResponse"];
                };
            };
            /** @description The new user. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminUserResponse"];
                };
            };
            /** @description The key is missing or wrong. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidApiKeyError"];
                };
            };
            /** @description The key can only read: users and account events, or only account events. The user is deactivated. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateUserForbiddenError"];
                };
            };
            /** @description The e-mail or username belongs to another user. The e-mail gets no mail: its domain does not exist, or it could be read as another one. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateUserConflictError"];
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
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. A body that is not sent as JSON is an issue, too: no operation returns 415. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
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
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateUserServiceUnavailableError"];
                };
            };
        };
    };
    getUser: {
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
            /** @description The user. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminUserResponse"];
                };
            };
            /** @description The key is missing or wrong. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidApiKeyError"];
                };
            };
            /** @description The key can only read: users and account events, or only account events. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyNotAllowedError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    deleteUser: {
        parameters: {
            query?: {
                /**
                 * @description Why the change is made. It is only logged.
                 * @example ticket 42
                 */
                reason?: string;
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user is deleted. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The key is missing or wrong. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidApiKeyError"];
                };
            };
            /** @description The key can only read: users and account events, or only account events. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyNotAllowedError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    updateUser: {
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
                "application/json": components["schemas"]["UpdateAdminUserRequest"];
            };
        };
        responses: {
            /** @description The changed user. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminUserResponse"];
                };
            };
            /** @description The key is missing or wrong. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidApiKeyError"];
                };
            };
            /** @description The key can only read: users and account events, or only account events. The e-mail is not verified. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateUserForbiddenError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
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
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateUserServiceUnavailableError"];
                };
            };
        };
    };
    explainUser: {
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
            /** @description The explanation. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminExplanationResponse"];
                };
            };
            /** @description The key is missing or wrong. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidApiKeyError"];
                };
            };
            /** @description The key can only read: users and account events, or only account events. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyNotAllowedError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    revokeUserTokens: {
        parameters: {
            query?: {
                /**
                 * @description Why the change is made. It is only logged.
                 * @example ticket 42
                 */
                reason?: string;
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tokens are revoked. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The key is missing or wrong. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidApiKeyError"];
                };
            };
            /** @description The key can only read: users and account events, or only account events. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyNotAllowedError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    removeUserPasskeys: {
        parameters: {
            query?: {
                /**
                 * @description Why the change is made. It is only logged.
                 * @example ticket 42
                 */
                reason?: string;
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The passkeys are deleted. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The key is missing or wrong. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidApiKeyError"];
                };
            };
            /** @description The key can only read: users and account events, or only account events. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyNotAllowedError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    removeUserFactor: {
        parameters: {
            query?: {
                /**
                 * @description Why the change is made. It is only logged.
                 * @example ticket 42
                 */
                reason?: string;
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The second factor is removed. */
            204: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The key is missing or wrong. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidApiKeyError"];
                };
            };
            /** @description The key can only read: users and account events, or only account events. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyNotAllowedError"];
                };
            };
            /** @description The current user no longer exists. The user has no second factor. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemoveUserFactorNotFoundError"];
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
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    sendUserPasswordReset: {
        parameters: {
            query?: {
                /**
                 * @description Why the change is made. It is only logged.
                 * @example ticket 42
                 */
                reason?: string;
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The mail is in the outbox. */
            202: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The key is missing or wrong. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidApiKeyError"];
                };
            };
            /** @description The key can only read: users and account events, or only account events. The user is deactivated. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SendUserPasswordResetForbiddenError"];
                };
            };
            /** @description The current user no longer exists. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserNotFoundError"];
                };
            };
            /** @description The e-mail gets no mail: its domain does not exist, or it could be read as another one. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailNotMailableError"];
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
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    countUsers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The numbers of users. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminStatsResponse"];
                };
            };
            /** @description The key is missing or wrong. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidApiKeyError"];
                };
            };
            /** @description The key can only read: users and account events, or only account events. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyNotAllowedError"];
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
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatabaseUnavailableError"];
                };
            };
        };
    };
    readEvents: {
        parameters: {
            query?: {
                /**
                 * @description The `next_cursor` of the previous response, or `now` for a cursor at the end, without items. Absent: from the oldest event.
                 * @example now
                 */
                after?: string;
                /**
                 * @description In place of `after`: returns a cursor before the first event of the last so many seconds, without items.
                 * @example 3660
                 */
                since?: number;
                /** @example 100 */
                limit?: number;
                /**
                 * @description How many seconds to wait for an event if there is none; at most five less than `IDLE_TIMEOUT_SECONDS`. Returns no items after this time.
                 * @example 25
                 */
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The next events. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountEventPageResponse"];
                };
            };
            /** @description The key is missing or wrong. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidApiKeyError"];
                };
            };
            /** @description The key can only read: users and account events, or only account events. */
            403: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyNotAllowedError"];
                };
            };
            /** @description The path does not exist. */
            404: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFoundError"];
                };
            };
            /** @description Events after the cursor are no longer kept, or the database was restored: read all users, then continue with a new cursor. */
            410: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CursorExpiredError"];
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
            /** @description The request is invalid. Each issue is listed; submitted values are not repeated. */
            422: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InternalError"];
                };
            };
            /** @description On this replica, 100 requests already wait for events. The database is unreachable. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadEventsServiceUnavailableError"];
                };
            };
        };
    };
}
