#!/bin/sh
# After `kc.sh export --realm NAME --users different_files --dir export`.
jq -c '.users[] | select(.email) | ([.credentials[]? | select(.type == "password")][0]) as $c
  | {email, username, is_active: .enabled, email_verified: .emailVerified, password_hash: (if $c then
    ($c.credentialData | fromjson) as $d | ($c.secretData | fromjson) as $s | $d.additionalParameters as $a
    | if $d.algorithm == "argon2" then "$argon2\($a.type[0])$v=19$m=\($a.memory[0]),t=\($d.hashIterations),p=\(
        $a.parallelism[0])$\($s.salt | gsub("="; ""))$\($s.value | gsub("="; ""))"
      else "$\($d.algorithm)$\($d.hashIterations)$\($s.salt)$\($s.value)" end else null end)}' export/*-users-*.json
