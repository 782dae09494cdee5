-- Oldest compatible release: 1.0.0
CREATE TABLE "public"."digest_keys" (
	"name" text PRIMARY KEY NOT NULL,
	"key" text NOT NULL
);--> statement-breakpoint
INSERT INTO "public"."digest_keys" ("name", "key") VALUES ('log e-mails', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));