#!/usr/bin/env bash
# Executes the commands of docs/production.md for Compose, and the tour of the README, on a Docker engine. It replaces .env, and
# deletes the volumes of the project `latchkey`: use it on a machine without data.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Prints the commands of a section.
commands() {
  awk -v heading="$2" '/^## |^### /{ inside = $0 == heading } /^```/{ code = inside && $0 == "```sh"; next } code' "$1"
}
# Prints the lines from the first match to the second.
between() { sed -n "/$1/,/$2/p"; }
execute() { bash -euo pipefail -x -c "$1"; }
ready() { curl --silent --show-error --fail --retry 30 --retry-all-errors --retry-delay 1 http://127.0.0.1:3000/readyz; }
login() {
  curl --silent --show-error --fail http://127.0.0.1:3000/auth/login -H 'Content-Type: application/json' \
    -d '{"email":"grace@example.com","password":"correct horse battery staple"}' > /dev/null
}
register() {
  curl --silent --show-error --fail http://127.0.0.1:3000/auth/register -H 'Content-Type: application/json' \
    -d '{"email":"grace@example.com","username":"grace","password":"correct horse battery staple"}' > /dev/null
}
new_key() { sed -i "s/^AUTH_SECRET_KEY=.*/AUTH_SECRET_KEY=$(openssl rand -hex 32)/" .env; }
replicas() { docker compose ps --quiet gateway | wc -l; }
stop() { docker compose --profile '*' down --volumes; }
guide=docs/production.md
trap stop EXIT

echo '== secrets stay out of the build context and the image'
planted=(apps/gateway/tls.pem apps/gateway/src/tls.pem apps/gateway/data/auth-secret-key)
trap 'rm -f "${planted[@]}"; stop' EXIT
for file in "${planted[@]}"; do mkdir -p "$(dirname "$file")" && echo planted > "$file"; done
printf 'FROM scratch\nCOPY . /\n' | docker build --quiet --file - --tag latchkey-context .
context=$(docker create latchkey-context none)
docker export "$context" | tar --list > context.txt
docker rm "$context"
if grep -E 'tls.pem|auth-secret-key|/test/|\.env' context.txt; then exit 1; fi
grep -x apps/gateway/src/main.ts context.txt
rm context.txt

echo '== start, tour of the README'
set_up=$(commands $guide '## With Docker Compose' | between '^(umask' '^curl')
execute "${set_up%curl*}"
ready
tour=$(between '^## Five minutes' '^## The API' < README.md | awk '/^```/{ code = $0 == "```sh"; next } code' | bash -euo pipefail)
grep -F '"username":"countess"' <<< "$tour"
grep -F '{"status":"ok"}{"status":"ready"}' <<< "$tour"
size=$(docker image inspect --format '{{.Size}}' latchkey)
[ "$size" -le 300000000 ]
execute "$(sed -n 's/.*`\(docker compose exec gateway bun .* hash bench\)`.*/\1/p' $guide)"

echo '== rolling update: no request is lost'
register
before=$(docker compose ps --quiet gateway | sort)
while :; do
  curl --silent --fail --output /dev/null http://127.0.0.1:3000/readyz || echo lost
  sleep 0.02
done > lost.txt &
load=$!
execute "$(commands $guide '## Upgrade')"
kill $load
[ ! -s lost.txt ]
rm lost.txt
[ "$(replicas)" -eq "$(wc -l <<< "$before")" ]
[ -z "$(comm -12 <(docker compose ps --quiet gateway | sort) <(echo "$before"))" ]

echo '== backup and restore with PostgreSQL: no replica is lost'
execute "$(commands $guide '### PostgreSQL' | grep pg_dump)"
docker compose exec -T postgres psql --username=latchkey --command 'delete from users'
new_key
execute "$(commands $guide '### PostgreSQL' | between 'stop gateway' 'up --detach')"
ready
login
[ "$(replicas)" -eq "$(wc -l <<< "$before")" ]
rm latchkey.dump

echo '== the embedded profile, without a PostgreSQL password; backup and restore'
stop
sed -i 's/^COMPOSE_PROFILES=.*/COMPOSE_PROFILES=embedded/; s/^POSTGRES_PASSWORD=.*/POSTGRES_PASSWORD=/' .env
docker compose up --build --detach
ready
register
execute "$(commands $guide '### The embedded database' | between 'bun -e' 'exec gateway-embedded rm')"
docker compose exec gateway-embedded bun -e 'new (await import("bun:sqlite")).Database("/data/latchkey.db").run("delete from users")'
new_key
execute "$(commands $guide '### The embedded database' | between 'stop gateway-embedded' 'up --detach')"
ready
login
rm latchkey-backup.db

echo '== an invalid setting is named, and nothing starts'
sed -i 's/^AUTH_SECRET_KEY=.*/AUTH_SECRET_KEY=/' .env
if docker compose up --detach; then exit 1; fi
docker compose logs configuration | grep AUTH_SECRET_KEY
