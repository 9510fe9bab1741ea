#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks the libraries that a build for AArch64 links (cmake/aarch64.cmake) into a folder: fmt and zlib, of this machine's Debian.
#   cmake/aarch64_libraries.sh FOLDER
# Note: apt gets state of its own below FOLDER, so this needs no root and leaves the machine as it was.
set -eu
[ $# = 1 ] || { echo "aarch64_libraries.sh: give the folder that the libraries go to" >&2; exit 2; }
for program in apt-get dpkg-deb; do
  command -v "$program" >/dev/null 2>&1 || { echo "aarch64_libraries.sh: $program is missing" >&2; exit 2; }
done
mkdir -p "$1"
folder=$(cd "$1" && pwd)
apt=$folder/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"
of_apt() {
  apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User="$(id -un)" -o Dir::State::Lists="$apt/lists" \
    -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" "$@"
}
cd "$apt"
if ! { of_apt update && of_apt download libfmt-dev libfmt9 zlib1g-dev zlib1g; } >"$apt/log" 2>&1; then
  tail -n 5 "$apt/log" >&2
  echo "aarch64_libraries.sh: apt-get could not download the libraries" >&2
  exit 2
fi
for package in ./*.deb; do dpkg-deb -x "$package" "$folder"; done
# zlib's library belongs in /lib, and the name that a linker looks for has that path: both into one folder.
mv "$folder"/lib/aarch64-linux-gnu/* "$folder/usr/lib/aarch64-linux-gnu/"
ln -sf libz.so.1 "$folder/usr/lib/aarch64-linux-gnu/libz.so"
rm -r "$apt"
