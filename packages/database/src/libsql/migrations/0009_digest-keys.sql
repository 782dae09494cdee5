-- Oldest compatible release: 1.0.0
CREATE TABLE `digest_keys` (
	`name` text PRIMARY KEY NOT NULL,
	`key` text NOT NULL
);--> statement-breakpoint
INSERT INTO `digest_keys` (`name`, `key`) VALUES ('log e-mails', lower(hex(randomblob(32))));