-- Oldest compatible release: 1.0.0
CREATE INDEX "outbox_verified" ON "public"."outbox" USING btree ("is_recipient_verified","next_attempt_at");