#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests report on 1,000 rows that are all in published tables, with a run, and on all records of a device.  $1: the binaries'
# folder; the rest goes to validate/tests/report/report_browser_test.py.
bin=$(cd "$1" && pwd) || exit 2
shift
tests=$(cd "$(dirname "$0")/.." && pwd)
recorded=$tests/../../reports/baselines/nvidia-h200
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
benches=("$recorded"/bench.jsonl "$recorded"/bench_layernorm_residual.jsonl)
python3 "$tests/make_records.py" "$tmp/old.jsonl" "${benches[@]}" --rows 1000 --date 2026-11-20T12:00:00Z &&
  python3 "$tests/make_records.py" "$tmp/new.jsonl" "${benches[@]}" --rows 1000 --seed 2 --factor 0.8 --suites || exit 1
# The Markdown must be below 1,000 kB, as CI summaries require; every line of a table must have as many cells as its head.
"$bin/validate" report "$tmp/old.jsonl" "$tmp/new.jsonl" -o "$tmp/report.md" >/dev/null &&
  "$bin/validate" report "$tmp/old.jsonl" "$tmp/new.jsonl" -o "$tmp/report.csv" >/dev/null &&
  python3 - "$tmp" <<'EOF' || exit 1
import csv, os, sys
lines = list(csv.DictReader(open(f"{sys.argv[1]}/report.csv", newline=""), restkey="too many"))
assert len(lines) == 1000 and not any("too many" in line or None in line.values() for line in lines), len(lines)
assert all(line["suite"] and line["table"] and line["label"] and float(line["dram_read_bytes"]) > 0 for line in lines)
assert any(line["step"] == "1" for line in lines) and all(line["file"].endswith("new.jsonl") for line in lines)
text = open(f"{sys.argv[1]}/report.md").read()
assert os.path.getsize(f"{sys.argv[1]}/report.md") < 1_000_000 and "### Ablations" in text and "### claims-attention-forward: " in text
for table in text.split("\n\n"):
    cells = {line.count("|") for line in table.splitlines() if line.startswith("|")}
    assert len(cells) < 2, (cells, table[:300])
EOF
page=(python3 "$tests/report/report_browser_test.py" "$bin/validate")
"${page[@]}" "$tmp/old.jsonl" "$tmp/new.jsonl" "$recorded/smoke.jsonl.gz" --charts 4 \
  --sections ranked,suites,ablations,correctness,traffic,resources,profiles,runs "$@" || exit
"${page[@]}" "$recorded"/*.jsonl{,.gz} --charts 3 --sections ranked,suites,ablations,correctness,traffic,resources,profiles,runs --bytes 3000000
