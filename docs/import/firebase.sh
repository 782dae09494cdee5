#!/bin/sh
# After `firebase auth:export firebase.json`. SIGNER_KEY and SALT_SEPARATOR are in the console, under “Password hash parameters”.
jq -c --arg key "$SIGNER_KEY" --arg separator "$SALT_SEPARATOR" '.users[] | select(.email)
  | {email, email_verified: .emailVerified, is_active: (.disabled != true), password_hash: (if .passwordHash then
    "$fbscrypt$v=1,n=14,r=8,p=1,ss=\($separator),sk=\($key)$\(.salt)$\(.passwordHash)" else null end)}' firebase.json
