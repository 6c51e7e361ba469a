#!/usr/bin/env bash
# Makes the executable for this platform, runs it, and packs it with its licenses and the files of services.
#
#   scripts/release/binary.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-dist-release}
mkdir -p "$folder"
version=$(node -p 'require("./package.json").version')
platform=$(node -p 'process.platform + "-" + process.arch')
program=caller-stats
if [ "${platform%%-*}" = win32 ]; then program=caller-stats.exe; fi

npm run binary
npx tsx scripts/release/try.ts "dist-binary/$program"

name=caller-stats-$platform-$version
rm -rf "dist-binary/$name"
mkdir "dist-binary/$name"
cp "dist-binary/$program" LICENSE dist-binary/LICENSE-node dist/third-party-licenses.md deploy/caller-stats* "dist-binary/$name"
tar -czf "$folder/$name.tgz" -C dist-binary "$name"
rm -r "dist-binary/$name"
ls -l "$folder"
