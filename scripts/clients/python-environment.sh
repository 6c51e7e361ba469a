#!/usr/bin/env bash
# Makes a virtual environment with the locked packages of clients/python/requirements.txt unless it has them, and prints its folder.
# CALLER_STATS_TEST_PYTHON chooses the Python, 3.10 or later.
set -euo pipefail
cd "$(dirname "$0")/../../clients/python"
python=${CALLER_STATS_TEST_PYTHON:-python3}
if ! "$python" -c 'import sys, venv, ensurepip; assert sys.version_info >= (3, 10)' 2> /dev/null; then
  echo "$python is not a Python of 3.10 or later with venv and pip. Install one (python3 and python3-venv in Debian), or set CALLER_STATS_TEST_PYTHON." >&2
  exit 1
fi
state="$("$python" --version) $(sha256sum < requirements.txt)"
if [ "$(cat .venv/state 2> /dev/null)" != "$state" ]; then
  rm -rf .venv
  "$python" -m venv .venv
  if ! .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.txt >&2; then
    echo "The packages of clients/python/requirements.txt cannot be installed: pip needs a registry, or a folder of wheels (PIP_FIND_LINKS)." >&2
    exit 1
  fi
  echo "$state" > .venv/state
fi
echo "$PWD/.venv"
