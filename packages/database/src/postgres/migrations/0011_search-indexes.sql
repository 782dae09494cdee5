-- Oldest compatible release: 1.0.0
CREATE INDEX IF NOT EXISTS "users_inactive_index" ON "public"."users" USING btree ("id") WHERE not "public"."users"."is_active";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "users_roles_index" ON "public"."users" USING btree ("id") WHERE "public"."users"."roles" <> '[]';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "users_email_prefix" ON "public"."users" USING btree (("email" collate "C"));--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "users_username_prefix" ON "public"."users" USING btree ((lower("username") collate "C"));