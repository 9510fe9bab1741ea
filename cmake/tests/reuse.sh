#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A compiler launcher for a copy of the tree: takes the object of the original build if its source (all files of a unity unit) is
# the same, and compiles otherwise.  The caller must ensure that headers and flags are the same.
#   ASSAY_REUSE="SOURCE BUILD" reuse.sh COMPILER ... -o OBJECT -c FILE
set -u
read -r source build <<<"$ASSAY_REUSE"
output= input= deps= previous=
for word in "$@"; do
  case $previous in -o) output=$word ;; -c) input=$word ;; -MF) deps=$word ;; esac
  previous=$word
done
# same FILE OTHER: compares line by line; includes of a file in the copy match includes of the same file in the source.
same() {
  case $1 in */unity_*) ;; *) cmp -s "$1" "$2"; return ;; esac
  sed "s|\"$copy/|\"$source/|" "$1" | cmp -s - "$2" || return 1
  local file
  while read -r file; do cmp -s "$file" "$source/${file#"$copy"/}" || return 1; done < <(sed -n "s|^#include \"\($copy/.*\)\"|\1|p" "$1")
}
# The copy has its build folder inside: COPY/build/OBJECT, COPY/FILE.
if [ -n "$input" ] && [ -n "$output" ]; then
  copy_build=$PWD
  while [ ! -f "$copy_build/CMakeCache.txt" ] && [ "$copy_build" != / ]; do copy_build=$(dirname "$copy_build"); done
  copy=$(dirname "$copy_build")
  object=$(realpath -m "$output") object=$build/${object#"$copy_build"/}
  case $input in "$copy_build"/*) other=$build/${input#"$copy_build"/} ;; *) other=$source/${input#"$copy"/} ;; esac
  if [ -f "$object" ] && same "$input" "$other"; then
    [ -z "$deps" ] || printf '%s: %s\n' "$output" "$input" >"$deps"
    exec cp "$object" "$output"
  fi
fi
exec "$@"
