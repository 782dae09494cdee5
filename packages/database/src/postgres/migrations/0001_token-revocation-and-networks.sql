-- Oldest compatible release: 1.0.0
CREATE TABLE "user_networks" (
	"user_id" bigint NOT NULL,
	"network_digest" text NOT NULL,
	"last_seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "user_networks_user_id_network_digest_pk" PRIMARY KEY("user_id","network_digest")
);
--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "token_version" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "password_change_token_id" text;--> statement-breakpoint
ALTER TABLE "user_networks" ADD CONSTRAINT "user_networks_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;