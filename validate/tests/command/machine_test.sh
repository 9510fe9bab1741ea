#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A machine that computes, or starts processes, in another way than ours is told, and no kernel is blamed for it.
#   machine_test.sh BINARIES PLUGINS COMPILER     PLUGINS: the folder of hostile.so
source "$(dirname "$0")/../checks.sh"
plugins=$(cd "$2" && pwd -P) || exit 2
"$3" -shared -fPIC -o faulty.so "$sources/validate/tests/hostile/faulty_machine.c" -ldl || exit 2
run=("$validate" run --backend simt --op softmax --suite sanitize --no-shrink)
faulty=(env "LD_PRELOAD=$PWD/faulty.so" "ASAN_OPTIONS=verify_asan_link_order=0:$ASAN_OPTIONS")

# skips_all WHY COMMAND...: every case is skipped since the machine is at fault, for a reason that holds WHY.
skips_all() {
  local why=$1
  shift
  exits 3 "$@" --json records.jsonl
  whole_lines records.jsonl "$called"
  same "$called: verdicts" "skipped" "$(field records.jsonl verdict | sort -u)"
  same "$called: other reasons" "" "$(field records.jsonl reason | grep -v "^machine: .*$why" | head -1)"
  exits 0 "$@" --partial
}

# --- arithmetic that a library has changed: subnormals that become zero, three roundings, exceptions that end the process
if [[ $(uname -m) == x86_64 ]]; then
  for state in 0x9fc0 0x9f80 0x1fc0 0x3f80 0x5f80 0x7f80 0x1f00; do
    skips_all "(MXCSR $state)" "${faulty[@]}" ASSAY_FAULTY_ARITHMETIC=$state "${run[@]}"
    skips_all "(MXCSR $state)" "${faulty[@]}" ASSAY_FAULTY_ARITHMETIC=$state ASSAY_FAULTY_WORKERS=1 "${run[@]}"
  done
  exits 3 "${faulty[@]}" ASSAY_FAULTY_ARITHMETIC=0x9fc0 "$validate" bench --backend simt --op softmax --shape "rows=2 cols=8"
  holds "$called" "$err" "the machine is at fault: half the least normal number comes out as 0 in f32"
  exits 0 "${faulty[@]}" ASSAY_FAULTY_ARITHMETIC=0x1f80 "${run[@]}"
fi

# --- a GPU's driver, which the simulated machine leaves alone
if "$validate" doctor | grep -q '^  cuda .*: works$'; then
  exits 0 env LD_DEBUG=files "${run[@]}"
  lacks "$called: its driver" "$err" "libcuda.so"
  exits 0 env LD_DEBUG=files "$validate" run --backend cuda --op softmax --suite sanitize --no-shrink
  holds "$called: its driver" "$err" "libcuda.so"
fi

# --- fewer threads than there are processors: the run judges, or says that the machine is at fault
for threads in 0 1 2 3 4 5 6; do
  call "${faulty[@]}" ASSAY_FAULTY_THREADS=$threads OMP_NUM_THREADS=2 "${run[@]}"
  checks=$((checks + 1))
  [[ $code == 0 || $code == 3 && $out$err == *machine* ]] || fail "$called" "exit 0, or 3 and a word on the machine" "exit $code: $err"
done
exits 3 "${faulty[@]}" ASSAY_FAULTY_THREADS=0 "${run[@]}"
holds "$called" "$err" "no thread can be started"

# --- a file of tensors that is cut once it is mapped: before its header, in its elements, and in the last page, where no signal tells
works "$validate" inputs softmax f32 rows=33 cols=65 seed=7 -o in.safetensors
works "$validate" golden --inputs in.safetensors -o y.safetensors
for cut in in y; do
  for bytes in 0 4096 $(($(stat -c %s $cut.safetensors) - 1)); do
    cp $cut.safetensors cut.safetensors
    files=(in.safetensors y.safetensors)
    files[$([[ $cut == in ]]; echo $?)]=cut.safetensors
    refuses "'cut.safetensors' was changed while it was read" "${faulty[@]}" "ASSAY_FAULTY_FILE=$bytes cut.safetensors" "$validate" judge "${files[@]}"
  done
done
for bytes in 0 4096 $(($(stat -c %s in.safetensors) - 1)); do
  for verb in "golden -o out.safetensors" "run --backend simt --kernel naive"; do
    cp in.safetensors cut.safetensors
    exits 2 "${faulty[@]}" "ASSAY_FAULTY_FILE=$bytes cut.safetensors" "$validate" $verb --inputs cut.safetensors
    holds "$called" "$err" "'cut.safetensors' was changed while it was read"
  done
done
[[ ! -e out.safetensors ]] || fail "golden of a file that was cut" "nothing" "out.safetensors"

# --- few open files
for files in 24 40 64; do exits 0 bash -c "ulimit -n $files && exec \"\$@\"" bash "${run[@]}"; done
for files in 8 10 12 14 16; do
  call bash -c "ulimit -n $files && exec \"\$@\"" bash "${run[@]}"
  checks=$((checks + 1))
  [[ $code == 0 || $code == 3 && $out == *"machine: "*"can be open"* ]] || fail "$called" "0, or 3 and the limit" "$code: $err"
done

# --- little address space: simt needs much, and says so before it begins
for kib in 500000 4000000 64000000 200000000 400000000; do
  exits 2 bash -c "ulimit -v $kib && exec \"\$@\"" bash "${run[@]}"
  holds "$called" "$err" "of address space and"
done
exits 0 bash -c "ulimit -v 500000000 && exec \"\$@\"" bash "${run[@]}"

# --- signals that the caller ignored or blocked: a worker's end is still seen, and a run still ends
exits 1 "${faulty[@]}" ASSAY_FAULTY_SIGNALS=1 "$validate" run --plugin "$plugins/hostile.so" --kernel segfaults --dtype f32 --suite sanitize --no-shrink
holds "$called" "$out" "the worker process was killed by signal 11"
rm -f records.jsonl
"${faulty[@]}" ASSAY_FAULTY_SIGNALS=1 "$validate" run --backend simt --suite full --json records.jsonl >out 2>err </dev/null &
judge=$!
begun() { [[ $(grep -c '"record":"case"' records.jsonl 2>/dev/null) -gt 5 ]]; }
until_so begun
kill -TERM $judge
ended() { [[ $(cut -d' ' -f3 "/proc/$judge/stat" 2>/dev/null) != [RSD] ]]; }
until_so ended || kill -KILL $judge
wait $judge
same "kill -TERM, where it was blocked" "exit 130" "exit $?"
verdict
