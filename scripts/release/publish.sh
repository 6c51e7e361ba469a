#!/usr/bin/env bash
# Creates the release of a tag with its notes and all files of a folder.
#
#   scripts/release/publish.sh VERSION NOTES [FOLDER]
#
# NOTES is a file outside of the folder. REPOSITORY_URL is the address of the repository, and GH_TOKEN lets `gh` create the release.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=${1#v} notes=$2 folder=${3:-dist-release}
options=(--title "$version" --notes-file "$notes" --verify-tag)
case $version in *-*) options+=(--prerelease) ;; esac
gh release create "v$version" "${options[@]}" "$folder"/*
