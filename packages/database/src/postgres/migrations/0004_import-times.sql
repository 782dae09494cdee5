-- Oldest compatible release: 1.0.0
CREATE TABLE "public"."deleted_imports" (
	"email_digest" text PRIMARY KEY NOT NULL,
	"digest_key" text NOT NULL,
	"deleted_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "public"."users" ADD COLUMN "imported_at" timestamp (3) with time zone;