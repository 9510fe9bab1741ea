#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the tarball and the package for Debian: each has the whole command, which gives a verdict with nothing else of the tree and
# no program on PATH, the licence texts of what a portable build has within it, and nothing that only a compiler could use.  Without
# dpkg-shlibdeps and file there is no package for Debian to test.
#   release.sh BUILD CPACK [FOLDER]      FOLDER: where they are; otherwise they are packed first
set -u
build=$1 cpack=$2 folder=${3:+$(realpath "$3")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
within=""  # whose licence texts are packed: what a portable build has within its programs
if grep -q '^ASSAY_PORTABLE:BOOL=ON' "$build/CMakeCache.txt"; then
  within="libfmt-dev zlib1g-dev libcli11-dev nlohmann-json3-dev libeigen3-dev libjs-chart.js gcc-*-base GPL-3"
fi
fail() { echo "FAILED: $1"; [ ! -f "$log" ] || tail -20 "$log"; exit 1; }
command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null && debian=yes || debian=  # of which cpack asks both
if [ -z "$folder" ]; then
  folder=$work/packed
  "$cpack" --config "$build/CPackConfig.cmake" -G "TGZ${debian:+;DEB}" -B "$folder" >"$log" 2>&1 || fail "cpack"
fi

judges() { # judges ROOT WHAT: the files below ROOT are the whole command
  mkdir -p "$work/elsewhere" && cd "$work/elsewhere" || exit 2
  [ -f "$1/share/man/man1/validate.1" ] && [ -f "$1/share/doc/assay/LICENSE" ] && [ -f "$1/include/assay.h" ] || fail "$2 lacks files"
  [ -f "$1/bin/libassay_ptx.so" ] || fail "$2 lacks the machine"
  for name in $within; do compgen -G "$1/share/doc/assay/notices/$name.txt" >"$log" || fail "$2 lacks the licence text of $name"; done
  [ -z "$(find "$1" -name '*.a' -o -name '*.cmake' -o -name '*.hpp')" ] || fail "$2 has what needs a compiler"
  env -i PATH=/nowhere "$1/bin/validate" run --backend simt --op softmax --suite sanitize >"$log" 2>&1 || fail "$2 does not judge"
  judged=$(grep '^[1-9][0-9]* passed · 0 failed · 0 suspect' "$log") || fail "$2 judges nothing"
  echo "$2: $judged"
}
tarball=$(echo "$folder"/assay-*.tar.gz)
mkdir "$work/tarball" && tar -xzf "$tarball" -C "$work/tarball" >"$log" 2>&1 || fail "no tarball"
judges "$work/tarball/$(basename "$tarball" .tar.gz)" "${tarball##*/}"
[ -n "$debian" ] || { echo "dpkg-shlibdeps or file is missing, so no package for Debian was made (apt-get install -y dpkg-dev file)"; exit 0; }
package=$(echo "$folder"/assay_*.deb)
dpkg-deb -x "$package" "$work/debian" >"$log" 2>&1 || fail "no package for Debian"
judges "$work/debian/usr" "${package##*/}"
depends=$(dpkg-deb -f "$package" Depends)
[[ $depends =~ libc6\ \(\>=\ 2\.[0-9]+\) ]] || fail "the package for Debian does not say which glibc it needs: $depends"
echo "it depends on $depends"
