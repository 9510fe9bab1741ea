#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The steps of the action in action.yml.
#   judge.sh install     makes a virtual environment with Assay: from ASSAY_WHEEL, else built from this tree; and ASSAY_REQUIREMENTS
#   judge.sh judge       judges the marked functions in ASSAY_PATHS; annotations go to standard output, the rest to RUNNER_TEMP
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${RUNNER_TEMP:?names no folder for results, as a runner does}"
venv=$RUNNER_TEMP/assay-venv results=$RUNNER_TEMP/assay

case ${1-} in
  install)
    wheel=${ASSAY_WHEEL:-}
    if [ -z "$wheel" ]; then
      "$tree/cmake/bootstrap.sh" || sudo -n "$tree/cmake/bootstrap.sh"
      cmake -S "$tree" -B "$tree/build" --log-level=WARNING -DASSAY_UNITY=ON -DASSAY_TESTS=OFF
      cmake --build "$tree/build" -j "$(nproc)" --target validate
      wheel=$tree/python
    fi
    python3 -m venv "$venv"
    # shellcheck disable=SC2086
    "$venv/bin/pip" install -q "$wheel" pytest ${ASSAY_REQUIREMENTS:-}
    ;;
  judge)
    mkdir -p "$results"
    code=0
    # shellcheck disable=SC2086
    PATH=$venv/bin:$PATH "$venv/bin/python" -m pytest -m assay --junitxml "$results/junit.xml" --assay-records "$results" ${ASSAY_PATHS:-.} || code=$?
    printf 'records=%s\njunit=%s\n' "$results" "$results/junit.xml" >>"${GITHUB_OUTPUT:-/dev/null}"
    for record in "$results"/*.jsonl; do
      [ -e "$record" ] || continue
      "$venv/bin/validate" report --partial "$record" -o "$results/report.md" >/dev/null || continue
      cat "$results/report.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
    done
    exit "$code"
    ;;
  *)
    echo "judge.sh: '${1-}' is no step; install and judge are" >&2
    exit 2
    ;;
esac
