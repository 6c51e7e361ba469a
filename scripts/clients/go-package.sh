#!/usr/bin/env bash
# Checks the Go module of the last commit, and packs it into a folder.
#
#   scripts/clients/go-package.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-dist-release}
mkdir -p "$folder"
version=$(node -p 'require("./package.json").version')
(cd clients/go && go vet ./...)
git archive --format=tar.gz --prefix=caller-stats-go/ --output="$folder/caller-stats-go-$version.tar.gz" HEAD:clients/go
