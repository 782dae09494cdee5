-- Oldest compatible release: 1.0.0
ALTER TABLE "public"."users" ADD COLUMN "roles" text DEFAULT '[]' NOT NULL;