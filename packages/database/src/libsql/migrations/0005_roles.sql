-- Oldest compatible release: 1.0.0
ALTER TABLE `users` ADD `roles` text DEFAULT '[]' NOT NULL;