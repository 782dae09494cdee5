-- Oldest compatible release: 1.0.0
CREATE INDEX `users_inactive_index` ON `users` (`id`) WHERE not "users"."is_active";--> statement-breakpoint
CREATE INDEX `users_roles_index` ON `users` (`id`) WHERE "users"."roles" <> '[]';--> statement-breakpoint
CREATE INDEX `users_username_prefix` ON `users` (lower("username"));