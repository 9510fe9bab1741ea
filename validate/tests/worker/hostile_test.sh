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
hanging=(loops_forever stops_itself leaves_a_child spins blocks_signals stops_its_group)
hang=20
# Kernels that the sandbox keeps from what they try; a wrong answer tells that they could.
kept=(opens_files_for_writing signals_the_judge traces_the_judge opens_the_record asks_for_namespaces connects_to_services
  leaves_shared_memory changes_the_judge controls_files_it_reads)
unconfined=()
sandbox=$("$bin/validate-hostile" doctor | sed -n 's/^  sandbox *kernels: \([^;]*\);.*/\1/p')
if ! on simt; then  # where a worker is confined as a program is
  sandbox=$("$bin/validate-hostile" doctor | sed -n 's/^  sandbox .*other programs: //p')
  unconfined=(opens_files_for_writing traces_the_judge asks_for_namespaces connects_to_services leaves_shared_memory controls_files_it_reads)
  kept=(signals_the_judge opens_the_record changes_the_judge)
fi
[[ $sandbox == "landlock "*", seccomp" && ${sandbox//[^0-9]/} -ge 6 ]] || { echo "not tried, the sandbox is '$sandbox': ${kept[*]}" && unconfined+=("${kept[@]}") && kept=(); }
mkdir hostile_folder && echo kept >hostile_folder/file
export ASSAY_HOSTILE_FOLDER=$tmp/hostile_folder
on cuda && hanging+=(gpu_leaves_a_loop gpu_exits_with_a_loop) && hang=60  # a worker's first order waits for its CUDA context
others=$("$bin/validate-hostile" list kernels --op $op | awk 'NR > 1 {print $2}' | grep -vx "$(printf '%s\n' "${hanging[@]}" "${unconfined[@]}")")

# attacked FILE FLAG...: a run with its records in FILE.
attacked() {
  file=$1
  shift
  exits 1 "$bin/validate-hostile" run --backend $backend --op $op --suite sanitize --no-vendor --no-shrink --json "$file" "$@"
  whole_lines "$file" "$called"
  lacks "$called" "$out" '{"record"'     # what a kernel prints is not in the command's output
  lacks "$called" "$out$err" $'\033'         # nor is what it throws at the terminal
  lacks "$called" "$out$err" $'\302\233'     # which may take this for the same
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
    if [[ $kernel == warp_row || $kernel == one_pack ]]; then  # take no rows above 8 KiB, and none that is not aligned
      verdicts "$kernel" passed unsupported
      holds "verdicts of $kernel" "$(grep "\"kernel\":\"$kernel\"" "$file")" '"verdict":"passed"'
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
verdicts doubles_an_element failed
expect unmaps_its_inputs crashed "signal 11"
expect closes_descriptors crashed "the worker's socket was closed"
expect leaves_a_daemon failed "it left a process behind"
expect leaves_many_and_dies crashed "signal 6"
expect exits_in_a_handler crashed "exited with code 7"
expect becomes_another_program crashed "exited with code 0"
expect sets_an_alarm crashed "signal 14"
expect throws_an_int crashed "signal 6"
expect throws_through_c failed "thrown through C"
verdicts throws_out_of_memory skipped failed
for kernel in writes_sealed_inputs opens_the_seal floods_stderr leaves_its_parent changes_its_surroundings jumps_over_frames leaves_threads reaches_the_terminal "${kept[@]}"; do
  expect $kernel passed ""
done
# The system does what these ask for, and what follows concerns nobody else.
for kernel in takes_all_descriptors flushes_subnormals rounds_upwards lowers_its_limits; do
  verdicts $kernel passed failed skipped crashed
done
same "the test's folder" file "$(ls hostile_folder)"
same "the test's file" kept "$(<hostile_folder/file)"
holds "$called" "$err" "this worker prints too much"
same "bytes on standard error" bounded "$( (($(wc -c <"$tmp/err") < 20000000)) && echo bounded || wc -c <"$tmp/err")"
holds "the sandbox in the record" "$(head -1 "$file")" "\"sandbox\":\"$sandbox"
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
  # Note: once any other worker ends, the judge ends the orphans too, and with them the child that holds the socket.
  if [[ $kernel == gpu_exits_with_a_loop || $kernel == leaves_a_child ]]; then verdicts $kernel crashed timeout
  else expect "$kernel" timeout "no answer within $hang s"; fi
done
sound_pass

# --- without the sandbox
if ((${#kept[@]})); then
  attacked unconfined.jsonl --shard 1/18 --timeout $hangs --no-sandbox --kernel opens_files_for_writing
  expect opens_files_for_writing failed ""
  holds "the sandbox in the record" "$(head -1 "$file")" '"sandbox":"off: --no-sandbox"'
fi

# --- a sandbox that cannot be put on, since a process has at most 16 layers of it: nothing runs without
if ((${#kept[@]})) && command -v python3 >/dev/null; then
  layered=(python3 -c '
import ctypes, os, sys
libc, block_devices = ctypes.CDLL(None), (ctypes.c_uint64 * 1)(1 << 11)  # making these is what a layer forbids
libc.prctl(38, 1, 0, 0, 0)
for layer in range(16): libc.syscall(446, libc.syscall(444, block_devices, 8, 0), 0)
os.execv(sys.argv[1], sys.argv[1:])')
  exits 3 "${layered[@]}" "$bin/validate-hostile" run --backend simt --kernel opens_files_for_writing --suite sanitize --shard 1/18 --json layered.jsonl
  same "verdicts without a sandbox" "skipped" "$(field layered.jsonl verdict | sort -u)"
  holds "reasons without a sandbox" "$(field layered.jsonl reason)" "machine: the worker found no memory, could not be confined"
  exits 2 "${layered[@]}" "$validate" run --worker 'printf "is %sning\n" run'
  holds "$called" "$err" "the program cannot be confined"
  lacks "$called" "$err" "is running"
  attacked layered.jsonl --shard 1/18 --timeout $hangs --no-sandbox --kernel doubles_an_element
fi

# --- a worker of another program: it writes in a folder of its own, which is removed, and what it starts ends with it
if ((${#kept[@]})); then
  mkdir folders others && echo kept >others/file
  TMPDIR=$tmp/folders call "$validate" run --worker 'echo x >others/new && printf "is %sside\n" out; echo x >$TMPDIR/new && printf "is %sside\n" in
    echo x >>others/file && printf "is %sside\n" out; kill $PPID && printf "is %sside\n" out
    sh -c "echo named >/proc/self/comm" && printf "a child is %s\n" named
    [ "$(ulimit -d)" = unlimited ] || printf "its memory is %sed\n" bound; printf "first to be %s\n" ended by $(cat /proc/self/oom_score_adj)
    setsid sleep 98765 3>&- & setsid sleep 98765 3>&- & exit 1'
  same "a worker that writes" "exit 2" "exit $code"
  holds "a worker that writes" "$err" "is inside"
  lacks "a worker that writes" "$err" "is outside"
  holds "a worker that writes" "$err" "a child is named"
  holds "a worker that writes" "$err" "its memory is bounded"
  holds "a worker that writes" "$err" "first to be 1000"
  same "folders that it leaves" "" "$(ls folders)"
  same "what it changes" "file kept" "$(ls others) $(<others/file)"
  same "processes that it leaves" "" "$(grep -slz '9876[5]' /proc/[0-9]*/cmdline)"
fi

# --- the same of a program that changes the judge, the machine and files that it may only read, and looks for what is secret
attacks() {  # attacks FLAG...: what it did and should not is in $open, what it should and did not in $shut
  GITHUB_TOKEN=x CI_JOB_TOKEN=x AWS_SECRET_ACCESS_KEY=x NVIDIA_API_KEY=x UNHEARD_OF=x CI_FLAG=x exits 2 \
    "$validate" run --worker "cd / && python3 '$sources/validate/tests/hostile/program.py'" "$@"
  open=$(sed '1,/^--- the others/d; /^validate: /d; / refused/d' <<<"$err")
  shut=$(sed '/^--- the others/,$d; / done/d' <<<"$err")
  tried=$(grep -c ' refused\| done' <<<"$err")
}
if ((${#kept[@]})) && command -v python3 >/dev/null; then
  attacks
  same "what a program is not refused" "" "$open"
  same "what a program cannot do" "" "$shut"
  same "attempts of a program" 47 "$tried"
  attacks --network --pass-env UNHEARD_OF --pass-env CI_FLAG
  same "what a program has with the network and two variables" "AF_INET AF_INET6 AF_VSOCK AF_ALG UNHEARD_OF CI_FLAG" \
    "$(sed 's/ done.*//' <<<"$open" | tr '\n' ' ' | sed 's/ $//')"
fi
refuses "--pass-env: the environment has no 'NOWHERE_AT_ALL'" "$validate" run --worker true --pass-env NOWHERE_AT_ALL
refuses "--pass-env: 'A=B' is no name of a variable" "$validate" run --worker true --pass-env A=B
refuses "--pass-env: '' is no name of a variable" "$validate" run --worker true --pass-env ''

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
