#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs missing build packages if run as root on a machine with apt; otherwise prints the command that installs them and
# exits with 2.  Arguments: additional packages.
set -eu

missing=""
wished=""  # optional packages: without them a test is skipped, or reports have no charts
need() { # need PACKAGE SIGN...: a SIGN is a command or file that shows that the package is installed, from any source
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

# If CMAKE_PREFIX_PATH is set, CMake looks for the libraries and names missing ones.
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
library zlib1g-dev /usr/include/zlib.h /usr/local/include/zlib.h
[ -e /usr/share/javascript/chart.js ] || [ -e /usr/share/nodejs/chart.js ] || wished="$wished libjs-chart.js"
for extra in "$@"; do
  case $extra in
    catch2) library catch2 /usr/include/catch2/catch.hpp /usr/include/catch2/catch_all.hpp /usr/local/include/catch2/catch_all.hpp ;;
    black | clang-format-14) command -v "$extra" >/dev/null 2>&1 || wished="$wished $extra" ;;
    python3-pytest)
      python3 -c 'import pytest' 2>/dev/null || /usr/bin/python3 -c 'import pytest' 2>/dev/null || wished="$wished $extra"
      ;;
    python3-pip) python3 -c 'import pip' 2>/dev/null || need "$extra" "$extra" ;;
    dpkg-dev) need "$extra" dpkg-shlibdeps ;;
    libonnx-testdata) [ -e /usr/share/libonnx-testdata ] || wished="$wished $extra" ;;
    *) need "$extra" "$extra" ;;
  esac
done

does_without() { # ends the script where only optional packages are missing
  case $wished in
    *python3-pytest*) echo "assay: pytest is missing, so the tests that need it are skipped. Install it with:  sudo apt-get install -y python3-pytest" >&2 ;;
  esac
  exit 0
}

[ -n "$missing$wished" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1; then
  [ -n "$missing" ] || does_without
  echo "assay: these packages (by their Debian names) are missing:$missing" >&2
  exit 2
fi
if [ "$(id -u)" != 0 ]; then
  [ -n "$missing" ] || does_without
  echo "assay: packages are missing. Run:  sudo apt-get install -y$missing$wished" >&2
  exit 2
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
  echo "assay: installing$*"
  # shellcheck disable=SC2068
  { DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $@ ||
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $@; }; } >"$log" 2>&1
}
if [ -n "$missing" ] && ! install "$missing"; then
  tail -n 20 "$log" >&2
  echo "assay: apt-get could not install$missing" >&2
  exit 2
fi
for package in $wished; do
  install " $package" || echo "assay: apt-get could not install $package; the build does without, and tests that need it are skipped" >&2
done
