/**
 * The triggers that write the events of users, in the transaction of the change. Invariants: every writer is recorded, also an older
 * release and a role without privileges on the events; while nothing is recorded, a change of the compared columns costs one short
 * query, and any other update costs nothing.
 */
import { EVENT_MEMBERS } from "../event-members.ts";

const members = Object.entries(EVENT_MEMBERS);
const isDifferent = (column: string) => `old.${column} is distinct from new.${column}`;
const changed = members.map(([name, column]) => `case when ${isDifferent(column)} then '${name}' end`);
const isChanged = members.map(([, column]) => isDifferent(column)).join(" or ");

const insert = (values: string) =>
  `insert into public.events (type, user_id, changed, is_active, token_version, kept_jti) values (${values});`;
const STATE = "new.is_active, new.token_version, new.password_change_token_id";

/**
 * With the rights of the owner of the tables and a fixed path, because a role that can only change users writes events, too. A
 * schema of the caller must not replace what the function calls.
 */
const FUNCTION = `
create or replace function public.latchkey_record_event() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from public.events_state where days is not null) then
    if tg_op = 'INSERT' then
      ${insert(`'user.created', new.id, '[]', ${STATE}`)}
    elsif tg_op = 'UPDATE' then
      ${insert(`'user.updated', new.id, array_to_json(array_remove(array[${changed}], null))::text, ${STATE}`)}
    else
      ${insert("'user.deleted', old.id, '[]', null, null, null")}
    end if;
  end if;
  return null;
end $$`;

const trigger = (name: string, event: string, condition = "") => `
create or replace trigger ${name} after ${event} on public.users
for each row ${condition} execute function public.latchkey_record_event()`;

/** Can be repeated. The statements must run in one transaction. They lock `users` for a moment. */
export const TRIGGER_STATEMENTS = [
  FUNCTION,
  trigger("users_event_created", "insert"),
  trigger("users_event_updated", "update", `when (${isChanged})`),
  trigger("users_event_deleted", "delete"),
];
