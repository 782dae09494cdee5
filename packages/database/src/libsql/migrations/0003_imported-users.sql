-- Oldest compatible release: 1.0.0
ALTER TABLE `users` ADD `imported_hash` text;--> statement-breakpoint
CREATE INDEX `users_imported_index` ON `users` (`id`) WHERE "users"."imported_hash" is not null;