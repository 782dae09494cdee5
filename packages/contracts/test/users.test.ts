/** The read shape of users. */
import { expect, test } from "bun:test";
import { toUser, type UserDetails, userMapper } from "../src/index.ts";

const STORED = {
  id: 1,
  email: "ada@example.com",
  emailVerified: false,
  username: "ada",
  isActive: true,
  createdAt: "2026-01-02T03:04:05.678Z",
  updatedAt: "2026-01-02T03:04:05.678Z",
};
const DETAILS = { roles: ["admin"], claims: { plan: "pro" }, locale: "de" };
const NONE: UserDetails = { hasRoles: false, hasClaims: false, languages: ["en"] };

test.each<[keyof typeof DETAILS, Partial<UserDetails>]>([
  ["roles", { hasRoles: true }],
  ["claims", { hasClaims: true }],
  ["locale", { languages: ["en", "de"] }],
])("users have %s, and no other detail, if only these are configured", (name, configured) => {
  const stored = { ...STORED, ...DETAILS };
  const expected = { ...toUser(STORED), [name]: DETAILS[name] };
  expect(userMapper({ ...NONE, ...configured })(stored)).toEqual(expected);
  expect(userMapper(NONE)(stored)).toEqual(toUser(STORED));
});
