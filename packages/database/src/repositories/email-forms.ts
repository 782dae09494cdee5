import { inArray, type Placeholder, sql } from "drizzle-orm";
import type { Tables } from "../tables.ts";

type Form = string | Placeholder;

/** Conditions that find the user with one of the forms of an address (`emailForms`): `orderBy(order).limit(1)`. */
export function matchEmailForms(
  { email }: Tables["users"],
  forms: readonly [sent: Form, ascii: Form, unicode: Form],
) {
  const [sent, ascii] = forms;
  return {
    hasForm: inArray(email, [...forms]),
    order: sql`case ${email} when ${sent} then 0 when ${ascii} then 1 else 2 end`,
  };
}
