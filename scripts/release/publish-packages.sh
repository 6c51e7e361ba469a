#!/usr/bin/env bash
# Publishes the packages of a release with their provenance. Prereleases get the tag `next` instead of `latest`.
# A package that has this version already is left alone, so that a failed release can be repeated.
#
#   scripts/release/publish-packages.sh VERSION [FOLDER]
#
# NODE_AUTH_TOKEN is needed only until npm trusts the workflow: CONTRIBUTING.md, "Releases".
set -euo pipefail
version=${1#v}
cd "${2:-dist-release}"
tag=latest
case $version in *-*) tag=next ;; esac
if [ -n "${NODE_AUTH_TOKEN:-}" ]; then
  registry=$(npm config get registry)
  # npm reads the variable itself, so that the file does not contain it.
  npm config set --location project "//${registry#*//}:_authToken" "\${NODE_AUTH_TOKEN}"
  trap 'rm -f .npmrc' EXIT
fi
read -ra options <<< "${PUBLISH_OPTIONS---provenance}"
for name in caller-stats-client caller-stats; do
  if npm view "$name@$version" version > found 2> /dev/null && [ -s found ]; then
    echo "$name@$version is published already"
  else
    npm publish "./$name-$version.tgz" --access public --tag "$tag" "${options[@]}"
  fi
  rm found
done
