#!/bin/sh
# Unusable passwords (`!`) and hashes that cannot be imported become null.
psql -At -c "select json_build_object('email', email, 'username', username, 'is_active', is_active,
  'created_at', date_joined, 'password_hash', case when password ~ '^(pbkdf2|bcrypt|argon2|scrypt)' then password end,
  'null_reason', case when password ~ '^\!' then 'unusable'
  else coalesce(substring(password from '^([a-z0-9_]{1,31})[\$]'), 'unsalted') end)
  from auth_user where email <> ''" "$DJANGO_DATABASE_URL"
