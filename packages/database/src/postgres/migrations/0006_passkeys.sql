-- Oldest compatible release: 1.0.0
CREATE TABLE "public"."passkeys" (
	"credential_id" text PRIMARY KEY NOT NULL,
	"user_id" bigint NOT NULL,
	"public_key" text NOT NULL,
	"counter" bigint NOT NULL,
	"name" text NOT NULL,
	"used_statements" text DEFAULT '{}' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "public"."users" ADD COLUMN "passkey_revision" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "public"."users" ADD COLUMN "passkey_user_handle" text;--> statement-breakpoint
ALTER TABLE "public"."passkeys" ADD CONSTRAINT "passkeys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "passkeys_user_id" ON "public"."passkeys" USING btree ("user_id");