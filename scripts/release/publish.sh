#!/usr/bin/env bash
# Creates the release of a tag with its notes and all files of a folder.
#
#   scripts/release/publish.sh VERSION [FOLDER]
#
# REPOSITORY_URL is the address of the repository, and GH_TOKEN lets `gh` create the release.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=${1#v} folder=${2:-dist-release}
options=(--title "$version" --notes-file "$folder/NOTES.md" --verify-tag)
case $version in *-*) options+=(--prerelease) ;; esac
gh release create "v$version" "${options[@]}" "$folder"/*
