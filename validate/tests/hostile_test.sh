#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kernels that attack what runs them cost their own verdicts and nothing else.  The first argument is the binaries' folder.
source "$(dirname "$0")/checks.sh"

file=$tmp/hostile.jsonl
call "$bin/validate-hostile" run --backend simt --op layernorm_residual --suite sanitize --shard 1/6 --timeout 2 --json "$file"
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
expect writes_null crashed "signal 11"
expect calls_abort crashed "signal 6"
expect calls_exit crashed "exited with code 0"
expect recurses_forever crashed "signal 11"
expect closes_socket crashed "the worker's socket was closed"
expect answers_for_the_worker crashed "something other than a reply"
expect forges_a_reply crashed "answered another order"
expect loops_forever timeout "no answer within 2 s"
expect stops_itself timeout "no answer within 2 s"
expect leaves_a_child timeout "no answer within 2 s"
expect throws_noise failed "loud"
expect prints passed ""
expect lacks_a_library skipped "libnowhere is missing: no such file"
# The allocation may also be refused where nothing catches it.
memory=$(grep '"kernel":"allocates_forever"' "$file")
holds "reason of allocates_forever" "$memory" "asked for more memory than a worker may have"
for kernel in "$sources"/cuda/layernorm_residual/*.cu; do
  expect "$(basename "$kernel" .cu)" passed ""
done
call "$bin/validate-hostile" replay --backend simt "layernorm_residual/takes_finite f16 rows=9 cols=33 fill=nan_in_row"
holds "$called" "$out" "unsupported: declares finite inputs"
works "$bin/validate-hostile" replay --backend simt "layernorm_residual/takes_finite f16 rows=9 cols=33 layout=padded"
same "workers left behind" "" "$(running "$bin/validate-hostile")"
verdict
