#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that records of a part of a run are no pass, that a run is resumed, and that shards are merged.  $1: the binaries' folder.
source "$(dirname "$0")/../checks.sh"
some=(--backend simt --suite smoke --op softmax --kernel naive --dtype f16)  # 47 cases, a fraction of a second
faulty=(--backend simt --suite sanitize --op layernorm_residual --kernel calls_abort,naive --shrink $hangs)
whole() {  # whole WHAT FILE BASE
  same "$1" "" "$(diff <(untimed "$2") <(untimed "$3") | head -3 | cut -c1-300)"
}
partial() {  # partial COMMAND...: says so in its first line and exits with 3, and with 0 if that is accepted
  exits 3 "$@"
  holds "$called" "${out%%$'\n'*}" "INCOMPLETE: "
  exits 0 "$@" --partial
  holds "$called" "${out%%$'\n'*}" "INCOMPLETE: "
}

# --- a part of a run is no pass
works "$validate" run "${some[@]}" --json full.jsonl
head -20 full.jsonl >cut.jsonl
{ head -20 full.jsonl; tail -1 full.jsonl | sed 's/"interrupted":false/"interrupted":true/'; } >interrupted.jsonl
{ head -20 full.jsonl; tail -1 full.jsonl; } >lost.jsonl
head -1 full.jsonl >head.jsonl
for file in cut interrupted lost; do
  partial "$validate" report $file.jsonl -o $file.md
  partial "$validate" compare full.jsonl $file.jsonl
  partial "$validate" compare $file.jsonl full.jsonl
  partial "$validate" run "${some[@]}" --quiet --shard 1/9 --same-as $file.jsonl
  refuses "cannot be a baseline: " "$validate" compare base.jsonl $file.jsonl --accept -m why
done
partial "$validate" report head.jsonl -o head.md
exits 0 "$validate" compare full.jsonl full.jsonl
exits 0 "$validate" report full.jsonl -o full.md
sed 's/"verdict":"passed"/"verdict":"failed"/' cut.jsonl >bad.jsonl
exits 1 "$validate" compare full.jsonl bad.jsonl  # what is wrong counts first
partial "$validate" run --backend simt --last-failed bad.jsonl
partial "$validate" replay --backend simt --from bad.jsonl

# --- resumed: equal to an unbroken run, wherever it was broken
tail -1 full.jsonl >end.jsonl
for lines in 0 1 2 20 48 49 $(wc -l <full.jsonl); do
  head -n $lines full.jsonl >part.jsonl
  exits 0 "$validate" run "${some[@]}" --quiet --resume part.jsonl
  whole "resumed after $lines lines" full.jsonl part.jsonl
done
{ head -9 full.jsonl; sed -n 10p full.jsonl | head -c 300; } >part.jsonl
exits 0 "$validate" run "${some[@]}" --quiet --resume part.jsonl
whole "resumed from a line cut off" full.jsonl part.jsonl
exits 0 "$validate" run "${some[@]}" --quiet --resume fresh.jsonl
whole "a new file" full.jsonl fresh.jsonl
cp full.jsonl part.jsonl
exits 0 "$validate" run "${some[@]}" --resume part.jsonl --junit part.xml --md part.md --same-as full.jsonl
whole "nothing left to judge" full.jsonl part.jsonl
same "test cases of a resumed run" "$(grep -c '"record":"case"' full.jsonl)" "$(grep -c '<testcase' part.xml)"
holds "$called" "$out" "47 passed · 0 failed"
holds "$called" "$out" "47 verdicts as in full.jsonl, 0 different, 0 cases that only one has; 47 outputs bit-equal, 0 not"
sed 's/"digest":"[0-9a-f]*"/"digest":"0"/; 30q' full.jsonl >part.jsonl
exits 0 "$validate" run "${some[@]}" --same-as part.jsonl --partial
holds "$called" "$out" "0 outputs bit-equal, "
exits 1 "$validate" run "${some[@]}" --quiet --same-as part.jsonl --partial --bit-equal
holds "$called" "$out" "DIFFERENT  softmax/naive f16"
exits 3 "$validate" run "${some[@]}" --quiet --budget 1ms --json part.jsonl
exits 0 "$validate" run "${some[@]}" --quiet --resume part.jsonl
whole "resumed after a budget" full.jsonl part.jsonl
grep -E '"record":"(run|case)"' full.jsonl | sed '/"dropped_cols"/d; $s/"verdict"/"faults":{"dropped_cols":true},"verdict"/' >part.jsonl
exits 0 "$validate" run "${some[@]}" --quiet --resume part.jsonl
whole "resumed where a later case had tried a fault" full.jsonl part.jsonl
# Failures of the first part count, and are shrunk.
exits 1 "$bin/validate-hostile" run "${faulty[@]}" --json full_faulty.jsonl
grep -v '"record":"shrunk"' full_faulty.jsonl | head -9 >part.jsonl
exits 1 "$bin/validate-hostile" run "${faulty[@]}" --resume part.jsonl
whole "a resumed run with failures" full_faulty.jsonl part.jsonl
same "a resumed run with failures, shrunk" 1 "$(grep -c '"record":"shrunk"' part.jsonl)"

# --- what is not the same run is refused, and the file stays as it is
cp cut.jsonl kept.jsonl
other() {  # other PART FLAGS...
  refuses "$1" "$validate" run --backend simt --resume cut.jsonl "${@:2}"
  same "$called: the file" "" "$(cmp kept.jsonl cut.jsonl)"
}
other "the selection '--suite smoke --seed 2026 --op softmax --kernel naive --dtype f16', and this run has '--suite edges" --suite edges
other "the selection" "${some[@]:2}" --seed 1
other "the selection" --op softmax --kernel naive
other "the shard '', and this run has '1/2'" "${some[@]:2}" --shard 1/2
if [[ $(field full.jsonl sandbox) != off* ]]; then
  other "with the sandbox '$(field full.jsonl sandbox)', and this run has 'off: --no-sandbox'" "${some[@]:2}" --no-sandbox
  exits 0 "$validate" run "${some[@]}" --quiet --shard 1/3 --no-sandbox --json open1.jsonl
fi
other "--resume adds to its own file" "${some[@]:2}" --json x.jsonl
other "--resume adds to its own file" "${some[@]:2}" --fail-fast
other "is named as two outputs" "${some[@]:2}" --junit ./cut.jsonl
changed() {  # changed PART SCRIPT: of another head
  sed "1$2" full.jsonl | head -20 >changed.jsonl
  refuses "$1" "$validate" run "${some[@]}" --resume changed.jsonl
}
changed "the code of softmax/naive has changed" 's/"softmax\/naive":"[^"]*"/"softmax\/naive":"0"/'
changed "version '0.0.9'" 's/"version":"[^"]*"/"version":"0.0.9"/'
changed "commit 'old'" 's/"commit":"[^"]*"/"commit":"old"/'
changed "with other cases" 's/"plan":"[^"]*"/"plan":"0"/'
changed "and none of an older version" 's/"kernels"/"hashes"/'
{ head -3 full.jsonl; sed -n 3p full.jsonl; } >twice.jsonl
refuses "'twice.jsonl' line 4: this run has no such case, or has it already" "$validate" run "${some[@]}" --resume twice.jsonl
gzip -k full.jsonl
refuses "a plain file" "$validate" run "${some[@]}" --resume full.jsonl.gz
refuses "a plain file" "$validate" run "${some[@]}" --resume -

# --- shards
for i in 1 2 3; do exits 0 "$validate" run "${some[@]}" --quiet --shard $i/3 --json shard$i.jsonl; done
exits 0 "$validate" merge shard3.jsonl shard1.jsonl shard2.jsonl --json merged.jsonl
cases() { grep '"record":"case"' "$1" | sed 's/,"faults":{[^}]*}//'; }
whole "the cases of all shards" <(cases full.jsonl) <(cases merged.jsonl)
same "the end of all shards" "$(untimed <(tail -1 full.jsonl))" "$(untimed <(tail -1 merged.jsonl))"
exits 0 "$validate" compare full.jsonl merged.jsonl
exits 0 "$validate" report merged.jsonl -o merged.md
partial "$validate" merge shard3.jsonl shard1.jsonl --json gap.jsonl
holds "$called" "$out" "missing: shard 2/3"
partial "$validate" compare full.jsonl gap.jsonl
head -9 shard2.jsonl >part2.jsonl
partial "$validate" merge shard3.jsonl shard1.jsonl part2.jsonl --json gap.jsonl
holds "$called" "$out" "shard 2/3 ('part2.jsonl'): the file ends before its run did"
exits 0 "$validate" run "${some[@]}" --quiet --shard 2/3 --resume part2.jsonl
whole "a resumed shard" shard2.jsonl part2.jsonl
refuses "are the same shard, 1/3" "$validate" merge shard1.jsonl shard1.jsonl --json x.jsonl
refuses "is no shard of a run" "$validate" merge shard1.jsonl full.jsonl --json x.jsonl
refuses "named as input and as output" "$validate" merge shard1.jsonl shard2.jsonl --json ./shard1.jsonl
refuses "merged from 3 files" "$validate" run "${some[@]}" --resume gap.jsonl
exits 0 "$validate" run "${some[@]}" --seed 1 --quiet --shard 2/3 --json other.jsonl
if [[ -e open1.jsonl ]]; then
  refuses "'open1.jsonl' ran without the sandbox that" "$validate" merge open1.jsonl shard2.jsonl shard3.jsonl --json x.jsonl
fi
refuses "are not of one run: their selection is" "$validate" merge shard1.jsonl other.jsonl --json x.jsonl
sed '1s/"softmax\/naive":"[^"]*"/"softmax\/naive":"0"/' shard2.jsonl >other.jsonl
refuses "another code of softmax/naive" "$validate" merge shard1.jsonl other.jsonl --json x.jsonl
same "an output of what is refused" "" "$(ls x.jsonl 2>/dev/null)"
sed '2s/"verdict":"passed"/"verdict":"failed"/' shard2.jsonl >other.jsonl
exits 1 "$validate" merge shard1.jsonl other.jsonl shard3.jsonl --json bad.jsonl
holds "$called" "$out" "46 passed · 1 failed"
verdict
