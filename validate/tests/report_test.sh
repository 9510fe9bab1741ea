#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The report's page of 1,000 rows and a run, in a browser.  The first argument is the binaries' folder; the rest goes to
# report_browser_test.py.
bin=$(cd "$1" && pwd) || exit 2
shift
tests=$(cd "$(dirname "$0")" && pwd)
recorded=$tests/../../reports/baselines/nvidia-h200
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
benches=("$recorded"/bench.jsonl "$recorded"/bench_layernorm_residual.jsonl)
python3 "$tests/make_records.py" "$tmp/old.jsonl" "${benches[@]}" --rows 1000 --date 2026-11-20T12:00:00Z &&
  python3 "$tests/make_records.py" "$tmp/new.jsonl" "${benches[@]}" --rows 1000 --seed 2 --factor 0.8 || exit 1
python3 "$tests/report_browser_test.py" "$bin/validate" "$tmp/old.jsonl" "$tmp/new.jsonl" "$recorded/smoke.jsonl" --charts 4 "$@"
