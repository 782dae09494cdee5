-- Oldest compatible release: 1.0.0
CREATE TABLE "public"."factors" (
	"user_id" bigint PRIMARY KEY NOT NULL,
	"id" text NOT NULL,
	"secret" text NOT NULL,
	"key_id" text NOT NULL,
	"last_step" bigint NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"failed_at" timestamp (3) with time zone,
	"recovery_codes" text NOT NULL,
	"was_verified" boolean NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "public"."users" ADD COLUMN "factor_id" text;--> statement-breakpoint
ALTER TABLE "public"."factors" ADD CONSTRAINT "factors_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "factors_key_id" ON "public"."factors" USING btree ("key_id");