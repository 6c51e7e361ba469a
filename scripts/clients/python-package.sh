#!/usr/bin/env bash
# Builds the wheel and the source distribution of clients/python into a folder, and checks them.
#
#   scripts/clients/python-package.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-dist-release}
mkdir -p "$folder"
python=$(scripts/clients/python-environment.sh)/bin/python
"$python" -m build --no-isolation --outdir "$folder" clients/python > /dev/null
"$python" -m twine check --strict "$folder"/caller_stats-*
