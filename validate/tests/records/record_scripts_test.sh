#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests reports/traffic.py and reports/same_bits.py, which judge records.  The first argument is the binaries' folder.
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
# A record with a tenth too much or too little is found, and only the latest record of a row counts.
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
holds "$called" "$out" "3 rows judged, 0 beyond"
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

# --- Bits of two machines: a kernel that adds in no fixed order counts apart.
same_bits=(python3 "$sources/reports/same_bits.py")
case_of() {  # case_of KERNEL DIGEST FIDELITY
  echo "{\"record\":\"case\",\"op\":\"add\",\"kernel\":\"$1\",\"dtype\":\"f32\",\"repro\":\"add/$1 f32 rows=1\",\"verdict\":\"passed\"," \
    "\"digest\":\"$2\",\"margin\":0.5,\"fidelity\":\"$3\"}"
}
mkdir here there
{ case_of same 1 exact; case_of sums 1 'exact; `red.add.f32` (k.ptx:7) adds floats in no fixed order'; } >here/a.jsonl
{ case_of same 1 ""; case_of sums 2 ""; } >there/a.jsonl
exits 0 "${same_bits[@]}" here there
holds "$called" "$out" "1 of 2 outputs have equal bits, 0 outputs of exact kernels and 1 of unordered ones have not"
holds "a row" "$(tr -s ' ' <<<"$out")" "add/sums exact, unordered f32 1 0 0.500 0.500"
{ case_of same 2 ""; case_of sums 1 ""; } >there/a.jsonl
exits 1 "${same_bits[@]}" here there
holds "$called" "$out" "1 outputs of exact kernels and 0 of unordered ones have not"
verdict
