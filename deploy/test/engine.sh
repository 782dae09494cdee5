#!/usr/bin/env bash
# Executes the commands of docs/production.md for Compose, and the tour of the README, on a Docker engine. It replaces .env and
# gateway.env, and deletes the volumes of the project `latchkey`: use it on a machine without data.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Prints the commands of a section.
commands() {
  awk -v heading="$2" '/^## |^### /{ inside = $0 == heading } /^```/{ code = inside && $0 == "```sh"; next } code' "$1"
}
# Prints the lines from the first match to the second.
between() { sed -n "/$1/,/$2/p"; }
execute() { bash -euo pipefail -x -c "$1"; }
ready() { curl --silent --show-error --fail http://127.0.0.1:3000/readyz; }
# Sends the same user to `login` or `register`.
send() {
  curl --silent --show-error --fail "http://127.0.0.1:3000/auth/$1" -H 'Content-Type: application/json' \
    -d '{"email":"grace@example.com","username":"grace","password":"correct horse battery staple"}' > /dev/null
}
new_key() { echo "AUTH_SECRET_KEY=$(openssl rand -hex 32)" > gateway.env; }
set_env() { sed -i "s/^#* *$1=.*/$1=$2/" .env; }
replicas() { docker compose ps --quiet gateway | sort; }
# Expects that the command has this exit code while no request is lost.
without_loss() {
  local expected=$1 code=0 load
  shift
  while :; do
    curl --silent --fail --output /dev/null 'http://127.0.0.1:3000/todos?limit=1' || echo lost
    sleep 0.02
  done > lost.txt &
  load=$!
  "$@" || code=$?
  kill "$load"
  [ "$code" -eq "$expected" ]
  [ ! -s lost.txt ]
  rm lost.txt
}
stop() { docker compose --profile '*' down --volumes; }
guide=docs/production.md
trap stop EXIT

echo '== start, tour of the README'
execute "$(commands $guide '## With Docker Compose')"
ready
# In production, mails are no files.
tour=$({ between '^## First login' '^The same' < README.md; sed '/^Without a mail server/,/^Todos/d' docs/api.md; } |
  awk '/^```/{ code = $0 == "```sh"; next } code' | bash -euo pipefail)
grep -F '"username":"countess"' <<< "$tour"
grep -Fx '{"status":"ready"}' <<< "$tour"
size=$(docker image inspect --format '{{.Size}}' latchkey)
[ "$size" -le 215000000 ]
execute "$(sed -n 's/.*`\(docker compose exec gateway bun .* hash bench\)`.*/\1/p' $guide)"

echo '== rolling update, rollback and a changed number of replicas: no request is lost'
send register
before=$(replicas)
without_loss 0 deploy/roll.sh
[ "$(replicas | wc -l)" -eq "$(wc -l <<< "$before")" ]
[ -z "$(comm -12 <(replicas) <(echo "$before"))" ]
docker tag latchkey latchkey:previous
without_loss 0 bash -c "$(commands $guide '### Roll back' | grep previous)"
set_env GATEWAY_REPLICAS 3
without_loss 0 docker compose up --wait
[ "$(replicas | wc -l)" -eq 3 ]
without_loss 0 bash -c "$(commands $guide '### Other containers of Compose' | grep reload)"

echo '== a failed update keeps the old replicas'
before=$(replicas)
echo LOG_LEVEL=verbose >> gateway.env
without_loss 78 deploy/roll.sh
sed -i /LOG_LEVEL/d gateway.env
printf 'FROM latchkey\nCMD ["false"]\n' | docker build --quiet --tag latchkey -
without_loss 1 deploy/roll.sh --no-build
[ "$(replicas)" = "$before" ]

echo '== backup and restore with PostgreSQL: no replica is lost'
execute "$(commands $guide '### PostgreSQL' | between '^(umask' 'pg_dump')"
docker compose exec -T postgres psql --username=latchkey --command 'delete from users'
new_key
execute "$(commands $guide '### PostgreSQL' | between 'stop gateway' 'up --wait')"
ready
send login
[ "$(replicas | wc -l)" -eq 3 ]
rm latchkey.dump

for commit in $(sed -n 's/^Commit `\([0-9a-f]*\)`.*/\1/p' CHANGELOG.md); do
  echo "== an upgrade from the release $commit: only the new balancer and the new PostgreSQL interrupt the service"
  stop
  previous=$(mktemp --directory)
  git archive "$commit" | tar --extract --directory "$previous"
  # 1.0.0 reads all variables from `.env`.
  cat .env gateway.env > "$previous/.env"
  cp gateway.env "$previous"
  (cd "$previous" && docker compose up --build --detach)
  until ready; do sleep 1; done
  send register
  without_loss 0 deploy/roll.sh
  execute "$(commands $guide '### Other containers of Compose' | grep 'compose create')"
  until ready; do sleep 1; done
  send login
  without_loss 0 docker compose up --wait
done

echo '== the embedded profile, without a PostgreSQL password; backup and restore'
execute "$(sed -n "s/.*\`\(docker compose --profile '\*' down\)\`.*/\1/p" $guide)"
set_env COMPOSE_PROFILES embedded
set_env POSTGRES_PASSWORD ''
docker compose up --build --wait
ready
send register
execute "$(commands $guide '### The embedded database' | grep 'backup -')"
docker compose exec gateway-embedded bun -e 'new (await import("bun:sqlite")).Database("/data/latchkey.db").run("delete from users")'
new_key
execute "$(commands $guide '### The embedded database' | between 'stop gateway-embedded' 'up --wait')"
ready
send login
rm latchkey-backup.db

echo '== invalid settings are named, and nothing starts'
stop
rejected() {
  if docker compose up --detach; then exit 1; fi
  docker compose logs configuration | grep "$1"
  [ -z "$(docker compose ps --quiet)" ]
  stop
}
set_env COMPOSE_PROFILES production,embedded
rejected COMPOSE_PROFILES
set_env COMPOSE_PROFILES production
set_env POSTGRES_PASSWORD a%40b
rejected POSTGRES_PASSWORD
echo AUTH_SECRET_KEY= > gateway.env
rejected AUTH_SECRET_KEY
