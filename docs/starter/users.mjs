// A mirror of the service's users. It follows their account events, so it also knows whose tokens have ended.
import { setTimeout } from "node:timers/promises";
import { createAdminClient } from "@latchkey/client/admin";

const { LATCHKEY_ADMIN_URL: baseUrl = "http://127.0.0.1:3001", LATCHKEY_READ_KEY: apiKey } = process.env;
const admin = createAdminClient({ baseUrl, apiKey });
const keepSeconds = 5 * 60 + 60; // AUTH_TOKEN_EXPIRE_MINUTES, and a minute for clocks

/**
 * By id, each with the latest event. In memory: replace it by a table as soon as the data of users is in one. Who is only in the table
 * at a start was deleted in the meantime.
 */
export const users = new Map();
let restoredAt = 0;
let isCurrent = false;

const readUser = (id) =>
  admin.getUser(id).catch((error) => {
    if (error.status !== 404) throw error;
  });

async function update(id, latest, onDeleted) {
  const user = await readUser(id);
  if (user) return users.set(id, { ...user, latest });
  // Refused as long as the data is not deleted.
  if (users.has(id)) users.get(id).is_active = false;
  await onDeleted(id);
  users.delete(id);
}

/** Forgets the latest events: those that still matter are read again, or are older than a restored backup. */
async function copyAll(onDeleted) {
  const missing = new Set(users.keys());
  for await (const user of admin.iterateUsers()) {
    users.set(user.id, user);
    missing.delete(user.id);
  }
  for (const id of missing) await update(id, undefined, onDeleted);
}

async function begin(onDeleted) {
  isCurrent = false;
  // Before the users are read: what changes from here on is an event.
  const { next_cursor } = await admin.readEvents({ since: keepSeconds });
  await copyAll(onDeleted);
  return next_cursor;
}

/** Never ends. `onDeleted` deletes the data of the user with this id. It can get an id again, as it does after an error. */
export async function followUsers(onDeleted) {
  for (let cursor; ; ) {
    try {
      cursor ??= await begin(onDeleted);
      const page = await admin.readEvents({ after: cursor, limit: 1000, wait: isCurrent ? 25 : 0 });
      for (const event of page.items) {
        if (event.type !== "database.restored") await update(event.user_id, event, onDeleted);
        else {
          restoredAt = Date.parse(event.created_at) / 1000;
          await copyAll(onDeleted);
        }
      }
      if (page.items.length === 0) isCurrent = true;
      cursor = page.next_cursor;
    } catch (error) {
      if (error.status === 410 || error.status === 422) cursor = undefined; // expired
      process.stderr.write(`${error}\n`);
      await setTimeout(1000);
    }
  }
}

/** Returns the user of a verified token, or undefined if the token has ended. Throws as long as nobody can know. */
export async function userOf({ sub, ver = 0, jti, iat }) {
  if (!isCurrent) throw new Error("The account events are not read yet");
  // The event of a new user arrives a moment after the first token.
  const user = users.get(Number(sub)) ?? (await readUser(Number(sub)));
  const isOld = ver < user?.latest?.token_version && jti !== user.latest.kept_jti;
  return !user?.is_active || isOld || iat < restoredAt ? undefined : user;
}
