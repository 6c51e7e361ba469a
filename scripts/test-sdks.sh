#!/usr/bin/env bash
# Runs real packages of JavaScript, Python, Go and Java against a server, and writes docs/engineering/sdks.md; and a real Collector. `npm run test:sdks -- quick` runs the
# part that CI does, with Python alone, and writes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
run=${1:-all}
tools=("${CALLER_STATS_TEST_PYTHON:-python3}")
if [ "$run" = all ]; then tools+=(go java mvn); fi
for tool in "${tools[@]}"; do
  if ! command -v "$tool" > /dev/null; then
    echo "$tool is missing. Install Python 3.10 or later with venv and pip and, for the whole run, Go 1.26 or later, Java 17 or later and Maven." >&2
    exit 1
  fi
done
files=(test/sdks/services)
# Compiling the Collector takes nine minutes the first time.
if [ "$run" = all ]; then files+=(test/sdks/collector); fi
CALLER_STATS_TEST_DEEP=1 CALLER_STATS_TEST_SDKS=$run npx vitest run --project whole "${files[@]}"
