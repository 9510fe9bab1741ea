#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts the judge on trial with folders of kernels by other hands: broken ones over smoke and edges, with the rules of other judges
# beside it, two seeds of random and the watch; sound ones over smoke, edges and two seeds of random.
#   run.sh FOLDER...     faults_1, ... faults_7, exploits, sound, sound_2
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage() { echo "run.sh: $1; give one or more of faults_1, ... faults_7, exploits, sound, sound_2" >&2; exit 2; }
[ $# -gt 0 ] || usage "no folder"
for folder in "$@"; do
  case $folder in faults_[1-7] | exploits | sound | sound_2) ;; *) usage "no folder '$folder'" ;; esac
done

# judged ARGUMENT...: runs validate-trial.  Failures are results here (exit code 1); anything else ends the script.
judged() {
  local code=0
  "$build/bin/validate-trial" "$@" --backend simt >"$build/said.txt" 2>&1 || code=$?
  [ "$code" -le 1 ] || { cat "$build/said.txt" >&2; exit "$code"; }
}

# built FOLDER: builds validate-trial with the folder's kernels in $build.
built() {
  mkdir -p "$build"
  { cmake -S . -B "$build" --log-level=WARNING -DASSAY_UNITY=ON -DASSAY_TESTS=ON -DASSAY_TRIAL="$1" &&
    cmake --build "$build" -j "$(nproc)" --target validate-trial; } >"$build/built.txt" 2>&1 ||
    { tail -30 "$build/built.txt" >&2; exit 1; }
}

for folder in "$@"; do
  build=build-trial/$folder
  built "reports/trial/$folder"
  if [[ $folder = sound* ]]; then
    names=$(find "reports/trial/$folder" -name '*.cu' | sed 's|.*/||; s|[.]cu$||' | sort -u | paste -sd, -)
    for suite in "smoke 2026" "edges 2026" "random 501 --count=10" "random 502 --count=10"; do
      read -r name seed more <<<"$suite"
      judged run --kernel "$names" --suite "$name" --seed "$seed" ${more:+"$more"} --no-shrink
      echo "$folder, $name: $(tail -1 "$build/said.txt")"
      grep -E '^FAILED|SUSPECT' "$build/said.txt" | sort -u || true
    done
    # The rules of other judges, asked of the same kernels as if they were broken: whom they do not miss, they wrong.
    build=build-trial/${folder}_rules
    for op in "reports/trial/$folder"/*/; do
      mkdir -p "$build/kernels/$(basename "$op")"
      ln -sfn "$PWD/$op/variants" "$build/kernels/$(basename "$op")/broken"
    done
    built "$PWD/$build/kernels"
    judged selfcheck --suite smoke --seed 2026 --policies --every-case
    grep -E ' misses ' "$build/said.txt" | sed 's/misses/passes/' || true
    echo "of $(find "reports/trial/$folder" -name '*.cu' | wc -l) sound kernels"
  else
    for suite in "smoke 2026 --policies" "edges 2026" "random 101 --count=30" "random 102 --count=30" "watch 2026 --watch"; do
      read -r name seed more <<<"$suite"
      judged selfcheck --suite "$name" --seed "$seed" ${more:+"$more"}
      echo "$folder, $name: $(tail -1 "$build/said.txt")"
      grep -E ' misses ' "$build/said.txt" || true
      grep -B1 MISSED "$build/said.txt" | awk '/·/ {print "  missed: " $1}' || true
    done
  fi
done
