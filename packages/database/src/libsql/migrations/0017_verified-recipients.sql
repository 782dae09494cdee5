-- Oldest compatible release: 1.0.0
CREATE INDEX `outbox_verified` ON `outbox` (`is_recipient_verified`,`next_attempt_at`);