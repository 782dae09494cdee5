-- Oldest compatible release: 1.0.0
ALTER TABLE "public"."users" ADD COLUMN "pending_email" text;--> statement-breakpoint
ALTER TABLE "public"."users" ADD COLUMN "link_revision" integer DEFAULT 0 NOT NULL;