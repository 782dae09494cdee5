/**
 * The triggers that write the events of users, in the transaction of the change. Invariants: every writer is recorded, also an older
 * release and a role without privileges on the events; while nothing is recorded, a change of the compared columns costs one short
 * query, and any other update costs nothing.
 */
import { EVENT_MEMBERS } from "../event-members.ts";

const members = Object.entries(EVENT_MEMBERS);
const columns = members.map(([, column]) => column);
/** None of the columns is null. */
const isDifferent = (column: string) => `old.${column} operator(pg_catalog.<>) new.${column}`;
const changedNames = members.map(([name, column]) => `case when ${isDifferent(column)} then '${name}' end`);
const changed = `pg_catalog.array_to_json(pg_catalog.array_remove(array[${changedNames}], null))::pg_catalog.text`;

const insert = (values: string) =>
  `insert into public.events (type, user_id, changed, is_active, token_version, kept_jti) values (${values});`;
const STATE = "new.is_active, new.token_version, new.password_change_token_id";

/**
 * With the rights of the owner of the tables, because a role that can only change users writes events, too. Every name has its schema,
 * so that the path of the caller finds nothing else: to set a path at each call costs more.
 */
const FUNCTION = `
create or replace function public.latchkey_record_event() returns trigger
language plpgsql security definer as $$
begin
  if exists (select from public.events_state where days is not null) then
    if tg_op operator(pg_catalog.=) 'INSERT' then
      ${insert(`'user.created', new.id, '[]', ${STATE}`)}
    elsif tg_op operator(pg_catalog.=) 'UPDATE' then
      ${insert(`'user.updated', new.id, ${changed}, ${STATE}`)}
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
  // Without the list of columns, PostgreSQL would parse the condition at each other update.
  trigger("users_event_updated", `update of ${columns}`, `when (${columns.map(isDifferent).join(" or ")})`),
  trigger("users_event_deleted", "delete"),
];
