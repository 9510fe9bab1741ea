#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that files have no more lines, and folders of validate/ no more files, than CONTRIBUTING.md allows.
#   sizes.sh SOURCE           checks the tree
#   sizes.sh --self-test      checks that what is too large is found, and nothing else
set -uo pipefail

too_large() {
  cd "$1" || exit 2
  find ops reference cuda simt validate -type f | sort | while read -r file; do
    case $file in
      *.hpp) most=220 ;;
      *.cpp) most=500 ;;
      *.cu | *.cuh) most=450 ;;
      *) continue ;;
    esac
    lines=$(wc -l <"$file")
    [ "$lines" -le "$most" ] || echo "$file has $lines lines, at most $most"
  done
  # These folders have one file per op or per hostile kernel, so they may grow.
  find validate -type d ! -path validate/ops ! -path '*/corpus*' ! -path 'validate/tests/hostile/*' | sort | while read -r folder; do
    files=$(find "$folder" -maxdepth 1 -type f | wc -l)
    [ "$files" -le 25 ] || echo "$folder holds $files files, at most 25"
  done
}

if [ "$1" != --self-test ]; then
  found=$(too_large "$1")
  [ -z "$found" ] && echo "no file and no folder is too large" && exit 0
  echo "$found"
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{ops,reference,cuda/a,simt,validate/{ops,judge,tests}}
lines() { yes '//' | head -n "$1" >"$work/$2"; }
lines 220 ops/a.hpp; lines 500 simt/a.cpp; lines 450 cuda/a/a.cu
for i in $(seq 25); do : >"$work/validate/judge/$i.cpp"; done
for i in $(seq 40); do : >"$work/validate/ops/$i.cpp"; done
[ -z "$(too_large "$work")" ] || { echo "a false alarm: $(too_large "$work")"; exit 1; }
lines 221 ops/b.hpp; lines 501 simt/b.cpp; lines 451 cuda/a/b.cuh
: >"$work/validate/judge/26.hpp"
expected="cuda/a/b.cuh ops/b.hpp simt/b.cpp validate/judge"
found=$(too_large "$work" | cut -d' ' -f1 | tr '\n' ' ')
[ "$found" = "$expected " ] || { echo "found $found, not $expected"; exit 1; }
echo "4 planted, all found, no false alarm"
