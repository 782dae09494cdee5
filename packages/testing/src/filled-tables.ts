/** Fills the tables of either database with SQL, because the repositories would take minutes for a million rows. */

/** No password matches this hash. */
const STORED_HASH = `${"5".repeat(32)}$${"d".repeat(64)}`;

/** The statements that create users with the e-mails `user1@example.com` to `userN@example.com`, and as many todos. */
export function fillTables(rows: number): readonly string[] {
  const numbers = `with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < ${rows})`;
  return [
    `insert into users (email, username, hashed_password)
      ${numbers} select 'user' || i || '@example.com', 'user' || i, '${STORED_HASH}' from numbers`,
    `insert into todos (title) ${numbers} select 'The title of todo ' || i from numbers`,
  ];
}
