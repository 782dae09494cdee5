-- Oldest compatible release: 1.0.0
CREATE TABLE `deleted_imports` (
	`email_digest` text PRIMARY KEY NOT NULL,
	`digest_key` text NOT NULL,
	`deleted_at` text DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) NOT NULL
);
--> statement-breakpoint
ALTER TABLE `users` ADD `imported_at` text;