#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that every header compiles on its own, included twice, with only the include paths of its room.
#   headers.sh SOURCE BUILD EIGEN COMPILER FLAGS...     checks the tree
#   headers.sh --self-test COMPILER                     checks that headers that are not self-contained are found
set -u

# check_one SOURCE BUILD EIGEN HEADER COMPILER FLAGS...: prints the errors of one header.
check_one() {
  local source=$1 build=$2 eigen=$3 header=$4 path=()
  shift 4
  local rooms=$build/rooms
  case $header in
    ops/*) path=(-I "$rooms/ops") ;;
    reference/tests/*)
      path=(-I "$rooms/ops" -I "$rooms/reference" -I "$rooms/validate" -I "$source/cmake/catch" -isystem "$eigen" '-DASSAY_DATASETS_DIR=""')
      ;;
    reference/*) path=(-I "$rooms/ops" -I "$rooms/reference" -isystem "$eigen" -Wno-unknown-pragmas) ;;
    cuda/*) path=(-I "$rooms/ops" -I "$rooms/cuda" -I "$source/simt" -Wno-unknown-pragmas) ;;
    validate/tests/hostile/*) path=(-I "$rooms/ops" -I "$rooms/cuda" -I "$rooms/validate" -I "$source/simt" -Wno-unknown-pragmas) ;;
    simt/tests/*) path=(-I "$source/simt" -I "$source/simt/tests" -I "$source/cmake/catch") ;;
    simt/*) path=(-I "$source/simt") ;;
    validate/tests/model/*)
      path=(-I "$rooms/ops" -I "$rooms/include" -I "$rooms/validate" -I "$rooms/reference" -I "$rooms/cuda" -I "$source/cmake/catch" '-DASSAY_DATASETS_DIR=""')
      ;;
    validate/backends/* | validate/bench/* | validate/report/* | validate/probe/* | validate/console/* | validate/command/* | validate/tests/*)
      path=(-I "$rooms/ops" -I "$rooms/include" -I "$rooms/validate" -I "$rooms/simt" -I "$rooms/cuda" -I "$source/cmake/catch" '-DASSAY_DATASETS_DIR=""')
      ;;
    validate/model/*) path=(-Wno-unknown-pragmas -I "$rooms/ops" -I "$rooms/include" -I "$rooms/validate" -I "$rooms/reference" -I "$rooms/cuda") ;;
    validate/*) path=(-Wno-unknown-pragmas -I "$rooms/ops" -I "$rooms/include" -I "$rooms/validate") ;;
  esac
  if ! printf '#include "%s"\n#include "%s"\n' "$source/$header" "$source/$header" |
    "$@" "${path[@]}" -std=c++20 -Wall -Wextra -Werror -Wno-missing-field-initializers -fsyntax-only -x c++ - 2>"$build/headers.$$.log"; then
    echo "$header does not stand alone:"
    grep -m 3 -E 'error|fatal' "$build/headers.$$.log"
  fi
  rm -f "$build/headers.$$.log"
}

if [ "$1" = --one ]; then
  shift
  out=$(check_one "$@")
  [ -z "$out" ] || { echo "$out"; exit 1; }
  exit 0
fi

if [ "$1" = --self-test ]; then
  shift
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/tree/ops" "$work/tree/reference" "$work/rooms/ops"
  ln -s "$work/tree/ops" "$work/rooms/ops/ops"
  printf '#pragma once\n#include <vector>\ninline std::vector<int> good;\n' >"$work/tree/ops/good.hpp"
  printf '#pragma once\ninline std::vector<int> leans;\n' >"$work/tree/ops/leans.hpp"
  printf 'inline int twice;\n' >"$work/tree/ops/twice.hpp"
  printf '#pragma once\n#include "reference/truth.hpp"\n' >"$work/tree/ops/sees_truth.hpp"
  printf '#pragma once\n' >"$work/tree/reference/truth.hpp"
  for planted in leans twice sees_truth; do
    [ -n "$(check_one "$work/tree" "$work" / "ops/$planted.hpp" "$@")" ] || { echo "ops/$planted.hpp was not found out"; exit 1; }
  done
  [ -z "$(check_one "$work/tree" "$work" / ops/good.hpp "$@")" ] || { echo "a sound header was objected to"; exit 1; }
  exit 0
fi

source=$1 build=$2 eigen=$3
shift 3
cd "$source" || exit 2
# Note: leaves out *_gpu.cuh, which needs nvcc, and cuda/core/vendor/cudnn_*.hpp, which need cuDNN's header.
find ops reference validate simt cuda include \( -name '*.hpp' -o -name '*.h' -o -name '*.cuh' \) ! -name '*_gpu.cuh' ! -name 'cudnn_*.hpp' |
  sort >"$build/headers.txt"
# Where no CUDA is installed, those that include its headers are left out too.
if ! echo '#include <cuda_runtime.h>' | "$1" -fsyntax-only -x c++ - 2>/dev/null; then
  xargs grep -LE '#include <(cuda|cupti|nvml)' <"$build/headers.txt" >"$build/headers.without_cuda.txt"
  mv "$build/headers.without_cuda.txt" "$build/headers.txt"
fi
[ -s "$build/headers.txt" ] || { echo "no headers in $source"; exit 2; }
# An empty FLAGS argument means no flags.
command=()
for word in "$@"; do [ -z "$word" ] || command+=("$word"); done
if ! xargs -P 2 -I HEADER bash "$0" --one "$source" "$build" "$eigen" HEADER "${command[@]}" <"$build/headers.txt"; then exit 1; fi
echo "$(wc -l <"$build/headers.txt") headers stand alone"
