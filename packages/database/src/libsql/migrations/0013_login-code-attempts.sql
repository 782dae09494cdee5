-- Oldest compatible release: 1.0.0
ALTER TABLE `outbox` ADD `code_attempts` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `outbox` ADD `is_familiar` integer DEFAULT false NOT NULL;