#!/usr/bin/env bash
# Signs in to the registry of an image as REGISTRY_USER, if there is a REGISTRY_TOKEN. podman, skopeo and cosign read the file.
#
#   scripts/release/registry-login.sh IMAGE
set -euo pipefail
if [ -z "${REGISTRY_TOKEN:-}" ]; then exit 0; fi
mkdir -p "$HOME/.docker"
podman login --authfile "$HOME/.docker/config.json" --username "$REGISTRY_USER" --password-stdin "${1%%/*}" <<< "$REGISTRY_TOKEN"
