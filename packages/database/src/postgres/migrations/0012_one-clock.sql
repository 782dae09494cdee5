-- Oldest compatible release: 1.0.0
UPDATE "public"."outbox" SET "next_attempt_at" = "due_at" WHERE "due_at" IS NOT NULL;--> statement-breakpoint
DROP INDEX "public"."outbox_due_at";--> statement-breakpoint
ALTER TABLE "public"."outbox" DROP COLUMN "due_at";