#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a clone in another folder compiles to the same bytes, so that clones can share verdicts (cached.py): of a copy of the
# tree it compiles kernels and a part of the judge, and compares the objects with those of BUILD.
#   same_bytes.sh SOURCE BUILD CMAKE CMAKE_ARGUMENT...
set -u
source=$1 build=$2 cmake=$3
shift 3
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
log=$copy/log
fail() { echo "FAILED: $1"; [ ! -s "$log" ] || tail -20 "$log"; exit 1; }
cd "$source" || exit 2
tar -cf - --exclude='./build*' --exclude=./.git . | tar -xf - -C "$copy"
"$cmake" -G "Unix Makefiles" -S "$copy" -B "$copy/build" "$@" >"$log" 2>&1 || fail "the copy does not configure"
compared=0
for place in cuda/assay_kernels_simt/softmax validate/assay_validate/values; do
  IFS=/ read -r folder target what <<<"$place"
  object=$(cd "$build/$folder/CMakeFiles/$target.dir" && find . -name "*$what*.o" ! -name '*cmake_pch*' | sort | head -1)
  [ -n "$object" ] || fail "$build has no object of $place"
  object=$folder/CMakeFiles/$target.dir/${object#./}
  make -C "$copy/build" -f "$folder/CMakeFiles/$target.dir/build.make" "$object" >"$log" 2>&1 || fail "$place does not compile in the copy"
  cmp "$build/$object" "$copy/build/$object" || fail "$place differs in another folder"
  compared=$((compared + 1))
done
echo "$compared objects have the same bytes in another folder"
