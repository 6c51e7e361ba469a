#!/usr/bin/env bash
# Pushes the images of all platforms, which image.sh has saved in FOLDER (dist-release), and removes them from it. Joins them by
# their digests to IMAGE:VERSION and, unless it is a prerelease, IMAGE:latest. Writes the image with its digest to image.txt in
# FOLDER: nothing is read back from the registry by a tag, which others might move.
#
#   scripts/release/image-index.sh IMAGE VERSION [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
image=${1,,} version=${2#v} folder=${3:-dist-release}
mkdir -p "$folder"
scripts/release/registry-login.sh "$image"
index=caller-stats-index
podman manifest rm "$index" > /dev/null 2>&1 || true
podman manifest create "$index" > /dev/null
for architecture in amd64 arm64; do
  archive="$folder/image-$architecture.tar"
  skopeo copy --digestfile "$archive.digest" "docker-archive:$archive" "docker://$image:$version-$architecture"
  podman manifest add "$index" "docker://$image@$(cat "$archive.digest")" > /dev/null
  rm "$archive" "$archive.digest"
done
tags=("$version")
case $version in *-*) ;; *) tags+=(latest) ;; esac
for tag in "${tags[@]}"; do
  podman manifest push --all --format v2s2 --digestfile "$folder/image.txt" "$index" "docker://$image:$tag"
done
digest=$(cat "$folder/image.txt")
echo "$image@$digest" | tee "$folder/image.txt"
printf 'name=%s\ndigest=%s\n' "$image" "$digest" >> "${GITHUB_OUTPUT:-/dev/null}"
