#!/usr/bin/env bash
# Checks and tests clients/go on real servers. Needs Go 1.25 or later, and a C compiler for its detector of races.
set -euo pipefail
cd "$(dirname "$0")/../../clients/go"
version=$(go env GOVERSION 2> /dev/null || true)
case "$version" in
  go1.2[5-9]* | go1.[3-9]*) ;;
  *)
    echo "go is ${version:-missing}. Install Go 1.25 or later (go.dev/dl)." >&2
    exit 1
    ;;
esac
if ! command -v "$(go env CC)" > /dev/null; then
  echo "The detector of races needs a C compiler. Install one (gcc in Debian), or name it in CC." >&2
  exit 1
fi
unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
  echo "Run gofmt -w on: $unformatted" >&2
  exit 1
fi
for system in "$(go env GOOS)" darwin windows; do GOOS=$system go vet ./...; done
go test -race -count=1 -timeout 15m -v ./...
