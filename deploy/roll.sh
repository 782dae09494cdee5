#!/bin/sh
# Replaces all replicas of the profile `production` without an outage, and applies .env and gateway.env: `sh deploy/roll.sh`.
# With `--no-build`, it does not build the image. The old replicas stop only after all new ones are ready. If a step fails, and
# at Ctrl-C, it removes the new replicas, and the old ones keep serving.
set -eu
cd "$(dirname "$0")/.."

# The number of servers in deploy/haproxy/haproxy.cfg.
max_replicas=20
ready_seconds=120

say() { printf '%s\n' "roll.sh: $*" >&2; }
fail() {
  say "$*"
  exit 1
}

# Includes those that have exited, but not those of `docker compose run`.
list() {
  docker ps --all --quiet --no-trunc --filter "label=com.docker.compose.project=$project" \
    --filter label=com.docker.compose.service=gateway --filter label=com.docker.compose.oneoff=False
}
list_new() { list | grep -Fxv -e "$old" || true; }

# Without the proxies that Docker can pass to containers.
is_ready() {
  docker exec --env NO_PROXY=127.0.0.1 --env no_proxy=127.0.0.1 "$1" bun -e \
    'process.exit((await fetch(`http://127.0.0.1:${process.env.PORT}/readyz`)).ok ? 0 : 1)' 2> /dev/null
}

# Once the old replicas are known, $image is theirs: a later `docker compose up` must start no other one.
keep_old() {
  if [ -n "$image" ]; then docker tag "$image" latchkey || say "Run: docker tag $image latchkey"; fi
  new=$([ -z "$old" ] || list_new | tr '\n' ' ')
  # The ids are words.
  # shellcheck disable=SC2086
  if [ -n "$new" ] && ! { docker stop -t 25 $new && docker rm $new; } > /dev/null; then
    say "Remove the new replicas: docker rm --force $new"
  fi
  say "Failed: $step. The old replicas keep serving."
}

finish() {
  status=$?
  trap '' HUP INT TERM
  if [ "$status" -ne 0 ] && [ "$step" = 'stop the old replicas' ]; then
    say "Failed: $step. The new replicas serve. Run: docker stop -t 25 $ids; docker rm $ids"
  elif [ "$status" -ne 0 ]; then
    keep_old
  fi
  # Unlocks, and waits until the container is removed.
  exec 3>&-
  [ -z "$holder" ] || wait "$holder" || true
  rm -r "$pipes"
  exit "$status"
}

old='' image='' holder='' step='read docker-compose.yml'
pipes=$(mktemp -d)
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

config=$(docker compose config)
project=$(printf '%s\n' "$config" | sed -n 's/^name: //p')
replicas=$(printf '%s\n' "$config" | sed -n 's/^ *replicas: //p')
[ "${replicas:-0}" -gt 0 ] || fail 'COMPOSE_PROFILES must be production, and GATEWAY_REPLICAS at least 1.'
[ -n "$(list)" ] || fail 'No replica exists. Run: docker compose up --build --wait'

step='lock'
# Only one container can have a name. This one ends with its input: when all processes of this run have ended, also after kill -9.
running=$(docker inspect --format '{{.Image}}' "$(list | head -n 1)")
mkfifo "$pipes/in" "$pipes/out"
exec 3<> "$pipes/in" 4<> "$pipes/out"
{
  docker run --interactive --rm --name "$project-roll" --network none --no-healthcheck --label com.docker.compose.project= \
    "$running" sh -c 'echo locked && cat' || echo
} < "$pipes/in" >&4 3>&- &
holder=$!
read -r state <&4
[ "$state" = locked ] || fail 'Another run is in progress.'

step='count the replicas'
old=$(list)
ids=$(printf '%s' "$old" | tr '\n' ' ')
total=$((replicas + $(printf '%s\n' "$old" | wc -l)))
[ "$total" -le "$max_replicas" ] || fail "$total replicas would run at once, but at most $max_replicas can."
image=$(docker inspect --format '{{.Image}}' "${ids%% *}")

if [ "${1:-}" != --no-build ]; then
  step='build the image'
  docker compose build gateway
fi
step='check the settings'
status=0
docker compose up --no-deps --force-recreate --exit-code-from configuration configuration > /dev/null || status=$?
# Its errors and warnings.
docker compose logs --no-log-prefix configuration > /dev/null
[ "$status" -eq 0 ] || exit "$status"
step='migrate the database'
docker compose run --rm --no-deps -T gateway bun apps/admin/src/main.ts migrate

step='start the new replicas'
known=$old
for count in $(seq $((total - replicas + 1)) "$total"); do
  # One at a time: the balancer of 1.0.0 sends requests to a replica that does not listen yet, then to another one, but not to a third.
  # With --no-deps, Compose would create replicas that the next `docker compose up` replaces.
  docker compose up --detach --no-recreate --scale "gateway=$count" gateway
  id=$(list | grep -Fxv -e "$known" || true)
  [ "$(printf '%s\n' "$id" | wc -w)" -eq 1 ] || fail "Not one new replica, but: $id"
  known=$(printf '%s\n' "$known" "$id")
  seconds=0
  until is_ready "$id"; do
    seconds=$((seconds + 1))
    state=$(docker inspect --format '{{.State.Running}} {{.RestartCount}}' "$id")
    if [ "$state" != 'true 0' ] || [ "$seconds" -gt "$ready_seconds" ]; then
      docker logs --tail 20 "$id" >&2
      fail "The replica $id is not ready."
    fi
    sleep 1
  done
done
# The balancer checks each replica once a second.
sleep 2
[ "$image" = "$(docker image inspect --format '{{.Id}}' latchkey)" ] || docker tag "$image" latchkey:previous

step='stop the old replicas'
# shellcheck disable=SC2086
docker stop -t 25 $ids > /dev/null
# shellcheck disable=SC2086
docker rm $ids > /dev/null
say "$replicas new replicas serve."
