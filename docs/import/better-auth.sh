#!/bin/sh
psql -At -c "select json_build_object('email', u.email, 'email_verified', u.\"emailVerified\",
  'password_hash', 'better-auth\$' || a.password) from \"user\" u left join account a
  on a.\"userId\" = u.id and a.\"providerId\" = 'credential'" "$BETTER_AUTH_DATABASE_URL"
