/**
 * The triggers that write the events of users, in the transaction of the change. Invariants: every writer is recorded, also an older
 * release; an update of other columns than the compared ones costs nothing.
 */
import { EVENT_MEMBERS } from "../event-members.ts";

const members = Object.entries(EVENT_MEMBERS);
const isDifferent = (column: string) => `old.${column} is not new.${column}`;
const isChanged = members.map(([, column]) => isDifferent(column)).join(" or ");
const changedNames = members.map(([name, column]) => `select '${name}' as name where ${isDifferent(column)}`);
const changed = `(select json_group_array(name) from (${changedNames.join(" union all ")}))`;

const IS_RECORDING = "exists (select 1 from events_state where days is not null)";

const insert = (values: string) =>
  `insert into events (type, user_id, changed, is_active, token_version, kept_jti) values (${values});`;
const STATE = "new.is_active, new.token_version, new.password_change_token_id";

interface Trigger {
  readonly name: string;
  readonly event: string;
  readonly condition: string;
  readonly values: string;
}

const TRIGGERS: readonly Trigger[] = [
  {
    name: "users_event_created",
    event: "insert",
    condition: IS_RECORDING,
    values: `'user.created', new.id, '[]', ${STATE}`,
  },
  {
    name: "users_event_updated",
    event: `update of ${members.map(([, column]) => column)}`,
    condition: `(${isChanged}) and ${IS_RECORDING}`,
    values: `'user.updated', new.id, ${changed}, ${STATE}`,
  },
  {
    name: "users_event_deleted",
    event: "delete",
    condition: IS_RECORDING,
    values: `'user.deleted', old.id, '[]', null, null, null`,
  },
];

export const DROP_TRIGGERS = TRIGGERS.map(({ name }) => `drop trigger if exists ${name}`);

export const CREATE_TRIGGERS = TRIGGERS.map(
  ({ name, event, condition, values }) =>
    `create trigger ${name} after ${event} on users for each row when ${condition} begin ${insert(values)} end`,
);
