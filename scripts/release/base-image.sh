#!/usr/bin/env bash
# Prints the base image of deploy/Dockerfile with the digest that its registry has for it now, such as node@sha256:….
# The digest is that of all platforms together, so that every build of a release begins with the same contents.
#
#   scripts/release/base-image.sh [IMAGE]
set -euo pipefail
cd "$(dirname "$0")/../.."
base=${1:-docker.io/library/$(sed -n 's/^ARG NODE_IMAGE=//p' deploy/Dockerfile)}
digest=$(skopeo inspect --raw "docker://$base" | sha256sum | cut -d ' ' -f 1)
echo "${base%:*}@sha256:$digest"
echo "image=${base%:*}@sha256:$digest" >> "${GITHUB_OUTPUT:-/dev/null}"
