#!/usr/bin/env bash
# Installs the package of the server that package.sh made into an empty folder, and runs it there.
#
#   scripts/release/try-package.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-dist-release}
version=$(node -p 'require("./package.json").version')
rm -rf dist-try
mkdir dist-try
npm install --prefix dist-try --no-audit --no-fund "$folder/caller-stats-$version.tgz"
npx tsx scripts/release/try.ts node dist-try/node_modules/caller-stats/dist/main.js
rm -r dist-try
