#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a file has one writer, that pipes and links in the place of a file do no harm, and that a run ends soon, with a last
# record, whatever it is at.  $1: the binaries' folder.
source "$(dirname "$0")/../checks.sh"
quick=(--backend simt --suite sanitize --op softmax --kernel naive)
long=(--backend simt --suite full --op softmax --timeout 86400)
# start FILE: a run that writes the file, stopped after its first cases, so that it does not end before it is told to.
start() {
  rm -f "$1"
  "$validate" run "${long[@]}" --json "$1" >out 2>err </dev/null &
  run=$!
  until_so begun "$1"
  kill -STOP $run
}
begun() { grep -q '"record":"case"' "$1" 2>/dev/null; }
dead() { [[ $(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null) != [RSDT] ]]; }
ended_well() { tail -1 "$1" | grep -q '"record":"end".*"interrupted":true'; }

# --- one file, one writer
start busy.jsonl
ln -s busy.jsonl link.jsonl
for name in busy.jsonl ./busy.jsonl link.jsonl; do
  refuses "'$name' is being written by another run" "$validate" run "${quick[@]}" --json $name
  refuses "'$name' is being written by another run" "$validate" run "${long[@]}" --resume $name
done
for verb in probe "bench --op softmax --kernel naive --shape rows=4,cols=8"; do
  read -ra words <<<"$verb"
  refuses "is being written by another run" "$validate" "${words[@]/,/ }" --backend simt --json busy.jsonl
done
kill -HUP $run
kill -CONT $run
wait $run
same "kill -HUP" "exit 130" "exit $?"
whole_lines busy.jsonl "a file that others asked for"
checks=$((checks + 1))
ended_well busy.jsonl || fail "kill -HUP, the last record" "an end, interrupted" "$(tail -1 busy.jsonl | cut -c1-200)"
exits 0 "$validate" run "${quick[@]}" --json busy.jsonl  # free again
exits 0 "$validate" run "${quick[@]}" --json link.jsonl  # through the link
checks=$((checks + 1))
[[ -L link.jsonl ]] || fail "run --json LINK" "the link is still one" "$(ls -l link.jsonl)"

# --- one file under two names
echo precious >kept
ln kept hard
for pair in "kept ./kept" "kept ../${tmp##*/}/kept" "new ./new" "kept hard"; do
  read -r a b <<<"$pair"
  refuses "is named as two outputs" "$validate" run "${quick[@]}" --json $a --junit $b
  refuses "is named as two outputs" "$validate" run "${quick[@]}" --md $a --junit $b
done
same "a file named twice" precious "$(<kept)"

# --- links where a temporary file would be
ln -s kept results.xml.part
exits 0 "$validate" run "${quick[@]}" --junit results.xml
same "run --junit beside a link" precious "$(<kept)"

# --- pipes
mkfifo pipe
for flag in json junit md resume; do refuses "pipe" "$validate" run "${quick[@]}" --$flag pipe; done
exec 9<>pipe  # a reader, which takes nothing yet
exits 0 "$validate" run "${quick[@]}" --json pipe
head -n "$(wc -l <busy.jsonl)" <&9 >read.jsonl
exec 9>&-
whole_lines read.jsonl "a pipe with a reader"
same "a pipe with a reader" "$(field busy.jsonl repro)" "$(field read.jsonl repro)"

# --- signals: two of them leave an end record too
for pair in "INT INT" "INT TERM" "HUP INT"; do
  start twice.jsonl
  for signal in $pair; do kill -$signal $run; done
  kill -CONT $run
  wait $run
  same "kill -$pair" "exit 130" "exit $?"
  checks=$((checks + 1))
  ended_well twice.jsonl || fail "kill -$pair, the last record" "an end, interrupted" "$(tail -1 twice.jsonl | cut -c1-200)"
done

# --- inputs and goldens that take long end with the run, the time limit and the budget.  A run that waited for them would use
# more than $most seconds of processor time, of which it otherwise takes a few even on a slow host.
most=60
slow="attention_forward/naive f16 batch=1 seq_q=1048576 seq_k=0 heads=1 kv_heads=1 head_dim=64 seed=1"
{ head -1 busy.jsonl; echo "{\"record\":\"case\",\"op\":\"attention_forward\",\"kernel\":\"naive\",\"dtype\":\"f16\",\"verdict\":\"failed\",\"repro\":\"$slow\"}"; } >slow.jsonl
printf '#!/bin/bash\nulimit -t %s\nexec "$@"\n' $most >limited
chmod +x limited
exits 3 ./limited "$validate" replay --backend simt --timeout 10ms "$slow"
if [[ $out != *"of memory and"* ]]; then
  holds "$called" "$out" "skipped: its inputs and golden take longer than 0.01 s"
  exits 0 ./limited "$validate" replay --backend simt --partial --timeout 10ms "$slow"
  exits 3 ./limited "$validate" run --backend simt --last-failed slow.jsonl --budget 300ms --json budget.jsonl
  holds "$called" "$out" "skipped: the budget of 0.3 s was spent"
  for signal in TERM HUP; do
    rm -f term.jsonl
    ./limited "$validate" run --backend simt --last-failed slow.jsonl --timeout 86400 --json term.jsonl >out 2>err </dev/null &
    run=$!
    at_work() { dead $run || (($(cut -d' ' -f14 /proc/$run/stat) > 30)); }  # hundredths of a second
    until_so at_work
    kill -$signal $run
    wait $run
    same "kill -$signal while a golden is made" "exit 130" "exit $?"
    checks=$((checks + 1))
    ended_well term.jsonl || fail "kill -$signal while a golden is made, the last record" "an end" "$(tail -1 term.jsonl | cut -c1-200)"
  done
fi

# --- what is empty costs nothing
exits 0 ./limited "$validate" replay --backend simt --partial "attention_forward f16 batch=1099511627776 seq_q=0 seq_k=0 heads=1 kv_heads=1 head_dim=64"
exits 0 ./limited "$validate" replay --backend simt "add f32 rows=1099511627776 cols=0"
exits 0 ./limited "$validate" replay --backend simt "add f32 rows=0 cols=1099511627776"
verdict
