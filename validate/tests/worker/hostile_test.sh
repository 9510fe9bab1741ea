#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kernels that attack what runs them cost their own verdicts and nothing else.
#   hostile_test.sh BINARIES [simt|cuda]
source "$(dirname "$0")/../checks.sh"
backend=${2:-simt}
hang=2
[[ $backend == cuda ]] && hang=10  # a worker's first order waits for its CUDA context, and many start at once
on() { [[ $backend == "$1" ]]; }

file=$tmp/hostile.jsonl
limit=120
on cuda && limit=560
called="validate-hostile run --backend $backend"
timeout -k 5 $limit "$bin/validate-hostile" run --backend $backend --op layernorm_residual --suite sanitize --shard 1/6 --no-vendor \
  --timeout $hang --no-shrink --json "$file" >"$tmp/out" 2>"$tmp/err" </dev/null
code=$? out=$(<"$tmp/out") err=$(<"$tmp/err")
same "$called" "exit 1" "exit $code"
whole_lines "$file" "$called"
lacks "$called" "$out" '{"record"'     # what a kernel prints is not in the command's output
lacks "$called" "$out" $'\033'         # nor is what it throws at the terminal
same "$called" "an end record" "$(grep -q '"record":"end".*"interrupted":false' "$file" && echo an end record)"

# expect KERNEL VERDICT REASON: of every one of its cases.
expect() {
  local seen
  seen=$(grep "\"kernel\":\"$1\"" "$file" | grep -o '"verdict":"[a-z]*"\(,"reason":"[^"]*"\)\?' | sort -u)
  same "verdicts of $1" 1 "$(wc -l <<<"$seen")"
  holds "verdict of $1" "$seen" "\"verdict\":\"$2\""
  holds "reason of $1" "$seen" "$3"
}
# verdicts KERNEL VERDICT...: each of its cases has one of these.
verdicts() {
  local kernel=$1 seen
  shift
  seen=$(grep "\"kernel\":\"$kernel\"" "$file" | grep -o '"verdict":"[a-z]*"' | sed 's/.*:"//; s/"//' | sort -u | tr '\n' ' ')
  same "verdicts of $kernel" "$*" "$(for v in $seen; do [[ " $* " == *" $v "* ]] && echo "$*" || echo "$v"; done | sort -u | tr '\n' ' ' | sed 's/ $//')"
}
# On the host: the worker's own process.
expect writes_null crashed "signal 11"
expect calls_abort crashed "signal 6"
expect calls_exit crashed "exited with code 0"
expect exits_in_order crashed "exited with code 3"
expect recurses_forever crashed "signal 11"
verdicts corrupts_heap crashed
expect closes_socket crashed "the worker's socket was closed"
expect answers_for_the_worker crashed "something other than a reply"
expect forges_a_reply crashed "answered another order"
expect loops_forever timeout "no answer within $hang s"
expect stops_itself timeout "no answer within $hang s"
expect leaves_a_child timeout "no answer within $hang s"
expect throws_noise failed "loud"
expect prints passed ""
expect lacks_a_library skipped "libnowhere is missing: no such file"
# The allocation may also be refused where nothing catches it.
memory=$(grep '"kernel":"allocates_forever"' "$file")
holds "reason of allocates_forever" "$memory" "asked for more memory than a worker may have"
# On the device.
expect spins timeout "no answer within $hang s"
if on simt; then
  expect pokes_null failed "out_of_bounds"
  expect asserts crashed "signal 6"
  expect launches_too_many failed "bad_launch"
else
  expect pokes_null failed "cudaErrorIllegalAddress"
  expect asserts failed "cudaErrorAssert"
  expect launches_too_many failed ""
  expect gpu_poisons_context failed "cudaErrorIllegalAddress"
  expect gpu_leaves_a_loop timeout "no answer within $hang s"
  verdicts gpu_exits_with_a_loop crashed timeout
  verdicts gpu_resets_device crashed failed
fi
# Everybody else, in the same run.
for kernel in "$sources"/cuda/layernorm_residual/*.cu; do
  [[ $kernel == */baseline_* ]] || expect "$(basename "$kernel" .cu)" passed ""
done
call "$bin/validate-hostile" replay --backend $backend "layernorm_residual/takes_finite f16 rows=9 cols=33 fill=nan_in_row"
holds "$called" "$out" "unsupported: declares finite inputs"
works "$bin/validate-hostile" replay --backend $backend "layernorm_residual/takes_finite f16 rows=9 cols=33 layout=padded"
# A crash and a hang are made smaller, too, and neither the time nor the verdict grows.
call "$bin/validate-hostile" replay --backend $backend --timeout $hang "layernorm_residual/writes_null f16 rows=9 cols=33 fill=ramp"
holds "$called" "$out" "layernorm_residual/writes_null f16 rows=1 cols=1 seed=0"
holds "$called" "$out" "label          deterministic"
same "$called" "exit 1" "exit $code"
call "$bin/validate-hostile" replay --backend $backend --timeout $hang "layernorm_residual/loops_forever f16 rows=9 cols=33"
holds "$called" "$out" "layernorm_residual/loops_forever f16 rows=1 cols=1 seed=0"
same "workers left behind" "" "$(running "$bin/validate-hostile")"
verdict
