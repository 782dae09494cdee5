/** The language of a user: what requests can set, what responses contain, and which language mails have. */
import { expect, test } from "bun:test";
import type { User } from "@latchkey/contracts";
import { startMailServer } from "@latchkey/testing/mail-server";
import { smtp, startSender } from "../../support/mail-sender.ts";
import { fetchDocument } from "../../support/openapi/document.ts";
import { eachDatabase, newCredentials, startService } from "../../support/service.ts";

type UserWithLocale = User & { readonly locale?: string | null };

const BOTH = { env: { LANGUAGES: "en,de" } };
const languageOf = (raw = "") => /^Content-Language: (.*)\r$/m.exec(raw)?.[1];

eachDatabase((startOn) => {
  test("a user can choose a language at the registration and later, and never again none", async () => {
    await using service = await startOn(BOTH);
    const register = async (locale?: string | null) => {
      const body = { ...newCredentials(), locale };
      return (await service.call("POST", "/auth/register", { body })).expect<UserWithLocale>(201).locale;
    };
    expect([await register(), await register(null), await register("de")]).toEqual([null, null, "de"]);
    const { token } = await service.createUser();
    const patch = (body: object) => service.call("PATCH", "/auth/me", { token, body });
    expect((await patch({ locale: null })).expect<UserWithLocale>(200).locale).toBeNull();
    const password = { password: "another passphrase", locale: "de" };
    expect((await patch(password)).expect<UserWithLocale>(200).locale).toBe("de");
    expect((await patch({ locale: "en" })).expect<UserWithLocale>(200).locale).toBe("en");
    for (const locale of [null, "fr", "", "EN", "de-AT", ["de"], 1]) {
      const { status, body } = await patch({ locale, username: "not kept" });
      expect([status, body]).toMatchObject([422, { detail: [{ loc: ["body", "locale"] }] }]);
    }
    expect((await service.call("GET", "/auth/me", { token })).body).toMatchObject({ locale: "en" });
    const unknown = { ...newCredentials(), locale: "fr" };
    expect((await service.call("POST", "/auth/register", { body: unknown })).status).toBe(422);
  });

  test("mails have the user's language, also after the deletion, and the default if it is removed or was never set", async () => {
    await using server = await startMailServer();
    await using service = await startOn(BOTH);
    const german = await service.createUser();
    await service.call("PATCH", "/auth/me", { token: german.token, body: { locale: "de" } });
    const other = await service.createUser();
    const removed = await service.createUser();
    await service.sql(`update users set locale = 'fr' where id = ${removed.id}`);
    await service.sql("delete from outbox");
    await using _sender = await startSender(service, smtp(server));
    const mailTo = async (user: { readonly email: string }, count: number) => {
      const received = await server.waitFor(count);
      return received.findLast(({ recipients }) => recipients.includes(user.email));
    };
    const languages: unknown[] = [];
    for (const [index, user] of [german, other, removed].entries()) {
      await service.call("POST", "/auth/password-reset", { body: { email: user.email } });
      languages.push(languageOf((await mailTo(user, index + 1))?.raw));
    }
    await service.call("DELETE", "/auth/me", { token: german.token });
    const deletion = await mailTo(german, 4);
    expect([...languages, languageOf(deletion?.raw)]).toEqual(["de", "en", "en", "de"]);
    expect(deletion?.message).toContain("Das lässt sich nicht rückgängig machen.");
  });
});

test("with one language, no request and no response has one, and the documents do not describe it", async () => {
  await using service = await startService();
  const body = { ...newCredentials(), locale: "xx" };
  const user = (await service.call("POST", "/auth/register", { body })).expect<object>(201);
  expect(user).not.toHaveProperty("locale");
  const token = await service.login(body);
  const patched = await service.call("PATCH", "/auth/me", { token, body: { locale: 7 } });
  expect([patched.status, patched.body]).toEqual([200, user]);
  expect(await service.sql("select locale from users")).toEqual([{ locale: null }]);
  expect(JSON.stringify(await fetchDocument(service))).not.toContain('"locale"');
});

test("with several languages, the document describes those that are configured", async () => {
  await using service = await startService({ env: { LANGUAGES: "de,en" } });
  const { components } = await fetchDocument(service);
  const { RegisterRequest, UpdateUserRequest, UserResponse } = components.schemas;
  for (const schema of [RegisterRequest, UpdateUserRequest])
    expect(schema).toMatchObject({
      properties: { locale: { type: "string", nullable: true, enum: ["de", "en", null] } },
    });
  expect(UserResponse).toMatchObject({ properties: { locale: { type: "string", nullable: true } } });
});
