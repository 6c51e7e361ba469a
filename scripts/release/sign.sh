#!/usr/bin/env bash
# Signs the checksums and the image of a release with the identity of the workflow that runs this, by Sigstore, without a key.
#
#   scripts/release/sign.sh [FOLDER]
#
# The image is the one that image.txt names.
set -euo pipefail
cd "${1:-dist-release}"
cosign sign-blob --yes --bundle SHA256SUMS.sigstore.json SHA256SUMS
cosign sign --yes "$(cat image.txt)"
