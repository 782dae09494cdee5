/** The behaviour of the operator's searches and changes that all databases have in common. */
import { expect } from "bun:test";
import { UserAlreadyExists, type UserSearch } from "../../src/index.ts";
import { ada, bob, errorOf, networksOf, type Test } from "./test-database.ts";

const DAY_SECONDS = 24 * 60 * 60;
const endedPassword = { hashedPassword: "ended$digest", importedHash: "none" };
const silent = { notifies: false, endedPassword };

/** The locale of a database can also be Turkish. */
export function caseConformance(test: Test): void {
  test("the case of a searched text is ignored, whatever the database converts to lower case", async ({
    users,
  }) => {
    const ids = new Map<number, string>();
    for (const [email, username] of [
      ["jos\u00e9@example.org", "1"],
      ["a@example.org", "Jos\u00c9"],
      ["iri@example.org", "2"],
      ["b@example.org", "IrI"],
      ["c@example.org", "\u0418\u0432\u0430\u043d \u041f\u0435\u0442\u0440\u043e\u0432"],
      ["\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2@example.org", "3"],
      ["josf@example.org", "irx"],
    ] as const)
      ids.set((await users.create({ email, username, hashedPassword: "s$d" })).id, username);
    const find = async (request: Partial<UserSearch>) =>
      (await users.list({ after: 0, limit: 10, ...request })).map(({ id }) => ids.get(id));
    for (const [text, ...found] of [
      ...["JOS\u00c9", "jos\u00e9", "Jos\u00e9"].map((one) => [one, "1", "Jos\u00c9"] as const),
      ...["Iri", "IRI", "iri"].map((one) => [one, "2", "IrI"] as const),
      [
        "\u0438\u0432\u0430\u043d \u043f\u0435\u0442",
        "\u0418\u0432\u0430\u043d \u041f\u0435\u0442\u0440\u043e\u0432",
      ],
      ["\u039f\u0394\u03a5\u03a3", "3"],
    ] as const) {
      expect([text, await find({ search: text })]).toEqual([text, found]);
      expect([text, await find({ contains: text })]).toEqual([text, found]);
    }
    expect(await find({ email: "iri@example.org", search: "IRI@" })).toEqual(["2"]);
  });
}

export function searchConformance(test: Test): void {
  test("users are found by exact e-mail, prefix, state, role and missing password, page by page", async ({
    users,
    query,
  }) => {
    const ids: number[] = [];
    for (const [email, username] of [
      ["ada@a.example", "Ada"],
      ["adam@b.example", "%_!adm"],
      ["bob@xn--bcher-kva.example", "ADAlbert"],
      ["z%_@c.example", "\u{10FFFF}\u{1F600}"],
    ] as const)
      ids.push((await users.create({ email, username, hashedPassword: "s$d", roles: ["b_d"] })).id);
    const [one = 0, two = 0, three = 0, four = 0] = ids;
    await users.changeAsOperator(two, { isActive: false });
    await users.changeAsOperator(three, { roles: ["bxd", "admin"] });
    await query(`update users set imported_hash = 'none' where id = ${four}`);
    const find = async (request: Partial<UserSearch>) =>
      (await users.list({ after: 0, limit: 10, ...request })).map(({ id }) => id);
    expect(await find({})).toEqual(ids);
    expect(await find({ after: one, limit: 2 })).toEqual([two, three]);
    expect(await find({ email: "bob@bücher.example" })).toEqual([three]);
    expect(await find({ email: "ada" })).toEqual([]);
    expect(await find({ search: "ada" })).toEqual([one, two, three]);
    expect(await find({ search: "aDA", after: one, limit: 1 })).toEqual([two]);
    expect(await find({ search: "%_" })).toEqual([two]);
    expect(await find({ search: "z%_" })).toEqual([four]);
    expect(await find({ search: "\u{10FFFF}" })).toEqual([four]);
    expect(await find({ search: "@a" })).toEqual([]);
    expect(await find({ isActive: false })).toEqual([two]);
    expect(await find({ isActive: true, search: "ada" })).toEqual([one, three]);
    expect(await find({ role: "b_d" })).toEqual([one, two, four]);
    expect(await find({ role: "b" })).toEqual([]);
    expect(await find({ isWithoutPassword: true })).toEqual([four]);
    await query(
      `insert into passkeys (credential_id, user_id, public_key, counter, name) values ('k', ${one}, 'p', 0, 'n')`,
    );
    await query(
      `insert into identities (user_id, issuer, subject, provider) values (${one}, 'i', 's', 'p'), (${one}, 'i', 't', 'p')`,
    );
    await users.storeNetwork(two, "home");
    const none = { passkeys: 0, identities: 0, networks: 0 };
    expect([...(await users.countLoginMeans([one, two, three], 60))]).toEqual([
      [one, { ...none, passkeys: 1, identities: 2 }],
      [two, { ...none, networks: 1 }],
      [three, none],
    ]);
    expect(await users.countTotals(60)).toEqual({ users: 4, inactive: 1, recent: 0, secondFactors: 0 });
  });

  caseConformance(test);

  test("a login stores its time at most once a day, and does not change updatedAt", async ({
    users,
    query,
  }) => {
    const { id, updatedAt } = await users.create(ada);
    await users.create(bob);
    await users.storeLogin(id);
    const first = await users.findById(id);
    expect(Math.abs(Date.now() - Date.parse(first?.lastLoginAt ?? ""))).toBeLessThan(10_000);
    await users.storeLogin(id);
    expect(await users.findById(id)).toEqual(first);
    expect(first?.updatedAt).toBe(updatedAt);
    await query(`update users set last_login_at = '2020-01-01T00:00:00.000Z' where id = ${id}`);
    expect(await users.countTotals(30 * DAY_SECONDS)).toEqual({
      users: 2,
      inactive: 0,
      recent: 0,
      secondFactors: 0,
    });
    await users.storeLogin(id);
    expect((await users.findById(id))?.lastLoginAt).not.toBe("2020-01-01T00:00:00.000Z");
    expect(await users.countTotals(30 * DAY_SECONDS)).toEqual({
      users: 2,
      inactive: 0,
      recent: 1,
      secondFactors: 0,
    });
  });

  test("an operator's change makes all of its changes, or none if one of them is not possible", async ({
    users,
  }) => {
    const { id } = await users.create(ada);
    await users.create(bob);
    await users.storeNetwork(id, "home");
    const change = { username: "countess", emailVerified: true, roles: ["a"], isActive: false };
    const before = await users.findById(id);
    const taken = [
      { email: bob.email },
      { username: bob.username },
      { email: bob.email, username: bob.username },
    ];
    for (const [index, other] of taken.entries()) {
      const error = await errorOf(
        users.changeAsOperator(id, { ...change, hashedPassword: "a$b", ...other }, silent),
      );
      expect(error).toEqual(new UserAlreadyExists(index === 1 ? "username" : "email"));
    }
    const refuse = () => {
      throw new RangeError("refused");
    };
    expect(await errorOf(users.changeAsOperator(id, change, { ...silent, check: refuse }))).toEqual(
      new RangeError("refused"),
    );
    expect(await users.findById(id)).toEqual(before);
    expect(await networksOf(users, id)).toBe(1);
    const email = "new@example.org";
    const changed = await users.changeAsOperator(id, { ...change, email }, silent);
    expect(changed?.user).toMatchObject({
      ...change,
      email,
      hashedPassword: "ended$digest",
      tokenVersion: 1,
    });
    expect(changed).toMatchObject({ before: before ?? {}, user: (await users.findById(id)) ?? {} });
    expect(await networksOf(users, id)).toBe(0);
    expect(await users.changeAsOperator(id + 9, change, silent)).toBeNull();
  });
}
