-- Oldest compatible release: 1.0.0
ALTER TABLE "public"."users" ADD COLUMN "claims" text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "public"."users" ADD COLUMN "locale" text;