#!/usr/bin/env bash
# Joins the images of all platforms, which image.sh has pushed, to IMAGE:VERSION and, unless it is a prerelease, IMAGE:latest.
# Writes the image with its digest to image.txt in FOLDER (dist-release).
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
  podman manifest add "$index" "docker://$image:$version-$architecture" > /dev/null
done
tags=("$version")
case $version in *-*) ;; *) tags+=(latest) ;; esac
for tag in "${tags[@]}"; do
  podman manifest push --all --format v2s2 "$index" "docker://$image:$tag"
done
digest=$(skopeo inspect --raw "docker://$image:$version" | sha256sum | cut -d ' ' -f 1)
echo "$image@sha256:$digest" | tee "$folder/image.txt"
printf 'name=%s\ndigest=sha256:%s\n' "$image" "$digest" >> "${GITHUB_OUTPUT:-/dev/null}"
