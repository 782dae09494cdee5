-- Oldest compatible release: 1.0.0
ALTER TABLE "public"."users" ADD COLUMN "imported_hash" text;--> statement-breakpoint
CREATE INDEX "users_imported_index" ON "public"."users" USING btree ("id") WHERE "public"."users"."imported_hash" is not null;