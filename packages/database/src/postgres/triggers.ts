/**
 * The triggers that write the events of users, in the transaction of the change. Invariants: every writer is recorded, also an older
 * release and a role without privileges on the events; and while nothing is recorded, the triggers are disabled and cost nothing.
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

const USER_TRIGGERS = [
  trigger("users_event_created", "insert"),
  // Without the list of columns, PostgreSQL would parse the condition at each other update.
  trigger("users_event_updated", `update of ${columns}`, `when (${columns.map(isDifferent).join(" or ")})`),
  trigger("users_event_deleted", "delete"),
];

const switchTriggers = (verb: "enable" | "disable") =>
  `alter table public.users ${verb} trigger users_event_created,
    ${verb} trigger users_event_updated, ${verb} trigger users_event_deleted;`;

/** With the rights of the owner of `users`, because only an owner can alter a table. Locks `users` until the transaction ends. */
const SWITCH_FUNCTION = `
create or replace function public.latchkey_switch_recording() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if new.days is null then
    ${switchTriggers("disable")}
  else
    ${switchTriggers("enable")}
  end if;
  return null;
end $$`;

/** `always`: also when logical replication copies the state from another server. */
const switchTrigger = (name: string, event: string, condition = "") => [
  `create or replace trigger ${name} after ${event} on public.events_state
  for each row ${condition} execute function public.latchkey_switch_recording()`,
  `alter table public.events_state enable always trigger ${name}`,
];

const SWITCH_NOW = `
do $$ begin
  if exists (select from public.events_state where days is not null) then
    ${switchTriggers("enable")}
  else
    ${switchTriggers("disable")}
  end if;
end $$`;

/** Can be repeated. The statements must run in one transaction. They lock `users` for a moment. */
export const TRIGGER_STATEMENTS = [
  FUNCTION,
  ...USER_TRIGGERS,
  SWITCH_FUNCTION,
  ...switchTrigger("events_state_inserted", "insert"),
  ...switchTrigger(
    "events_state_updated",
    "update",
    "when ((old.days is null) is distinct from (new.days is null))",
  ),
  SWITCH_NOW,
];
