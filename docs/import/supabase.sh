#!/bin/sh
psql -At -c "select json_build_object('email', email, 'email_verified', email_confirmed_at is not null,
  'is_active', coalesce(banned_until < now(), true), 'created_at', created_at, 'password_hash', nullif(encrypted_password, ''))
  from auth.users where email <> '' and deleted_at is null" "$SUPABASE_DATABASE_URL"
