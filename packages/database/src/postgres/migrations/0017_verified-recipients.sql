-- Oldest compatible release: 1.0.0
CREATE INDEX "outbox_user_state" ON "public"."outbox" USING btree ("user_id","state");--> statement-breakpoint
CREATE INDEX "outbox_verified" ON "public"."outbox" USING btree ("is_recipient_verified","is_familiar","next_attempt_at");--> statement-breakpoint
DROP INDEX "public"."outbox_user_id";