#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sees to the packages that a build needs: installs what is missing when run as root on a machine with apt, otherwise
# prints the one line that mends it and exits with 2. Arguments: packages beyond the usual ones.
set -eu

missing=""
need() { # package, then a command or a header that shows it is there by whatever way it came
  package=$1
  shift
  for sign in "$@"; do
    case $sign in
      /*) [ -e "$sign" ] && return 0 ;;
      *) command -v "$sign" >/dev/null 2>&1 && return 0 ;;
    esac
  done
  command -v dpkg-query >/dev/null 2>&1 && dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' && return 0
  missing="$missing $package"
}

# A library that CMake can find elsewhere (CMAKE_PREFIX_PATH is set) is left to CMake, which names what it misses.
library() {
  [ -n "${CMAKE_PREFIX_PATH:-}" ] || need "$@"
}

need g++ "${CXX:-g++}"
need cmake cmake
need make make
library libeigen3-dev /usr/include/eigen3/Eigen/Core /usr/local/include/eigen3/Eigen/Core
library libfmt-dev /usr/include/fmt/format.h /usr/local/include/fmt/format.h
library libcli11-dev /usr/include/CLI/CLI.hpp /usr/local/include/CLI/CLI.hpp
library nlohmann-json3-dev /usr/include/nlohmann/json.hpp /usr/local/include/nlohmann/json.hpp
for extra in "$@"; do
  case $extra in
    catch2) library catch2 /usr/include/catch2/catch.hpp /usr/include/catch2/catch_all.hpp /usr/local/include/catch2/catch_all.hpp ;;
    *) need "$extra" "$extra" ;;
  esac
done

[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1; then
  echo "assay: these packages (by their Debian names) are missing:$missing" >&2
  exit 2
fi
if [ "$(id -u)" != 0 ]; then
  echo "assay: packages are missing. Run:  sudo apt-get install -y$missing" >&2
  exit 2
fi
echo "assay: installing$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086
if ! { DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing ||
  { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing; }; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "assay: apt-get could not install$missing" >&2
  exit 2
fi
