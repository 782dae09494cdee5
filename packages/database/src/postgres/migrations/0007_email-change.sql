-- Oldest compatible release: 1.0.0
ALTER TABLE "public"."outbox" ADD COLUMN "due_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "public"."outbox" ADD COLUMN "recipient" text;--> statement-breakpoint
ALTER TABLE "public"."outbox" ADD COLUMN "is_recipient_verified" boolean;--> statement-breakpoint
ALTER TABLE "public"."outbox" ADD COLUMN "state" text;--> statement-breakpoint
CREATE INDEX "outbox_due_at" ON "public"."outbox" USING btree ("due_at");