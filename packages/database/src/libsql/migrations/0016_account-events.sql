-- Oldest compatible release: 1.0.0
CREATE TABLE `events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`position` integer,
	`type` text NOT NULL,
	`user_id` integer,
	`changed` text DEFAULT '[]' NOT NULL,
	`is_active` integer,
	`token_version` integer,
	`kept_jti` text,
	`created_at` text DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) NOT NULL
);
--> statement-breakpoint
CREATE INDEX `events_unnumbered` ON `events` (`id`) WHERE "events"."position" is null;--> statement-breakpoint
CREATE UNIQUE INDEX `events_position` ON `events` (`position`) WHERE "events"."position" is not null;--> statement-breakpoint
CREATE INDEX `events_created_at` ON `events` (`created_at`,`position`) WHERE "events"."position" is not null;--> statement-breakpoint
CREATE TABLE `events_state` (
	`id` integer PRIMARY KEY NOT NULL,
	`days` integer,
	`epoch` text NOT NULL,
	`last_position` integer DEFAULT 0 NOT NULL
);
