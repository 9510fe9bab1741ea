#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests compare and report on recorded rows.  $1: the binaries' folder.
source "$(dirname "$0")/../checks.sh"
command -v python3 >/dev/null || exit 77
recorded=$sources/reports/baselines/nvidia-h200
bench=$recorded/bench_layernorm_residual.jsonl
records() { python3 "$sources/validate/tests/make_records.py" "$@"; }
records base.jsonl "$bench"
records same.jsonl "$bench" --seed 2
records slower.jsonl "$bench" --seed 3 --factor 1.06
records faster.jsonl "$bench" --seed 4 --factor 0.94
records few.jsonl "$bench" --processes 5
records many.jsonl "$bench" --processes 12

# --- compare as a gate
exits 0 "$validate" compare base.jsonl same.jsonl
holds "$called" "$out" "SLOWER 0 of 20 rows · FASTER 0 · SAME 20 · INCONCLUSIVE 0 · correctness unchanged"
exits 1 "$validate" compare base.jsonl slower.jsonl
holds "$called" "$out" "SLOWER 1 of 20 rows"
holds "$called" "$out" "binary unchanged"
holds "$called" "$out" "clocks equal"
exits 0 "$validate" compare base.jsonl faster.jsonl
holds "$called" "$out" "FASTER 1"
exits 0 "$validate" compare base.jsonl few.jsonl
holds "$called" "$out" "INCONCLUSIVE 20"
holds "$called" "$(tr -s ' \n' ' ' <<<"$out")" "5 processes of 30 samples, needs 6 of 30"  # whose line is broken
same "the same twice" "$("$validate" compare base.jsonl slower.jsonl)" "$("$validate" compare base.jsonl slower.jsonl)"
sed '2s/"margin_after_timing": *[0-9.]*/"margin_after_timing": "inf"/' same.jsonl >wrong.jsonl
exits 1 "$validate" compare base.jsonl wrong.jsonl
holds "$called" "$out" "CORRECTNESS: 1 regressed"

# --- verdicts of run, on a real record
gzip -dc "$recorded/smoke.jsonl.gz" >smoke.jsonl
exits 0 "$validate" compare smoke.jsonl smoke.jsonl
holds "$called" "$out" "correctness unchanged over $(grep -c '"record":"case"' smoke.jsonl) cases"
sed '0,/"verdict":"passed"/s//"verdict":"failed"/' smoke.jsonl >failed.jsonl
exits 1 "$validate" compare smoke.jsonl failed.jsonl
holds "$called" "$out" "passed, is failed now"
exits 0 "$validate" compare failed.jsonl smoke.jsonl
holds "$called" "$out" "correctness better over $(grep -c '"record":"case"' smoke.jsonl) cases; failed before, pass now: 1"

# --- calibration
exits 0 "$validate" compare --calibrate many.jsonl
holds "$called" "$out" "false-alarm rate 0.00 %: 0 of 200"
refuses "at least 4 processes" "$validate" compare --calibrate "$bench"
refuses "takes one file" "$validate" compare --calibrate base.jsonl same.jsonl

# --- --accept needs a reason, and refuses wrong outputs
cp base.jsonl kept.jsonl
exits 0 "$validate" compare kept.jsonl slower.jsonl --accept -m "fewer registers, on purpose"
holds "head of the new baseline" "$(head -1 kept.jsonl)" '"reason":"fewer registers, on purpose"'
same "rows of the new baseline" "$(tail -n +2 slower.jsonl)" "$(tail -n +2 kept.jsonl)"
exits 0 "$validate" compare kept.jsonl slower.jsonl
exits 0 "$validate" compare new_baseline.jsonl same.jsonl --accept -m first
refuses "needs a reason" "$validate" compare kept.jsonl same.jsonl --accept
refuses "the reason of an --accept" "$validate" compare kept.jsonl same.jsonl -m why
refuses "cannot be a baseline" "$validate" compare kept.jsonl wrong.jsonl --accept -m why
sed '2s/"record": *"bench"/&, "planted": 3/' same.jsonl >planted.jsonl
refuses "slowdowns were planted" "$validate" compare kept.jsonl planted.jsonl --accept -m why
refuses "cannot be a baseline" "$validate" compare kept.jsonl failed.jsonl --accept -m why

# --- bad input
refuses "cannot read 'nowhere.jsonl'" "$validate" compare nowhere.jsonl same.jsonl
refuses "takes two files" "$validate" compare base.jsonl
refuses "it is a device, not a file" "$validate" compare base.jsonl /dev/null
: >empty.jsonl
refuses "holds no records" "$validate" compare base.jsonl empty.jsonl
refuses "no row and no case in common" "$validate" compare base.jsonl smoke.jsonl
for value in 0 nan; do refuses "--floor" "$validate" compare base.jsonl same.jsonl --floor $value; done
echo nonsense >nonsense.jsonl
refuses "'nonsense.jsonl' line 1 is not a record" "$validate" compare base.jsonl nonsense.jsonl
tail -n +2 base.jsonl >headless.jsonl
refuses "begins with a run" "$validate" compare headless.jsonl base.jsonl
sed '2s/"median": *[0-9.]*/"median": -1/' base.jsonl >negative.jsonl
refuses "'negative.jsonl' line 2: 'median' is -1" "$validate" compare base.jsonl negative.jsonl
head -c 2000 base.jsonl >cut.jsonl
refuses "'cut.jsonl' line 2 is not a record: the file was cut off in the middle of it" "$validate" compare base.jsonl cut.jsonl
echo '{"name":"left-pad"}' >foreign.jsonl
refuses "'foreign.jsonl' line 1: a file of records begins with a run" "$validate" report foreign.jsonl -o report.md
sed '2s/"kernel": *"[a-z_]*"/"kernel": 7/' base.jsonl >kind.jsonl
refuses "'kind.jsonl' line 2: the field 'kernel' is not a text" "$validate" report kind.jsonl -o report.md
refuses "cannot read '.': Is a directory" "$validate" compare base.jsonl .
refuses "--ab" "$validate" bench --backend simt --ab /bin/true --json x.jsonl --ab-json y.jsonl

# --- compressed files
gzip -k base.jsonl same.jsonl smoke.jsonl
exits 0 "$validate" compare base.jsonl.gz same.jsonl.gz
holds "$called" "$out" "SLOWER 0 of 20 rows"
works "$validate" report base.jsonl.gz smoke.jsonl.gz -o report.md
holds "$called" "$out" "20 rows timed, every output right"
exits 0 "$validate" run --backend simt --op softmax --kernel naive --suite smoke --shard 1/20 --same-as smoke.jsonl.gz
lacks "$called" "$out" "DIFFERENT"
head -c 5000 base.jsonl.gz >cut.jsonl.gz
for reader in "compare base.jsonl" "report -o report.md" "run --backend simt --op softmax --kernel naive --suite smoke --same-as" "probe --backend simt --against"; do
  refuses "cannot read 'cut.jsonl.gz': it is a gzip file that was cut off or damaged" "$validate" $reader cut.jsonl.gz
done
refuses "name the baseline 'base.jsonl.gz' without .gz" "$validate" compare base.jsonl.gz same.jsonl --accept -m why

# --- reports
for end in html md csv; do works "$validate" report base.jsonl smoke.jsonl -o report.$end; done
holds "$called" "$out" "20 rows timed, every output right"
same "lines of the CSV" 21 "$(wc -l <report.csv)"
holds "report.md" "$(<report.md)" "| layernorm_residual | "
same "addresses in the page" "" "$(grep -o '<[^>]*\(src\|href\)="[^#][^"]*"' report.html)"
sed 's/"reason":"[^"]*"/"reason":"<\/script><script>alert(1)<\/script>"/; 0,/"verdict":"passed"/s//"verdict":"failed","reason":"<\/script>"/' smoke.jsonl >hostile.jsonl
works "$validate" report hostile.jsonl -o hostile.html
same "ends of scripts in the page" "$(grep -o '</script>' report.html | wc -l)" "$(grep -o '</script>' hostile.html | wc -l)"
holds "$called" "$out" "FAILED · "
refuses "must end in .html, .md or .csv" "$validate" report base.jsonl -o report.pdf
refuses "cannot read" "$validate" report nowhere.jsonl -o report.html
refuses "cannot write" "$validate" report base.jsonl -o nowhere/report.html
refuses "-o is required" "$validate" report base.jsonl
verdict
