-- Oldest compatible release: 1.0.0
CREATE TABLE `outbox` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`user_id` integer,
	`email_digest` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` text DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) NOT NULL,
	`attempted_at` text,
	`next_attempt_at` text DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
--> statement-breakpoint
CREATE INDEX `outbox_user_id` ON `outbox` (`user_id`);--> statement-breakpoint
CREATE INDEX `outbox_email_digest` ON `outbox` (`email_digest`);--> statement-breakpoint
CREATE INDEX `outbox_next_attempt_at` ON `outbox` (`next_attempt_at`);--> statement-breakpoint
ALTER TABLE `users` ADD `email_verified` integer DEFAULT false NOT NULL;