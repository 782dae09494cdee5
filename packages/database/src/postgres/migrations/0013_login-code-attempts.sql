-- Oldest compatible release: 1.0.0
ALTER TABLE "public"."outbox" ADD COLUMN "code_attempts" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "public"."outbox" ADD COLUMN "is_familiar" boolean DEFAULT false NOT NULL;