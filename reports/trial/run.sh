#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts the judge on trial with folders of kernels that it has not met: broken ones over smoke and edges, with the rules of other
# judges beside it; sound ones over smoke, edges and two seeds of random.
#   run.sh FOLDER...     faults_1, faults_2, exploits, sound
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for folder in "$@"; do
  [ -d "reports/trial/$folder" ] || { echo "run.sh: reports/trial/ has no folder '$folder'" >&2; exit 2; }
  build=build-trial/$folder
  cmake -S . -B "$build" --log-level=WARNING -DASSAY_UNITY=ON -DASSAY_TESTS=ON -DASSAY_TRIAL="reports/trial/$folder" >/dev/null
  cmake --build "$build" -j "$(nproc)" --target validate-trial >/dev/null
  echo "== $folder"
  if [ "$folder" = sound ]; then
    names=$(find reports/trial/sound -name '*.cu' | sed 's|.*/||; s|[.]cu$||' | sort -u | paste -sd,)
    for suite in "smoke" "edges" "random --seed 501" "random --seed 502"; do
      # shellcheck disable=SC2086
      "$build/bin/validate-trial" run --backend simt --kernel "$names" --suite $suite --no-shrink | tail -1 || true
    done
  else
    for suite in smoke edges; do
      "$build/bin/validate-trial" selfcheck --backend simt --suite $suite --policies | grep -E 'MISSED|misses|broken kernels:' -B1 | grep -v '^--' || true
    done
  fi
done
