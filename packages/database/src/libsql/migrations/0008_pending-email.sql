-- Oldest compatible release: 1.0.0
ALTER TABLE `users` ADD `pending_email` text;--> statement-breakpoint
ALTER TABLE `users` ADD `link_revision` integer DEFAULT 0 NOT NULL;