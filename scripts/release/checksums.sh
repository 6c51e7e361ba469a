#!/usr/bin/env bash
# Writes SHA256SUMS into a folder, with all other files of it. `sha256sum --check SHA256SUMS` verifies them.
#
#   scripts/release/checksums.sh [FOLDER]
set -euo pipefail
export LC_ALL=C
cd "${1:-dist-release}"
files=()
for file in *; do
  case $file in SHA256SUMS*) ;; *) if [ -f "$file" ]; then files+=("$file"); fi ;; esac
done
if [ ${#files[@]} = 0 ]; then echo "There are no files."; exit 1; fi
sha256sum "${files[@]}" > SHA256SUMS
cat SHA256SUMS
