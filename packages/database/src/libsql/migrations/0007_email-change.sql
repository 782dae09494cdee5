-- Oldest compatible release: 1.0.0
ALTER TABLE `outbox` ADD `due_at` text;--> statement-breakpoint
ALTER TABLE `outbox` ADD `recipient` text;--> statement-breakpoint
ALTER TABLE `outbox` ADD `is_recipient_verified` integer;--> statement-breakpoint
ALTER TABLE `outbox` ADD `state` text;--> statement-breakpoint
CREATE INDEX `outbox_due_at` ON `outbox` (`due_at`);