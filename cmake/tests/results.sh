#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that the tables of docs/results-h200.md and the README's chart match the records: results.sh SOURCE
# Then checks that a changed number in each is found.
set -uo pipefail
command -v python3 >/dev/null || { echo "python3 is absent"; exit 77; }
cd "$1" || exit 2
export PYTHONDONTWRITEBYTECODE=1
records=reports/baselines/nvidia-h200 page=docs/results-h200.md chart=docs/img/versus-libraries.svg
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
wrong() { echo "WRONG: $*"; failures=$((failures + 1)); }

python3 reports/results.py --check || wrong "$page; reports/results.py makes it anew"
python3 reports/chart.py -o "$work/drawn.svg" && cmp "$work/drawn.svg" $chart || wrong "$chart; reports/chart.py draws it anew"

# A table of records that were not made yet has no number.
awk -v changed="$work/changed" '/<!-- begin / { table = $3 } /<!-- end / { table = "" }
  table && sub(/[0-9]\.[0-9]|,[0-9]/, "&7") { print table >changed; table = "" } 1' $page >"$work/page.md"
python3 reports/results.py $records "$work/page.md" --check >"$work/found"
[ $? = 1 ] || wrong "changed numbers are not found"
[ "$(wc -l <"$work/changed")" -ge 10 ] || wrong "only $(wc -l <"$work/changed") tables have a number"
while read -r table; do
  grep -qw -- "$table" "$work/found" || wrong "a changed number in $table is not found"
done <"$work/changed"
mkdir "$work/records"
for file in $records/{suite_ln-residual,pytorch_*,hopper_linear}.jsonl*; do ln -s "$PWD/$file" "$work/records/"; done
python3 reports/chart.py "$work/records" -o "$work/other.svg" 2>"$work/why"
[ $? = 2 ] && grep -q "no time of attention_forward" "$work/why" || wrong "missing times: $(cat "$work/why")"
# A layer without its parts.
mkdir "$work/layer"
ln -s "$PWD/$records"/* "$work/layer/"
rm -f "$work/layer"/beside_layer-parts.jsonl*
grep -m 1 '"op":"transformer_layer","kernel":"sm90_wgmma"' $records/suite_llama2-7b.jsonl | sed 's/"label":"[^"]*"/"label":"layer"/' \
  >"$work/layer/beside_layer-parts.jsonl"
python3 reports/results.py "$work/layer" --check 2>"$work/why"
[ $? = 2 ] && grep -q "other functions than its parts" "$work/why" || wrong "a layer without its parts: $(cat "$work/why")"
[ $failures = 0 ] && echo "the tables and the chart are those of the records"
exit $((failures > 0))
