#!/usr/bin/env bash
# Runs an image as docs/guides/run/install.md says, without a writable root and without capabilities, and checks that it
# becomes healthy, counts, and stops.
#
#   scripts/release/try-image.sh IMAGE
#
# RUN_OPTIONS adds options of podman.
set -euo pipefail
image=$1
read -ra options <<< "${RUN_OPTIONS:-}"
podman=(podman "${options[@]}")
container=$("${podman[@]}" run --detach --read-only --cap-drop ALL --security-opt no-new-privileges --network host \
  --env HOST=127.0.0.1 --env PORT=4999 --volume /data "$image" serve --demo)
trap '"${podman[@]}" rm --force --volumes "$container" > /dev/null' EXIT
inside() { "${podman[@]}" exec "$container" "$@"; }

# The check of the image itself, and the database.
for _ in $(seq 60); do
  if "${podman[@]}" healthcheck run "$container" > /dev/null 2>&1; then break; fi
  sleep 1
done
"${podman[@]}" healthcheck run "$container"
test "$(curl --silent --output /dev/null --write-out '%{http_code}' http://127.0.0.1:4999/readyz)" = 200

test "$(inside id -u)" = 1000
if inside touch /opt/caller-stats/file 2> /dev/null; then echo "the root is writable"; exit 1; fi
inside test -f /data/caller-stats.db.secret
test "$(inside stat -c %a /data/caller-stats.db.secret)" = 600
# The sample data, which docs/tutorial.md counts as well.
test "$(inside caller-stats stats demo --json | tr -d ' \n' | grep -o '"total":[0-9]*')" = '"total":30269'
curl --silent --fail http://127.0.0.1:4999/docs > /dev/null

"${podman[@]}" stop --time 35 "$container" > /dev/null
test "$("${podman[@]}" inspect --format '{{.State.ExitCode}}' "$container")" = 0
echo "$image: healthy, read-only, counts, and stops"
