#!/usr/bin/env bash
# Builds the image of a release for the platform of this machine, tries it, and saves it as FOLDER/image-PLATFORM.tar
# (dist-release). image-index.sh publishes it.
#
#   scripts/release/image.sh IMAGE VERSION [FOLDER]
#
# BUILD_OPTIONS and RUN_OPTIONS add options of podman, for machines that need some.
set -euo pipefail
cd "$(dirname "$0")/../.."
image=${1,,} version=${2#v} folder=${3:-dist-release}
architecture=$(podman version --format '{{.Client.OsArch}}' | cut -d / -f 2)
tag="$image:$version-$architecture"

base=$(grep '^FROM' deploy/Dockerfile | tail -n 1 | cut -d ' ' -f 2)
read -ra options <<< "${BUILD_OPTIONS:-}"
# The format is Docker's, because OCI has no health checks.
podman build "${options[@]}" --format docker --tag "$tag" \
  --label "org.opencontainers.image.version=$version" \
  --label "org.opencontainers.image.revision=$(git rev-parse HEAD)" \
  --label "org.opencontainers.image.source=${REPOSITORY_URL:-}" \
  --label "org.opencontainers.image.licenses=MIT" \
  --label "org.opencontainers.image.base.name=$base" \
  --file deploy/Dockerfile --ignorefile deploy/Dockerfile.dockerignore .
scripts/release/try-image.sh "$tag"
mkdir -p "$folder"
podman save --format docker-archive --output "$folder/image-$architecture.tar" "$tag"
