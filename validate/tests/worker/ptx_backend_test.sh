#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kernels of this tree, run on simt from the PTX that nvcc makes of their own .cu files.
#   ptx_backend_test.sh BINARIES [CMAKE BUILD]   without the last two, as where no nvcc is, it is skipped
[ $# -eq 3 ] || { echo "skipped: no nvcc was found when the build was configured"; exit 77; }
log=$("$2" --build "$3" --target ptx_add --target ptx_embedding 2>&1) || { tail -n 20 <<<"$log"; exit 1; }
source "$(dirname "$0")/../checks.sh"
run=("$validate" run --backend ptx --no-shrink)

# --- the kernels pass, and what they compute exactly has the bits of the C++ door
for op in add embedding; do
  exits 0 "$validate" run --backend simt --op $op --suite smoke --json simt_$op.jsonl
  exits 0 "${run[@]}" --op $op --suite sanitize --watch
  exits 0 "${run[@]}" --op $op --suite smoke --same-as simt_$op.jsonl --bit-equal --json $op.jsonl
  holds "fidelity of $op" "$(<$op.jsonl)" '"fidelity":"exact"'
  lacks "fidelity of $op" "$(<$op.jsonl)" contractable
done
holds "where it ran" "$(head -1 add.jsonl)" '"backend":"simt"'
holds "how it is run again" "$(<add.jsonl)" '"loaded":"--backend ptx"'
exits 0 "$validate" replay --backend ptx 'add/vector16 f16 rows=3 cols=65'
holds "$called" "$out" "verdict        passed"
holds "traffic" "$out" "read 390"

# --- both doors side by side
if command -v python3 >/dev/null; then
  doors=(python3 -B "$sources/reports/ptx_doors.py")
  exits 0 "${doors[@]}" simt_add.jsonl add.jsonl simt_embedding.jsonl embedding.jsonl
  rows=$(tr -s ' ' <<<"$out")
  holds "$called" "$rows" "add/vector16 exact bf16 f16 f32"
  holds "$called" "$rows" ", 0 cases another verdict"
  same "outputs with other bits" 0 "$(awk '/exact/ && $(NF - 3) != $(NF - 4)' <<<"$rows" | wc -l)"
  sed '0,/"verdict":"passed"/s//"verdict":"failed"/' simt_add.jsonl >other.jsonl
  exits 1 "${doors[@]}" other.jsonl add.jsonl
  holds "$called" "$out" "passed as PTX, failed as C++"
fi

# --- the PTX of a kernel, and the kernels of a program
exits 0 "$bin/ptx/add" naive
holds "$called" "$out" ".target sm_80"
exits 0 "$bin/ptx/add"
holds "$called" "$out" "add/vector16.ptx"
exits 2 "$bin/ptx/add" no_such
holds "$called" "$err" "'no_such' is no kernel of this program"

# --- what is not there
if [ ! -e "$bin/ptx/attention_backward" ]; then
  refuses "there is no $bin/ptx/attention_backward" "${run[@]}" --op attention_backward
fi
mkdir elsewhere
cp "$validate" elsewhere/validate
refuses "backend ptx cannot be used: there is no $tmp/elsewhere/ptx" elsewhere/validate run --backend ptx --op add
exits 7 elsewhere/validate run --backend ptx --op add --skip-exit 7
refuses "--backend ptx: it runs the kernels of this tree, and no others" "${run[@]}" --plugin none.so
refuses "--backend ptx: only run and replay" "$validate" probe --backend ptx

verdict
