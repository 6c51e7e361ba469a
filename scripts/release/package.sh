#!/usr/bin/env bash
# Puts what is the same on every platform into a folder: the packages of server and client, the bills of materials, the docs.
#
#   scripts/release/package.sh [FOLDER]
#
# It packs what `npm run build` has built. REPOSITORY_URL, if set, becomes the repository of the packages, which npm compares
# with the workflow that publishes them.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-dist-release}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
version=$(node -p 'require("./package.json").version')

for package in . clients/javascript; do
  # npm packs a copy, so that this clone keeps its package.json.
  copy=$(mktemp -d)
  npm pack --ignore-scripts --silent --pack-destination "$copy" "./$package" > /dev/null
  tar -xzf "$copy"/*.tgz -C "$copy"
  if [ -n "${REPOSITORY_URL:-}" ]; then
    npm pkg set --prefix "$copy/package" repository.type=git "repository.url=git+$REPOSITORY_URL.git"
    if [ "$package" != . ]; then npm pkg set --prefix "$copy/package" "repository.directory=$package"; fi
  fi
  # What users import must be there in every way that tools look for it. The server has nothing to import.
  if [ "$package" != . ]; then npx --no-install publint run --strict "$copy/package"; fi
  npm pack --ignore-scripts --silent --pack-destination "$folder" "$copy/package"
  rm -r "$copy"
done

cp dist/sbom.json "$folder/caller-stats-$version.sbom.json"
node --import tsx scripts/release/client-bills.ts "$folder"
# The site for the address /docs of any web server.
tar -czf "$folder/caller-stats-docs-$version.tgz" -C dist docs
ls -l "$folder"
