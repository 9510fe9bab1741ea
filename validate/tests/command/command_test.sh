#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the command with right and wrong input.  $1: the binaries' folder.
source "$(dirname "$0")/../checks.sh"
op=layernorm_residual
quick=(--backend simt --suite sanitize --op $op --kernel naive)  # 13 cases, a fraction of a second

# --- every subcommand, with right input
for what in ops kernels cases backends; do works "$validate" list $what; done
works "$validate" list cases --suite edges --op $op
works "$validate" list kernels --op $op --kernel naive
same "list kernels --op --kernel, under a heading" 2 "$(wc -l <"$tmp/out")"
works "$validate" list kernels --kernel $op/naive
same "list kernels --kernel OP/NAME" "$op naive" "$(awk 'NR == 2 {print $1, $2}' "$tmp/out")"
works "$validate" list kernels -k '*/naive f16' --op $op,softmax
same "list kernels -k" 3 "$(wc -l <"$tmp/out")"
refuses "unknown op 'no_such_op'" "$validate" list kernels --op no_such_op
works "$validate" describe $op
works "$validate" doctor
works "$validate" run "${quick[@]}"
works "$validate" replay "$op/naive f16 rows=3 cols=257 seed=7" --backend simt
works "$validate" replay $op/naive f16 rows=3 cols=257 --backend simt  # not quoted
works "$validate" bench --backend simt --op $op --kernel naive --shape 'rows=4 cols=64' --dtype f16
works "$validate" bench --backend simt --memory --op attention_forward --dtype f16 --json memory.jsonl \
  --shape 'batch=1 seq_q=4096 seq_k=4096 heads=32 kv_heads=32 head_dim=128'  # of full size, for nothing runs
same "bench --memory: workspace of unfused" $((32 * 4096 * 4096 * 2)) "$(grep '"unfused"' memory.jsonl | field /dev/stdin workspace_bytes)"
same "bench --memory: tensors" $(((4 * 4096 * 32 * 128) * 2 + 32 * 4096 * 4)) "$(field memory.jsonl tensor_bytes | sort -u)"
holds "bench --memory: a kernel without workspace" "$(grep mma_tiled "$tmp/out")" "-100.0 %"
for value in 0 nan 61; do refuses "--seconds" "$validate" bench --backend simt --seconds=$value; done
refuses "--memory runs nothing" "$validate" bench --backend simt --memory --sites
works "$validate" bench --backend simt --memory --suite ln-residual --dtype f16 --json memory.jsonl
holds "bench --suite: a table's title" "$out" "ln-residual · Fused LayerNorm + residual against PyTorch"
same "bench --suite: kernels on rows" 29 "$(grep -c '"memory"' memory.jsonl)"
holds "bench --suite: of the whole file" "$(head -1 memory.jsonl)" '"suite":"ln-residual"'
refuses "Did you mean 'ln-residual'?" "$validate" bench --backend simt --suite ln-residul
refuses "--suite and --shape" "$validate" bench --backend simt --suite hopper --shape rows=1

# --- orders to a timing process
head -c 512 /dev/zero >bytes
row='"kernels":["naive"],"seconds":0.01,"leave_out_slow":false,"judge":true,"outputs":"bytes","output_bytes":512'
asked() { "$validate" timer simt <<<"{\"line\":\"softmax f16 rows=32 cols=8 seed=1\",\"inputs\":\"$1\",\"input_bytes\":$2,$row}" | tail -1; }
holds "timer: a row" "$(asked bytes 512)" "no clock"
holds "timer: other layout" "$(asked bytes 1024)" "lays out the tensors differently"
holds "timer: no inputs" "$(asked none 512)" "cannot open none"
for flag in --dram --copy --clean --resources --once; do refuses "$flag: " "$validate" bench --backend simt $flag; done
works "$validate" run --backend simt --suite errors --op layernorm_residual --dtype f16 --kernel naive --json errors.jsonl
same "errors: a line a case" 4 "$(grep -c '^  layernorm_residual' "$tmp/out")"
same "errors: what is shown is recorded" "$(field errors.jsonl max_abs_error | xargs printf '%.2e ')" \
  "$(awk '/^  layernorm_residual/ {printf "%s ", $4}' "$tmp/out")"
rm memory.jsonl errors.jsonl bytes
works "$validate" --help
works "$validate" --version
works "$bin/validate-trial" selfcheck --backend simt --op $op --kernel epsilon_outside_root
same "selfcheck --quiet" 1 "$("$bin/validate-trial" selfcheck --backend simt --kernel epsilon_outside_root --quiet | wc -l)"

works "$bin/validate-trial" selfcheck --backend simt --op $op --kernel epsilon_outside_root --policies --md "$tmp/selfcheck.md"
same "selfcheck --md" 1 "$(grep -c '^\*\*1 of 1 broken kernels caught' "$tmp/selfcheck.md")"
rm "$tmp/selfcheck.md"

# --- exit codes
exits 1 "$bin/validate-trial" replay "$op/unbiased_variance f32 rows=3 cols=4" --backend simt --shrink $hangs
holds "$called" "$out" "failed: "
# Note: of one column the variance is 0 / 0, and a NaN is another failure.
for part in "y[row 0, col " "label          deterministic" "validate-trial replay '$op/unbiased_variance f32 rows=1 cols=2 seed=0 judge="; do holds "$called" "$out" "$part"; done
exits 1 "$bin/validate-trial" replay "$op/unbiased_variance f32 rows=3 cols=4" --backend simt --no-shrink
lacks "$called" "$out" "smallest"
works "$validate" cost "$op f32 rows=3 cols=4"
refuses "unknown op 'linaer'" "$validate" cost 'linaer f32 tokens=1'
exits 3 "$validate" run "${quick[@]}" --shard 999/1000
holds "$called" "$out" "nothing was run"
exits 0 "$validate" run "${quick[@]}" --shard 999/1000 --partial
holds "$called" "$out" "nothing was run"
call bash -c "ulimit -n 10; '$validate' run ${quick[*]}"
same "run without a descriptor for workers" "exit 3" "exit $code"
holds "run without a descriptor for workers" "$out" "can be open (ulimit -n)"
if "$validate" list backends | grep -q '^cuda *not usable'; then
  exits 77 "$validate" run --backend cuda --skip-exit 77
  holds "$called" "$out" "skipped: "
  exits 77 "$validate" bench --backend cuda --skip-exit 77
  for verb in run bench "replay $op/naive f16 rows=1 cols=1"; do refuses "backend cuda cannot be used" "$validate" $verb --backend cuda; done
  refuses "no GPU can be used here" "$validate" run --require-gpu
  refuses "no GPU can be used here" "$validate" run --require-gpu --backend cuda
fi
refuses "contradict" "$validate" run --require-gpu --backend simt

# --- wrong command lines: one sentence, exit code 2, and a next step that works
step() {  # runs the command in parentheses
  local next=${err##*  (}
  [[ $err == *"  ("*")" ]] || { fail "$called" "a next step in parentheses" "$err"; return; }
  next=${next%)}
  case $next in
    "validate run"*--help | "validate list"* | "validate describe"* | *--help | "validate doctor" | "validate replay"*) ;;
    *RECORDS*) return ;;
    "validate run"*) next="$next --shard 999/1000 --partial" ;;  # selects no case
    *) return ;;
  esac
  next=${next/validate/\"\$validate\"}
  checks=$((checks + 1))
  local why
  why=$(eval "$next" 2>&1 >/dev/null </dev/null) || fail "$called" "a next step that works: $next" "$why"
}
works "$validate" run "${quick[@]}" --json a.jsonl
wrong=0
while IFS='|' read -r part line; do
  [[ -n $part ]] || continue
  wrong=$((wrong + 1))
  eval "refuses \"\$part\" \"\$validate\" $line"
  step
done <<'TABLE'
a subcommand is required|
Did you mean 'doctor'?|docter
Did you mean 'run'?|rnu
Did you mean 'run'?|RUN
Did you mean '--version'?|--verson
the subcommand comes before its flag '--suite'|--suite smoke run
only the program with broken kernels has 'selfcheck'|selfcheck
unknown flag '--sutie'. Did you mean '--suite'?|run --sutie edges
'softmax' was not expected here; the op goes after --op  (validate run --op softmax)|run softmax
Did you mean '--op softmax'?|run SOFTMAX
'naive' was not expected here; the kernel goes after --kernel|run naive
'edges' was not expected here; the suite goes after --suite|run edges
'extra' was not expected here|run extra
--suite needs a value|run --suite
-k takes one value, and is given several|run --backend simt -k softmax/* -k gelu/*
Did you mean 'kernels'?|list kernel
'list ops' takes no such flag|list ops --op softmax
'list backends' takes no such flag|list backends --dtype f16
'list kernels' takes no such flag|list kernels --suite edges
op is required|describe
unknown op 'layernorm_residul'. Did you mean 'layernorm_residual'?|describe layernorm_residul
unknown op 'layernorm_residul'. Did you mean 'layernorm_residual'?|run --op layernorm_residul
unknown op 'SOFTMAX'. Did you mean 'softmax'?|run --op SOFTMAX
unknown kernel 'naiv'. Did you mean 'naive'?|run --kernel naiv
unknown kernel 'softmax/naiv'. Did you mean 'softmax/naive'?|run --kernel softmax/naiv
unknown kernel 'naiv'. Did you mean 'naive'?|bench --backend simt --kernel naiv
-k 'nothing/*' matches no kernel|run -k 'nothing/*'
unknown dtype 'fp16'. Did you mean 'f16'?|run --dtype fp16
unknown dtype 'float16'. Did you mean 'f16'?|run --dtype float16
unknown dtype 'half'. Did you mean 'f16'?|bench --backend simt --dtype half
unknown dtype 'bfloat16'. Did you mean 'bf16'?|replay --backend simt 'softmax/naive bfloat16 rows=3 cols=4'
unknown suite 'edge'. Did you mean 'edges'?|run --suite edge
only --suite random and full draw cases|run --count 5
unknown backend 'simd'. Did you mean 'simt'?|run --backend simd
--bit-equal needs a record file|run --bit-equal
--last-failed takes its cases from the records|run --last-failed a.jsonl --suite edges
cannot read 'nowhere.jsonl'|run --last-failed nowhere.jsonl
unknown choice of colours 'alwys'. Did you mean 'always'?|run --color alwys
--shrink|run --shrink 5s --no-shrink
is not a duration|run --budget '5 parsecs'
replay takes a repro line|replay
replay takes a repro line|replay --from a.jsonl 'softmax/naive f16 rows=3 cols=4'
--baseline: unknown kernel 'nope'|bench --backend simt --op softmax --baseline nope
unknown flag '--shard'|bench --shard 1/2
unknown flag '--budget'|bench --budget 5
unknown flag '--fail-fast'|bench --fail-fast
unknown flag '--quiet'|bench --quiet
unknown flag '--jobs'|bench --jobs 2
unknown flag '--count'|bench --count 2
unknown flag '--sectors'|bench --sectors
a repro line already names the case|cost 'softmax f16 rows=3 cols=4' --suite edges
-o is required|report a.jsonl
must end in .html, .md or .csv|report a.jsonl -o a.pdf
TABLE
checks=$((checks + 1))
((wrong >= 30)) || fail "wrong command lines" "at least 30" "$wrong"
# One case is judged and one is too large for memory: the evidence is incomplete.
bad_case() { echo "{\"record\":\"case\",\"op\":\"$op\",\"kernel\":\"naive\",\"dtype\":\"f32\",\"verdict\":\"failed\",\"repro\":\"$op/naive f32 $1\"}"; }
{ head -1 a.jsonl && bad_case "rows=3 cols=4" && bad_case "rows=1073741824 cols=4096"; } >mixed.jsonl
exits 3 "$validate" run --backend simt --last-failed mixed.jsonl
holds "$called" "$out" "1 passed · "
holds "$called" "$out" "evidence incomplete: 1 cases"
exits 0 "$validate" run --backend simt --last-failed mixed.jsonl --partial
call bash -c "ulimit -f 1; '$validate' report a.jsonl -o large.html"
same "report beyond the limit of a file's size" "exit 2" "exit $code"
same "files left by it" "" "$(ls large.html* 2>/dev/null)"
rm a.jsonl mixed.jsonl
refuses "--fail-fast" "$bin/validate-trial" selfcheck --fail-fast
refuses "unknown policy 'cosin'. Did you mean 'cosine'?" "$bin/validate-trial" selfcheck --policy cosin
refuses "nowhere" "$bin/validate-trial" selfcheck --md /nowhere/selfcheck.md
for value in 0 -1 1e30 nan x; do refuses "--jobs" "$validate" run --jobs=$value; done
for flag in timeout budget shrink; do
  for value in 0 0ms -1 nan inf 1e30 x 5x 5ss s 0x10; do refuses "--$flag" "$validate" run --$flag=$value; done
done
for value in 600 600s 600000ms 10.5m 1h 0.5h; do exits 0 "$validate" run "${quick[@]}" --quiet --timeout $value --shard 1/13; done
for value in -1 1e30 x 99999999999999999999; do refuses "--seed" "$validate" run --seed=$value; done
for value in 0 -1 x 10000001; do refuses "--count" "$validate" run --count=$value; done
for value in 0/3 4/3 1 1/ /3 1/0 -1/3 1/3x 9223372036854775808/9; do refuses "--shard" "$validate" run --shard=$value; done

# --- repro lines
line() { refuses "$1" "$validate" replay --backend simt "$2"; }
line "expected 'op/kernel dtype" garbage
line "expected 'op/kernel dtype" ""
line "unknown op 'layernorn'" "layernorn/naive f16 rows=3 cols=4"
line "no kernel after the slash" "$op/ f16 rows=3 cols=4"
line "Did you mean 'naive'?" "$op/naivee f16 rows=3 cols=4"
line "unknown dtype 'f61'. Did you mean 'f16'?" "$op/naive f61 rows=3 cols=4"
line "unknown dtype 'int'. Known: f16, bf16, f32" "$op/naive int rows=3 cols=4"
line "axis 'cols' is missing" "$op/naive f16 rows=3"
line "given twice" "$op/naive f16 rows=3 cols=4 rows=3"
line "Did you mean 'rows'?" "$op/naive f16 row=3 cols=4"
line "expected key=value" "$op/naive f16 rows=3 cols=4 fill"
line "cols=0" "$op/naive f16 rows=3 cols=0"
line "cannot be negative" "$op/naive f16 rows=-3 cols=4"
line "out of range" "$op/naive f16 rows=3 cols=9223372036854775808"
line "not a whole number" "$op/naive f16 rows=3 cols=1e30"
line "not a whole number" "$op/naive f16 rows= cols=4"
line "more than 2^40" "$op/naive f16 rows=3 cols=9223372036854775807"
line "more than 2^46" "$op/naive f16 rows=1099511627776 cols=1048576"
line "Did you mean 'ramp'?" "$op/naive f16 rows=3 cols=4 fill=rampp"
line "unknown layout 'paded'. Did you mean 'padded'?" "$op/naive f16 rows=3 cols=4 layout=paded"
line "seed" "$op/naive f16 rows=3 cols=4 seed=-1"
line "epsilon" "$op/naive f16 rows=3 cols=4 epsilon=nan"
line "expected key=value" "$op/naive f16 $'\001\033[2J' cols=4"
lacks "$called" "$err" $'\033'
exits 0 "$validate" replay --backend simt "$op/naive f16 rows=0 cols=4"
# Its right values are all within their bound of zero.  That makes a suite's case suspect, but not one typed by hand.
works "$validate" replay --backend simt \
  "layernorm_linear/mma_tiled bf16 tokens=5 hidden=221 out=113 epsilon=1e-06 fill=ramp seed=1020593698"
holds "$called" "$out" "passed: by chance every right value is within its bound of zero"

# --- a case that is too large for memory
exits 3 "$validate" replay --backend simt "$op/naive f32 rows=1073741824 cols=4096"
holds "$called" "$out" "of memory and"
exits 0 "$validate" replay --partial --backend simt "$op/naive f32 rows=1073741824 cols=4096"
exits 3 "$validate" replay --backend simt "$op/naive f32 rows=0 cols=1099511627776"
holds "$called" "$out" "of memory and"

# --- outputs
refuses "cannot write '$tmp/none/x'" "$validate" run "${quick[@]}" --json "$tmp/none/x"
for flag in json junit md; do
  refuses "cannot write '$tmp/none/x'" "$validate" run "${quick[@]}" --$flag "$tmp/none/x"
  refuses "Is a directory" "$validate" run "${quick[@]}" --$flag "$tmp"
  exits 2 "$validate" run "${quick[@]}" --$flag /dev/full
  holds "$called" "$err" "No space left"
  # An existing file stays as it is if another flag is wrong.
  echo precious >kept
  for wrong in "--op nope" "--suite nope" "--shard 9" "--json none/x" "--junit none/x" "--md none/x" "--kernel nope"; do
    [[ $wrong == --$flag* ]] || refuses "" "$validate" run --backend simt --$flag kept $wrong
    same "run --$flag kept $wrong" precious "$(<kept)"
  done
done
refuses "named as two outputs" "$validate" run "${quick[@]}" --json x --junit x
same "files left by bad usage" "err kept out" "$(echo *)"
call bash -c "'$validate' list ops >/dev/full"
same "list ops >/dev/full" 2 "$code"
call bash -c "'$validate' run ${quick[*]} --json closed.jsonl >&-"
same "run >&-" 0 "$code"
whole_lines closed.jsonl "run >&-"
call bash -c "'$validate' list cases --suite edges | head -1"
same "list cases | head -1" "" "$err"

# --- records
works "$validate" run --backend simt --suite sanitize --json a.jsonl --junit a.xml --md a.md
lacks "$called" "$out$err" $'\033'
lacks "$called" "$out$err" $'\r'
same "the last line" "$(tail -1 <<<"$out" | grep ' passed · ')" "$(tail -1 <<<"$out")"
whole_lines a.jsonl "$called"
same "first record" 1 "$(head -1 a.jsonl | grep -c '"record":"run"')"
same "last record" 1 "$(tail -1 a.jsonl | grep -c '"record":"end"')"
holds "a.md" "$(<a.md)" "| $op | naive |"
if command -v python3 >/dev/null; then
  call python3 -c 'import sys, xml.dom.minidom as m; print(len(m.parse(sys.argv[1]).getElementsByTagName("testcase")))' a.xml
  same "test cases in the JUnit file" "$(grep -c '"record":"case"' a.jsonl)" "$out"
fi
works "$validate" run --backend simt --suite sanitize --json b.jsonl --junit b.xml
names() { grep -o 'classname="[^"]*" name="[^"]*"' "$1"; }
same "names in the JUnit file" "$(names a.xml)" "$(names b.xml)"
same "equal names in the JUnit file" "" "$(names a.xml | sort | uniq -d)"

# --- records on standard output, everything else on standard error
exits 0 "$validate" run --backend simt --suite sanitize --json -
whole_lines "$tmp/out" "$called"
same "cases of run --json -" "$(grep -c '"record":"case"' a.jsonl)" "$(grep -c '"record":"case"' <<<"$out")"
holds "$called" "$err" " passed · "
exits 0 "$validate" bench --backend simt --op $op --kernel naive --shape 'rows=4 cols=64' --dtype f16 --json -
whole_lines "$tmp/out" "$called"
refuses "named as two outputs" "$validate" run "${quick[@]}" --json - --junit -
"$validate" run --backend simt --suite sanitize --json - 2>/dev/null | head -1 >/dev/null
same "run --json - | head -1" 141 "${PIPESTATUS[0]}"
echo before >appended && "$validate" run "${quick[@]}" --json - >>appended 2>/dev/null
same "run --json - >>: what was there" before "$(head -1 appended)"

# --- --json of list, describe and doctor
for what in "list ops" "list kernels" "list cases --suite sanitize" "list backends" "describe $op" doctor; do
  works "$validate" $what --json
  if command -v python3 >/dev/null; then
    same "$what --json" "" "$(python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$tmp/out" 2>&1)"
  fi
done
works "$validate" list kernels --json --kernel $op/naive
same "list kernels --json" "$op" "$(grep -o '"op": "[^"]*"' <<<"$out" | cut -d'"' -f 4)"

# --- help and the man page
for sub in list describe run replay bench compare report probe cost doctor; do
  works "$validate" $sub --help
  holds "$called" "$out" "Exit codes:"
done
lacks "list ops" "$("$validate" list ops)" " broken "
holds "list ops of validate-trial" "$("$bin/validate-trial" list ops)" " broken "
same "help" "$("$validate" --help)" "$("$validate" help 2>&1)"
same "help run" "$("$validate" run --help)" "$("$validate" help run 2>&1)"
for part in "ASSAY_DATASETS" "NO_COLOR" "evidence incomplete"; do holds "run --help" "$("$validate" run --help)" "$part"; done
works "$validate" --man
holds "--man" "$out" ".TH VALIDATE 1"
for sub in list describe run replay bench compare report probe cost doctor; do holds "--man" "$out" ".SS \"validate $sub\""; done
lacks "--help" "$("$validate" --help)" "--man"

# --- tables in a pipe: 80 columns
wider() {  # the lines of more than so many characters
  local LC_ALL=C.UTF-8 line
  while IFS= read -r line; do ((${#line} > $1)) && printf '%s\n' "$line"; done
}
for what in "list ops" "list kernels" "list backends" "run ${quick[*]}" "run --backend simt --suite sanitize" \
  "bench --backend simt --op $op --shape rows=4,cols=64" "cost --suite sanitize --op $op"; do
  read -ra words <<<"$what"
  works "$validate" "${words[@]/rows=4,cols=64/rows=4 cols=64}"
  same "$called: lines wider than 80 columns" "" "$(grep -v 'seed=\|^Assay \|^[0-9]* passed' "$tmp/out" | wider 80)"
done

works "$validate" describe $op
lacks "describe, in a pipe: a text that is cut" "$out" "…"

# --- equal seeds give equal records, other seeds other cases
timeless() { grep '"record":"case"' "$1" | sed 's/"seconds":[^,}]*//'; }
same "records of two runs" "$(timeless a.jsonl)" "$(timeless b.jsonl)"
draws=(--backend simt --suite random --op $op,softmax --kernel naive --dtype f32)
for run in "c 1 5" "d 1 5" "e 3 5" "f 1 9"; do
  read -r file seed count <<<"$run"
  works "$validate" run "${draws[@]}" --seed "$seed" --count "$count" --json $file.jsonl
done
same "--seed 1 twice" "$(timeless c.jsonl)" "$(timeless d.jsonl)"
checks=$((checks + 1))
[[ $(timeless c.jsonl) != "$(timeless e.jsonl)" ]] || fail "--seed 1 and --seed 3" "other cases" "the same"
for i in 1 2 3; do works "$validate" list cases --suite edges --shard $i/3 && head -n -1 "$tmp/out" >part$i; done
"$validate" list cases --suite edges | head -n -1 >all
same "three shards together" "$(sort all)" "$(sort part1 part2 part3)"
same "cases in two shards" "" "$(sort part1 part2 part3 | uniq -d | head -1)"
same "--op twice" "$("$validate" list cases --op $op | tail -1)" "$("$validate" list cases --op $op,$op | tail -1)"

# --- budget, fail-fast, quiet
exits 3 "$validate" run --backend simt --suite edges --budget 0.000001s --json g.jsonl
same "skipped for the budget" "$(grep -c '"record":"case"' g.jsonl)" "$(grep -c '"verdict":"skipped","reason":"the budget' g.jsonl)"
holds "$called" "$out" "skipped: the budget"
holds "$called" "$out" "evidence incomplete: "
exits 0 "$validate" run --backend simt --suite edges --op $op --budget 1ms --partial
exits 1 "$bin/validate-hostile" run --backend simt --suite sanitize --op $op --kernel calls_abort,naive --fail-fast --shrink $hangs --json h.jsonl
same "--fail-fast" 1 "$(grep '"record":"case"' h.jsonl | grep -c '"verdict":"crashed"')"
same "--fail-fast, shrunk" 1 "$(grep '"record":"shrunk"' h.jsonl | grep -c '"label":"deterministic"')"
holds "$called" "$out" "  smallest   "
exits 1 "$bin/validate-hostile" run --backend simt --suite sanitize --op $op --kernel calls_abort,naive --fail-fast --no-shrink --json h.jsonl
same "--no-shrink" 0 "$(grep -c '"record":"shrunk"' h.jsonl)"

# --- a failure that needs earlier calls: the command that is printed repeats it
exits 1 "$bin/validate-hostile" run --backend simt --op $op --dtype f16 --kernel wrong_from_sixtieth_call --suite smoke --shrink $hangs
holds "$called" "$out" "needs earlier calls: passes alone (2 of 2), fails after "
again=$(sed -n '/^  again  /,/[^\\]$/p' <<<"$out" | sed 's/^  again *//')
same "the command is several lines" 1 "$(( $(wc -l <<<"$again") > 1 ))"
exits 1 bash -c "$bin/${again/replay/replay --backend simt --no-shrink}"
same "the first case passes, the last one fails" "passed failed:" "$(sed -n 's/^  verdict  *\([^ ]*\).*/\1/p' <<<"$out" | sed -n '1p;$p' | paste -sd' ')"
small=()
for seed in $(seq 30); do small+=("$op/wrong_from_sixtieth_call f16 rows=3 cols=5 seed=$seed"); done
exits 1 "$bin/validate-hostile" replay --backend simt --no-shrink "$op/wrong_from_sixtieth_call f16 rows=2048 cols=2048 seed=1" "${small[@]}"
same "lines are replayed in their order, though the first takes longest to prepare" "passed failed:" \
  "$(sed -n 's/^  verdict  *\([^ ]*\).*/\1/p' <<<"$out" | sed -n '1p;$p' | paste -sd' ')"

# --- --last-failed and replay --from
exits 1 "$bin/validate-hostile" run --backend simt --suite sanitize --op $op --kernel calls_abort,naive --no-shrink --json bad.jsonl
same "one failure a reason, as it came and at the end" 2 "$(grep -c "^CRASHED  $op/calls_abort " <<<"$out")"
holds "$called" "$out" "cases fail like this"
bad=$(grep -c '"verdict":"crashed"' bad.jsonl)
exits 1 "$bin/validate-hostile" run --backend simt --last-failed bad.jsonl --no-shrink --json again.jsonl
same "--last-failed" "$(grep '"verdict":"crashed"' bad.jsonl | field /dev/stdin repro)" "$(field again.jsonl repro)"
exits 1 "$bin/validate-hostile" replay --backend simt --from bad.jsonl --no-shrink
same "replay --from" "$bad" "$(grep -c '  verdict        crashed' <<<"$out")"
holds "$called" "$out" "validate-hostile replay '$op/calls_abort "
exits 3 "$validate" run --backend simt --last-failed a.jsonl
exits 3 "$validate" replay --backend simt --from a.jsonl
holds "$called" "$out" "no bad case in 'a.jsonl'"
refuses "unknown kernel 'calls_abort'" "$validate" run --backend simt --last-failed bad.jsonl

# --- colours
exits 1 "$bin/validate-hostile" run --backend simt --suite sanitize --op $op --kernel calls_abort --fail-fast --no-shrink --color always
holds "$called" "$out" $'\033[31mCRASHED\033[0m'
works "$validate" run "${quick[@]}" --color always
holds "$called" "$out" $'\033[32m'
works "$validate" run "${quick[@]}"
lacks "$called" "$out" $'\033'

# --- stores without st() cannot be watched: unsupported with --watch, and bench does not count their bytes
exits 3 "$bin/validate-hostile" run --backend simt --watch --suite sanitize --op $op --kernel stores_plainly
holds "$called" "$out" "not watchable: y was written without st()"
lacks "$called" "$out" "FAILED"
exits 0 "$bin/validate-hostile" run --backend simt --suite sanitize --op $op --kernel stores_plainly
exits 1 "$bin/validate-trial" replay --backend simt --watch --no-shrink "$op/dropped_tail f32 rows=3 cols=257"
holds "$called" "$out" "failed: unwritten: "
# Rope in place need not store the channel that it does not rotate.
exits 0 "$validate" replay --backend simt --watch --no-shrink "rope/vector16 f16 batch=1 seq_q=3 heads=2 kv_heads=1 head_dim=17 in_place=yes"
holds "$called" "$out" "not checked    accesses without ld and st"
if [[ -e $bin/validate-watch ]]; then
  exits 0 "$bin/validate-watch" replay --backend simt --watch --no-shrink "$op/naive f32 rows=3 cols=257"
  lacks "$called" "$out" "not checked"
fi
works "$bin/validate-hostile" bench --backend simt --op $op --kernel stores_plainly --shape 'rows=4 cols=64' --dtype f32
holds "$called" "$out" "bytes not counted: y was written without st()"
works "$validate" run "${quick[@]}" --quiet
same "lines of --quiet" 1 "$(wc -l <<<"$out")"

# --- other working folders
mkdir elsewhere && cd elsewhere && works "$validate" run "${quick[@]}" && cd ..
mkdir locked && cd locked && chmod a-w . && works "$validate" run "${quick[@]}" && same "left in a read-only folder" "" "$(ls)" && cd ..

# --- a terminal
if command -v script >/dev/null; then
  for columns in 80 160; do
    TERM=xterm timeout $hangs script -qc "stty cols $columns; '$validate' run --backend simt --suite smoke --dtype f16 --op $op,rmsnorm --kernel naive,block_row" \
      terminal </dev/null >/dev/null 2>&1
    # The text that a terminal would show: the part of each line after its last carriage return.
    shown=$(sed '1d; s/\r$//; s/.*\r//; s/\x1b\[[0-9]*[Km]//g; /^Script done/d' terminal)
    progress=$(tr '\r' '\n' <terminal | sed -n 's/\x1b\[K//g; / of [0-9]*  /p')
    same "lines wider than $columns columns" "" "$(grep -v '^Assay ' <<<"$shown" | wider "$columns")"
    same "progress lines that may wrap at $columns columns" "" "$(wider $((columns - 1)) <<<"$progress")"
    holds "the table at $columns columns" "$shown" "err/bound"
    holds "the note on tiles" "$shown" "cases with more than one tile and a ragged tail ("
    holds "the note on fewer tokens" "$shown" "are smaller than their model's: rows to "
  done
fi

# --- broken datasets
broken() {  # broken PART SCRIPT: copies the datasets, breaks them, and runs
  rm -rf data && cp -r "$sources/datasets" data && (cd data && eval "$2")
  refuses "$1" "$validate" run "${quick[@]}" --datasets data --json never.jsonl
  same "a record file in spite of '$2'" "" "$(ls never.jsonl 2>/dev/null)"
}
some=models/gpt2-124m.json
broken "not a folder" 'rm -r models'
broken "it lacks edges/common.json" 'rm edges/common.json'
broken "$some: line" "head -c 100 $some >x; mv x $some"
broken "$some: line" ": >$some"
broken "expected a whole number" "sed -i 's/\"hidden\": *[0-9]*/\"hidden\": \"many\"/' $some"
broken "'hidden' is missing" "sed -i '/\"hidden\"/d' $some"
broken "Did you mean 'hidden'?" "sed -i 's/\"hidden\"/\"hiden\"/' $some"
broken "more than 2^40" "sed -i 's/\"hidden\": *[0-9]*/\"hidden\": 9223372036854775808/' $some"
broken "it has 'name' twice" "sed -i '0,/{/s//{\"name\": \"twice\",/' $some"
broken "expected an object" "echo '[]' >edges/common.json"
broken "unknown op 'layernorm_residul'" "cp edges/$op.json edges/layernorm_residul.json"
broken "cannot be read" "rm $some; mkdir $some"
[[ $(id -u) == 0 ]] || broken "cannot be read" "chmod a-r $some"
verdict
