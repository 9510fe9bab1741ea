#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The scripts that judge records: reports/traffic.py and cross_check.py.  The first argument is the binaries' folder.
source "$(dirname "$0")/../checks.sh"
command -v python3 >/dev/null || exit 77
export PYTHONDONTWRITEBYTECODE=1
recorded=$sources/reports/baselines/nvidia-h200

# --- DRAM bytes beside the formula
traffic=(python3 "$sources/reports/traffic.py")
dram() {  # dram KERNEL LIMIT FORMULA READ WRITTEN
  echo "{\"record\":\"bench\",\"op\":\"softmax\",\"kernel\":\"$1\",\"dtype\":\"f16\",\"shape\":\"rows=8 cols=8\",\"limit\":\"$2\"," \
    "\"bytes\":{\"formula\":$3,\"unfused_formula\":$((2 * $3))},\"dram\":{\"read_bytes\":$4,\"written_bytes\":$5}}"
}
{
  echo '{"record":"run"}'
  dram block_row copy 400000000 200000000 200000000
  dram warp_row copy 400000000 210000000 209000000
  dram tiled matrix 400000000 900000000 0
  dram naive copy 400000000 600000000 200000000
  dram unfused copy 400000000 400000000 400000000
  dram baseline_cudnn copy 400000000 1 1
  dram little copy 200000000 1 1
} >moved.jsonl
exits 0 "${traffic[@]}" moved.jsonl
holds "$called" "$out" "2 rows judged, 0 beyond 5 % of the formula"
holds "a row" "$(tr -s ' ' <<<"$out")" "softmax/warp_row f16 rows=8 cols=8 400.00 419.00 1.0475 ok"
holds "unfused by its own formula" "$(tr -s ' ' <<<"$out")" "softmax/unfused f16 rows=8 cols=8 800.00 800.00 1.0000 (moves"
holds "what arithmetic limits" "$out" "(the arithmetic limits it)"
lacks "what the cache keeps in part" "$out" "softmax/little"
exits 1 "${traffic[@]}" moved.jsonl --within 0.04
holds "$called" "$out" "2 rows judged, 1 beyond 4 % of the formula"
# A planted wrong record: a tenth too much, a tenth too little; and the latest of a row is the one that counts.
for planted in 240000000 160000000; do
  { cat moved.jsonl; dram block_row copy 400000000 200000000 $planted; } >wrong.jsonl
  exits 1 "${traffic[@]}" wrong.jsonl
  holds "$called" "$out" "OFF"
  holds "$called" "$out" "2 rows judged, 1 beyond"
done
exits 0 "${traffic[@]}" wrong.jsonl moved.jsonl
gzip -k moved.jsonl
exits 0 "${traffic[@]}" moved.jsonl.gz --markdown
holds "$called" "$out" "| softmax/block_row | f16 | rows=8 cols=8 | 400.00 | 400.00 | 1.0000 | ok |"
exits 0 "${traffic[@]}" "$recorded/suite_ln-residual.jsonl"
holds "$called" "$out" "5 rows judged, 0 beyond"
grep -v '"bench"' moved.jsonl >none.jsonl
exits 1 "${traffic[@]}" none.jsonl
holds "$called" "$out" "0 rows judged"
refuses "RECORDS" "${traffic[@]}"
refuses "cannot read 'nonesuch'" "${traffic[@]}" nonesuch
refuses "--within" "${traffic[@]}" moved.jsonl --within 0
echo '{"record":"bench","dram":{},"op":"add"}' >part.jsonl
refuses "lacks 'kernel'" "${traffic[@]}" part.jsonl
echo '{' >part.jsonl
refuses "part.jsonl, line 1" "${traffic[@]}" part.jsonl

# --- our medians beside PyTorch's of the same call
check=(python3 "$sources/reports/cross_check.py")
head() { echo "{\"record\":\"run\",\"device\":\"$1\"}"; }
of_row="\"backend\":\"cuda\",\"dtype\":\"f16\""
ours() {  # ours KERNEL SHAPE US [FUNCTION BLOCKS]
  echo "{\"record\":\"bench\",\"op\":\"linear\",\"kernel\":\"$1\",$of_row,\"shape\":\"$2\",\"time_us\":{\"median\":$3}" \
    "${4:+,\"library_functions\":[{\"function\":\"$4\",\"blocks\":${5-}\}]}}"
}
other() {  # the same of PyTorch
  echo "{\"record\":\"timing\",\"op\":\"linear\",\"kernel\":\"$1\",$of_row,\"shape\":\"$2\",\"time_us\":{\"median\":$3}" \
    "${4:+,\"functions\":[{\"function\":\"$4\",\"blocks\":${5-}\}]}}"
}
{
  head "a GPU"
  ours baseline_cublaslt same 100 "gemm<(int)2>" 132; ours baseline_cublaslt small 10 gemm 132
  ours baseline_cublaslt grid 100 gemm 132; ours baseline_cublaslt unknown 100; ours mma_tiled same 50
  head "a GPU"
  other pytorch_eager same 102.9 "void gemm<(int)2>(float*)" 132; other pytorch_eager small 20 gemm 132
  other pytorch_cublaslt same 97.1 "gemm<(int)2>" 132; other pytorch_eager grid 150 gemm 64; other pytorch_eager unknown 100 gemm 132
  other pytorch_compile same 500 gemm 132
  head "another GPU"
  other pytorch_eager same 500 "gemm<(int)2>" 132
} >calls.jsonl
exits 0 "${check[@]}" calls.jsonl
holds "$called" "$out" "2 of 5 pairs judged, 0 beyond 3 %"
holds "a pair" "$(tr -s ' ' <<<"$out")" "linear/baseline_cublaslt pytorch_eager f16 same 100.00 102.90 1.0290 ok, same function"
holds "another grid" "$out" "(another algorithm: gemm x 132 here, gemm x 64 there)"
holds "too short" "$out" "(less than 50 us)"
holds "an older record" "$out" "(functions not recorded by bench)"
exits 0 "${check[@]}" calls.jsonl --markdown
holds "$called" "$out" "| linear/baseline_cublaslt | pytorch_cublaslt | f16 | same | 100.00 | 97.10 | 0.9710 | ok, same function |"
# A memset before the same call is PyTorch's own; one after it, or another function, is another call.
led() { # led KERNEL US FUNCTIONS
  echo "{\"record\":\"timing\",\"op\":\"linear\",\"kernel\":\"$1\",$of_row,\"shape\":\"same\",\"time_us\":{\"median\":$2},\"functions\":[$3]}"
}
memset='{"function":"memset","blocks":0,"us":6}' gemm='{"function":"gemm<(int)2>","blocks":132,"us":90}'
{ cat calls.jsonl; head "a GPU"; led pytorch_eager 107 "$memset,$gemm"; led pytorch_cublaslt 107 "$gemm,$memset"; } >led.jsonl
exits 0 "${check[@]}" led.jsonl
holds "$called" "$out" "1 of 5 pairs judged, 0 beyond 3 %"
holds "a memset less" "$(tr -s ' ' <<<"$out")" "same 100.00 101.00 1.0100 ok, same function, less 1 memset of PyTorch's own"
holds "a memset after it" "$out" "(another algorithm: gemm<(int)2> x 132 here, gemm<(int)2> x 132 + memset x 0 there)"
# A launch that rested before is another measure.
{ cat calls.jsonl; head "a GPU"; other pytorch_eager same 500 "gemm<(int)2>" 132 | sed 's/"op"/"rest_s":0.01,"op"/'; } >rested.jsonl
exits 0 "${check[@]}" rested.jsonl
holds "$called" "$out" "1 of 5 pairs judged, 0 beyond 3 %"
holds "a rest on one side" "$out" "(0 s of rest before each launch here, 0.01 s there)"
# A planted wrong record, slower and faster by 4 %.
for us in 104 96; do
  { cat calls.jsonl; head "a GPU"; other pytorch_eager same $us "gemm<(int)2>" 132; } >wrong.jsonl
  exits 1 "${check[@]}" wrong.jsonl
  holds "$called" "$out" "2 of 5 pairs judged, 1 beyond 3 %"
done
exits 0 "${check[@]}" wrong.jsonl --within 0.05
grep -v '"blocks"' calls.jsonl >none.jsonl
exits 1 "${check[@]}" none.jsonl
holds "$called" "$out" "0 of"
refuses "--within" "${check[@]}" calls.jsonl --within 0
refuses "--least" "${check[@]}" calls.jsonl --least nan
refuses "cannot read" "${check[@]}" nonesuch

# --- the functions in a trace of PyTorch's
cat >trace.json <<'END'
{"traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "void at::native::(anonymous namespace)::reduce<512, (bool)0>(int, f<(int)1>)", "ts": 20.5, "dur": 3, "args": {"grid": [4, 2, 3]}},
  {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "ts": 5, "dur": 1.5, "args": {}},
  {"ph": "X", "cat": "kernel", "name": "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNT", "ts": 10, "dur": 8, "args": {"grid": [132, 1, 1]}},
  {"ph": "i", "name": "Record Window End", "ts": 1}]}
END
same "functions, by their starts" \
  "[('memset', 0, 1.5), ('nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNT', 132, 8.0), ('at::native::reduce<512, (bool)0>', 24, 3.0)]" \
  "$(PYTHONPATH=$sources/reports python3 -c 'import json; from pytorch.functions import functions_in; print([tuple(f.values()) for f in functions_in(json.load(open("trace.json")))])')"
verdict
