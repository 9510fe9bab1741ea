#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts the judge on trial with packed kernels of other hands: broken ones over smoke and edges, with the rules of other judges
# beside it, two seeds of random and the watch; sound ones over smoke, edges and two seeds of random.
#   run.sh [--pinned] FOLDER...     faults_1, ... faults_10, exploits, sound
# --pinned: by the tree of the commit that FOLDER.txt names, in a worktree of its own.  Without it by this tree, with which old
# kernels need not compile.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage() { echo "run.sh: $1; give one or more of faults_1, ... faults_10, exploits, sound" >&2; exit 2; }
pinned=
[ "${1-}" != --pinned ] || { pinned=yes; shift; }
[ $# -gt 0 ] || usage "no folder"
for folder in "$@"; do
  case $folder in faults_[1-9] | faults_10 | exploits | sound) ;; *) usage "no folder '$folder'" ;; esac
done
here=$PWD
source reports/trial/build.sh

# judged ARGUMENT...: judges the packed kernels.  Failures are results here (exit code 1); anything else ends the script.
judged() {
  local code=0 program=("$build/bin/validate" "$1" --set trial)
  [[ $(targets_of "$tree") != validate-trial ]] || program=("$build/bin/validate-trial" "$1")
  shift
  "${program[@]}" "$@" --backend simt >"$build/said.txt" 2>&1 || code=$?
  [ "$code" -le 1 ] || { cat "$build/said.txt" >&2; exit "$code"; }
}

for folder in "$@"; do
  tree=$here build=$here/build-trial/this
  if [ "$pinned" ]; then
    commit=$(sed -n 's/^# commit: //p' "reports/trial/$folder.txt")
    tree=$here/build-trial/$commit/tree build=$here/build-trial/$commit/build
    [ -d "$tree" ] || git worktree add -q --detach "$tree" "$commit"
  fi
  kernels=$(unpacked "$folder" ${pinned:+as_written})
  built "$kernels" "$tree" "$build"
  if [[ $folder = sound ]]; then
    names=$(find "$kernels" -name '*.cu' | sed 's|.*/||; s|[.]cu$||' | sort -u | paste -sd, -)
    for suite in "smoke 2026" "edges 2026" "random 501 --count=10" "random 502 --count=10"; do
      read -r name seed more <<<"$suite"
      judged run --kernel "$names" --suite "$name" --seed "$seed" ${more:+"$more"} --no-shrink
      echo "$folder, $name: $(tail -1 "$build/said.txt")"
      grep -E '^FAILED|SUSPECT' "$build/said.txt" | sort -u || true
    done
    # The rules of other judges, asked of the same kernels as if they were broken: whom they do not miss, they wrong.
    rm -rf "${kernels}_rules"
    for op in "$kernels"/*/; do
      mkdir -p "${kernels}_rules/$(basename "$op")"
      ln -s "$op/variants" "${kernels}_rules/$(basename "$op")/broken"
    done
    built "${kernels}_rules" "$tree" "$build"
    judged selfcheck --suite smoke --seed 2026 --policies --every-case
    grep -E ' misses ' "$build/said.txt" | sed 's/misses/passes/' || true
    echo "of $(find "$kernels" -name '*.cu' | wc -l) sound kernels"
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
