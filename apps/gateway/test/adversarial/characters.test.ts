/** Lengths are counted in code points, and e-mail addresses are matched against the pattern after trimming. */
import { expect, test } from "bun:test";
import { eachDatabase, newCredentials } from "../support/service.ts";

const PAIR = "e\u0301"; // two code points, displayed as one letter
const FAMILY = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}"; // seven code points, displayed as one emoji

eachDatabase((startService) => {
  test("a username has 1 to 32 code points, not UTF-16 units or graphemes, on register and update", async () => {
    await using service = await startService();
    const { token } = await service.createUser();
    const statusesOf = async (username: string) => [
      (await service.call("POST", "/auth/register", { body: { ...newCredentials(), username } })).status,
      (await service.call("PATCH", "/auth/me", { token, body: { username: `${username.slice(0, -1)}!` } }))
        .status,
    ];
    expect(await statusesOf("x")).toEqual([201, 200]);
    expect(await statusesOf(`${"🦊".repeat(31)}x`)).toEqual([201, 200]);
    expect(await statusesOf(`${PAIR.repeat(15)}xy`)).toEqual([201, 200]);
    expect(await statusesOf(`${FAMILY.repeat(4)}abcd`)).toEqual([201, 200]);
    expect(await statusesOf(`${"🦊".repeat(32)}x`)).toEqual([422, 422]);
    expect(await statusesOf(`${PAIR.repeat(16)}x`)).toEqual([422, 422]);
    expect(await statusesOf(`${FAMILY.repeat(4)}abcde`)).toEqual([422, 422]);
  });

  test("a password has 8 to 128 code points on register and update", async () => {
    await using service = await startService();
    const { token } = await service.createUser();
    const statusesOf = async (password: string) => [
      (await service.call("POST", "/auth/register", { body: { ...newCredentials(), password } })).status,
      (await service.call("PATCH", "/auth/me", { token, body: { password } })).status,
    ];
    for (const text of ["p".repeat(8), " ".repeat(8), "🦊".repeat(8), PAIR.repeat(4), "🦊".repeat(128)]) {
      expect(await statusesOf(text)).toEqual([201, 200]);
    }
    for (const text of ["", "p".repeat(7), "🦊".repeat(7), `${PAIR.repeat(3)}x`, FAMILY, "🦊".repeat(129)]) {
      expect(await statusesOf(text)).toEqual([422, 422]);
    }
  });

  test("an e-mail address has a local part, one @, and a domain with a dot and no empty label", async () => {
    await using service = await startService();
    const statusOf = async (email: string) =>
      (await service.call("POST", "/auth/register", { body: { ...newCredentials(), email } })).status;
    for (const email of [
      "a@b.c",
      "o'hara+tag@sub.example.org",
      "ünï@exämple.org",
      "🦊@fox.example",
      '"@x.y',
      ".@x.y",
    ]) {
      expect([email, await statusOf(email)]).toEqual([email, 201]);
    }
    const refused = [
      ...[
        "",
        " ",
        "@",
        "a",
        "a@",
        "@b.c",
        "a@b",
        "a@b.",
        "a@.b",
        "a@b..c",
        "a@.b.c",
        "a@b.c.",
        "a@b@c.d",
        "a@@b.c",
      ],
      ...["a b@c.d", "a@b c.d", "a@b.c d", "a@b.c\nd@e.f", "a\u00a0b@c.d", "a@b.c\u2028d", "a@b\t.c"],
    ];
    for (const email of refused) expect([email, await statusOf(email)]).toEqual([email, 422]);
  });

  test("an e-mail address of 254 code points is accepted and one of 255 is rejected", async () => {
    await using service = await startService();
    const statusOf = async (length: number) => {
      const email = `${"🦊".repeat(length - 4)}@b.c`;
      return (await service.call("POST", "/auth/register", { body: { ...newCredentials(), email } })).status;
    };
    expect([await statusOf(254), await statusOf(255)]).toEqual([201, 422]);
  });
});
