#!/bin/sh
# auth0.json is the export of password hashes, which the support of Auth0 creates on request.
jq -c '{email, email_verified, password_hash: .passwordHash}' auth0.json
