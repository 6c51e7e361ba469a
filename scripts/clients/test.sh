#!/usr/bin/env bash
# Tests the clients that are not JavaScript with a real server: `npm run test:clients`. Needs Python 3.10 or later, and Go 1.25 or
# later with a C compiler.
set -euo pipefail
cd "$(dirname "$0")/../.."
node --import tsx scripts/build-changed.ts
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
status=0
scripts/clients/go.sh > "$logs/go" 2>&1 || status=$?
if [ "$status" != 0 ]; then
  cat "$logs/go"
  exit 1
fi
ran=$(grep -c '^--- PASS: ' "$logs/go") failed=0
bin=$(scripts/clients/python-environment.sh)/bin
scripts/clients/python-package.sh "$logs/package"
"$bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-index --force-reinstall "$logs"/package/*.whl
cd clients/python
"$bin/ruff" check --quiet .
"$bin/ruff" format --check --quiet .
"$bin/mypy"
# As two processes, because much of a test is waiting. The tests import what is installed.
groups=("tests.test_ends tests.test_spool tests.test_troubles tests.test_middleware" "tests.test_servers tests.test_vectors tests.test_reader tests.test_docs tests.test_mcp tests.test_tables tests.test_export tests.test_generated")
runs=()
for group in "${groups[@]}"; do
  # shellcheck disable=SC2086
  timeout 600 "$bin/python" -W error::ResourceWarning -m unittest $group > "$logs/${#runs[@]}" 2>&1 &
  runs+=($!)
done
for at in "${!runs[@]}"; do
  status=0
  wait "${runs[$at]}" || status=$?
  cat "$logs/$at"
  wrong=$(grep -cE '^(FAIL|ERROR): ' "$logs/$at" || true)
  if [ "$status" != 0 ] && [ "$wrong" = 0 ]; then wrong=1; fi
  ran=$((ran + $(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' "$logs/$at")))
  failed=$((failed + wrong))
done
echo "$((ran - failed)) passed, $failed failed"
[ "$failed" = 0 ]
