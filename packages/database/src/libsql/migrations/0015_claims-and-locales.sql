-- Oldest compatible release: 1.0.0
ALTER TABLE `users` ADD `claims` text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `locale` text;