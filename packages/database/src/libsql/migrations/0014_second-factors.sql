-- Oldest compatible release: 1.0.0
CREATE TABLE `factors` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`secret` text NOT NULL,
	`key_id` text NOT NULL,
	`last_step` integer NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`failed_at` text,
	`recovery_codes` text NOT NULL,
	`was_verified` integer NOT NULL,
	`created_at` text DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) NOT NULL,
	`last_used_at` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `factors_key_id` ON `factors` (`key_id`);--> statement-breakpoint
ALTER TABLE `users` ADD `factor_id` text;