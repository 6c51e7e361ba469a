#!/usr/bin/env bash
# Installs the Debian packages that `npm run test:browsers` needs and the machine lacks, as root or in CI. Otherwise names them and fails.
set -euo pipefail
packages=()
command -v firefox-esr firefox > /dev/null || packages+=(firefox-esr)
command -v WebKitWebDriver > /dev/null || packages+=(webkit2gtk-driver)
command -v Xvfb > /dev/null || packages+=(xvfb)
command -v pdftotext > /dev/null || packages+=(poppler-utils)
if [ ${#packages[@]} = 0 ]; then exit; fi
root=(env)
if [ "$(id -u)" != 0 ]; then root=(sudo --non-interactive); fi
if ! command -v apt-get > /dev/null || { [ "$(id -u)" != 0 ] && [ -z "${CI:-}" ]; }; then
  echo "The tests in Firefox and WebKitGTK need packages that this machine lacks: apt-get install ${packages[*]}" >&2
  exit 1
fi
"${root[@]}" apt-get update -qq
"${root[@]}" apt-get install -qq --yes --no-install-recommends "${packages[@]}" > /dev/null
