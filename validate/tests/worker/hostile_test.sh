#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A kernel that attacks its worker or the judge fails alone: other kernels of the run pass.
#   hostile_test.sh BINARIES [simt|cuda]
source "$(dirname "$0")/../checks.sh"
backend=${2:-simt}
on() { [[ $backend == "$1" ]]; }
op=layernorm_residual
sound=$(cd "$sources/cuda/$op" && ls -- *.cu | sed '/^baseline_/d; s/[.]cu$//')
# Kernels that never answer.  The sound kernels of the same run answer in a fraction of a second.
hanging=(loops_forever stops_itself leaves_a_child spins)
hang=20
on cuda && hanging+=(gpu_leaves_a_loop gpu_exits_with_a_loop) && hang=60  # a worker's first order waits for its CUDA context
others=$("$bin/validate-hostile" list kernels --op $op | awk 'NR > 1 {print $2}' | grep -vx "$(printf '%s\n' "${hanging[@]}")")

# attacked FILE FLAG...: a run with its records in FILE.
attacked() {
  file=$1
  shift
  exits 1 "$bin/validate-hostile" run --backend $backend --op $op --suite sanitize --no-vendor --no-shrink --json "$file" "$@"
  whole_lines "$file" "$called"
  lacks "$called" "$out" '{"record"'     # what a kernel prints is not in the command's output
  lacks "$called" "$out" $'\033'         # nor is what it throws at the terminal
  same "$called" "an end record" "$(grep -q '"record":"end".*"interrupted":false' "$file" && echo an end record)"
}
names() { tr -s ' \n' , <<<"$*" | sed 's/,$//'; }

# expect KERNEL VERDICT REASON: every case of the kernel has this verdict and a reason that contains REASON.
expect() {
  local seen
  seen=$(grep "\"kernel\":\"$1\"" "$file" | grep -o '"verdict":"[a-z]*"\(,"reason":"[^"]*"\)\?' | sort -u)
  same "verdicts of $1" 1 "$(wc -l <<<"$seen")"
  holds "verdict of $1" "$seen" "\"verdict\":\"$2\""
  holds "reason of $1" "$seen" "$3"
}
# verdicts KERNEL VERDICT...: every case of the kernel has one of these verdicts.
verdicts() {
  local kernel=$1 seen
  shift
  seen=$(grep "\"kernel\":\"$kernel\"" "$file" | grep -o '"verdict":"[a-z]*"' | sed 's/.*:"//; s/"//' | sort -u | tr '\n' ' ')
  same "verdicts of $kernel" "$*" "$(for v in $seen; do [[ " $* " == *" $v "* ]] && echo "$*" || echo "$v"; done | sort -u | tr '\n' ' ' | sed 's/ $//')"
}
# The sound kernels of the same run pass.
sound_pass() {
  local kernel
  for kernel in $sound; do
    if [[ $kernel == warp_row ]]; then  # takes no rows above 8 KiB
      verdicts warp_row passed unsupported
      holds "verdicts of warp_row" "$(grep '"kernel":"warp_row"' "$file")" '"verdict":"passed"'
    else
      expect "$kernel" passed ""
    fi
  done
}

# --- kernels that end their worker, or answer
attacked crashes.jsonl --shard 1/6 --timeout $hangs --kernel "$(names $others)"
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
expect throws_noise failed "loud"
expect prints passed ""
expect lacks_a_library skipped "libnowhere is missing: no such file"
# Not every case must have this reason: where nothing catches std::bad_alloc, the worker dies.
memory=$(grep '"kernel":"allocates_forever"' "$file")
holds "reason of allocates_forever" "$memory" "asked for more memory than a worker may have"
# On the device.
if on simt; then
  expect pokes_null failed "out_of_bounds"
  expect asserts crashed "signal 6"
  expect launches_too_many failed "bad_launch"
else
  expect pokes_null failed "cudaErrorIllegalAddress"
  expect asserts failed "cudaErrorAssert"
  expect launches_too_many failed ""
  expect gpu_poisons_context failed "cudaErrorIllegalAddress"
  verdicts gpu_resets_device crashed failed
fi
sound_pass

# --- kernels that never answer, all at once
attacked hangs.jsonl --shard 1/18 --timeout $hang --jobs 16 --kernel "$(names "${hanging[@]}" $sound)"
for kernel in "${hanging[@]}"; do
  if [[ $kernel == gpu_exits_with_a_loop ]]; then verdicts $kernel crashed timeout
  else expect "$kernel" timeout "no answer within $hang s"; fi
done
sound_pass

# --- single cases
call "$bin/validate-hostile" replay --backend $backend "$op/takes_finite f16 rows=9 cols=33 fill=nan_in_row"
holds "$called" "$out" "unsupported: declares finite inputs"
works "$bin/validate-hostile" replay --backend $backend "$op/takes_finite f16 rows=9 cols=33 layout=padded"
# Crashes and hangs are shrunk too.
call "$bin/validate-hostile" replay --backend $backend --timeout $hangs --shrink $hangs "$op/writes_null f16 rows=9 cols=33 fill=ramp"
holds "$called" "$out" "$op/writes_null f16 rows=1 cols=1 seed=0"
holds "$called" "$out" "label          deterministic"
same "$called" "exit 1" "exit $code"
call "$bin/validate-hostile" replay --backend $backend --timeout 2 --shrink $hangs "$op/loops_forever f16 rows=9 cols=33"
holds "$called" "$out" "$op/loops_forever f16 rows=1 cols=1 seed=0"
none_left() { [[ -z $(running "$bin/validate-hostile") ]]; }
until_so none_left || fail "workers left behind" "none" "$(running "$bin/validate-hostile")"
verdict
