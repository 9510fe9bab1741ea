#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The file route of the PTX door: a module with a launch file is judged like a kernel of ours, its faults are found, and what is
# wrong with the files is told in a sentence.
#   ptx_test.sh BINARIES
source "$(dirname "$0")/../checks.sh"
ptx=$sources/examples/ptx/softmax.ptx
launch=$sources/examples/ptx/softmax.json
run=("$validate" run --suite sanitize --no-shrink)

exits 0 "${run[@]}" --ptx "$ptx" --launch "$launch" --watch --json records.jsonl
same "kernels of the records" warp_per_row "$(grep -o '"kernel":"[a-z_]*"' records.jsonl | sort -u | cut -d'"' -f4)"
same "verdicts" passed "$(grep '"dtype":"f32"' records.jsonl | grep -o '"verdict":"[a-z]*"' | sort -u | cut -d'"' -f4)"
holds "head of the records" "$(head -1 records.jsonl)" '"backend":"simt"'
holds "what the verdicts rest on" "$(<records.jsonl)" '"fidelity":"exact"'
holds "the same below the table" "$out" "fidelity exact: softmax/warp_per_row"
sed 's/ex2.approx.ftz.f32/tanh.approx.f32/' "$ptx" >modelled.ptx
call "${run[@]}" --ptx modelled.ptx --launch "$launch" --json records.jsonl
holds "a modelled instruction" "$(<records.jsonl)" '"fidelity":"modelled: `tanh.approx.f32` (modelled.ptx:196)"'
sed '0,/ret;/s//{ .reg .b32 %x<3>; add.f16x2 %x1, %x2, %x2; } ret;/' "$ptx" >narrow.ptx
exits 0 "${run[@]}" --ptx narrow.ptx --launch "$launch" --json records.jsonl
holds "a sum in 16 bits" "$(<records.jsonl)" "adds in 16 bits, and sums in f32 are declared"
sed 's/accumulate=f32/accumulate=f16/' "$launch" >f16.json
exits 0 "${run[@]}" --ptx narrow.ptx --launch f16.json --json records.jsonl
lacks "a sum in 16 bits as declared" "$(<records.jsonl)" "adds in 16 bits"

# --- what compilers emit
for module in "$sources"/datasets/ptx/*.ptx; do
  exits 0 "$validate" run --suite smoke --watch --quiet --ptx "$module" --launch "${module%.ptx}.json"
done

# --- conditions of a launch
sed 's/"cols > 0"/"aligned(x, 16)", "stride(x, 0) % 4 == 0"/' "$launch" >strict.json
exits 0 "${run[@]}" --ptx "$ptx" --launch strict.json --json records.jsonl
holds "an address" "$(<records.jsonl)" "the launch file asks for aligned(x, 16)"
holds "a stride" "$(<records.jsonl)" "the launch file asks for stride(x, 0) % 4 == 0"
holds "the others" "$(<records.jsonl)" '"verdict":"passed"'

exits 0 "$validate" doctor --ptx "$ptx" --launch "$launch"
holds "$called" "$out" "checks, 0 failed"

# --- the launch file is part of the kernel's code
few=(--ptx "$ptx" --launch same.json --dtype f32 --shard 1/4 --resume resumed.jsonl)
cp "$launch" same.json
exits 0 "${run[@]}" "${few[@]}"
sed -i 's/(rows, 4)/(rows, 8)/' same.json
refuses "the code of softmax/warp_per_row has changed since" "${run[@]}" "${few[@]}"

# --- faults in the module
sed 's/setp.ge.s64\(.*%rd65;\)/setp.gt.s64\1/' "$ptx" >wrong.ptx
exits 1 "${run[@]}" --ptx wrong.ptx --launch "$launch" --json records.jsonl
holds "a row too many" "$(<records.jsonl)" "out_of_bounds: read of 4 bytes ending 4 bytes past the end of 'x'"
sed 's/\(%r7\), 16;/\1, 8;/' "$ptx" >wrong.ptx
exits 1 "${run[@]}" --ptx wrong.ptx --launch "$launch"
sed 's/shfl.sync.bfly.b32/tcgen05.ld/' "$ptx" >wrong.ptx
refuses "wrong.ptx:117: \`tcgen05.ld\` is no instruction that the machine runs" "${run[@]}" --ptx wrong.ptx --launch "$launch"
head -c 5000 "$ptx" >wrong.ptx
refuses "wrong.ptx:" "${run[@]}" --ptx wrong.ptx --launch "$launch"
printf 'no module' >wrong.ptx
refuses "wrong.ptx:1: a PTX module begins with .version, not 'no'" "${run[@]}" --ptx wrong.ptx --launch "$launch"

# --- faults in the launch file
wrong() {  # wrong PART SED: the launch file so changed is refused with PART
  sed "$2" "$launch" >wrong.json
  refuses "$1" "${run[@]}" --ptx "$ptx" --launch wrong.json
}
wrong "wrong.json:/op: unknown op 'softmx'. Did you mean 'softmax'?" 's/"softmax"/"softmx"/'
wrong "wrong.json:/launches/0/grid/0: unknown name in 'ceil_div(row, 4)' 'row'. Did you mean 'rows'?" 's/(rows, 4)/(row, 4)/'
wrong "')' was expected at its character 17" 's/(rows, 4)/(rows, 4/'
wrong "wrong.json:/launches/0/parameters/2: 'softmax_f32' takes 8 bytes there, and 4 are given" 's/i64 rows/i32 rows/'
wrong "takes 6 parameters, and 5 are given" 's/"i64 rows", //'
wrong "wrong.json:/launches/0/entry: unknown entry 'softmax_f3'. Did you mean 'softmax_f32'?" 's/softmax_f32"/softmax_f3"/'
wrong "unknown dtype 'f8'" 's/"f32": "softmax_f32"/"f8": "softmax_f32"/'
wrong "wrong.json:/launches/0: unknown key 'grids'. Did you mean 'grid'?" 's/"grid"/"grids"/'
wrong "the tensor 'x' has 2 axes" 's/stride(x, 0)/stride(x, 2)/'
wrong "unknown tensor 'z'" 's/ptr x/ptr z/'
wrong "unknown tensor 'z'" 's/"cols > 0"/"aligned(z, 16)"/'
wrong "an alignment is a power of two up to 256" 's/"cols > 0"/"aligned(x, 12)"/'
boxes=$sources/datasets/ptx/linear_wgmma
wrong_map() {  # wrong_map PART SED: the launch file with maps, so changed, is refused with PART
  sed "$2" "$boxes.json" >wrong.json
  refuses "$1" "${run[@]}" --ptx "$boxes.ptx" --launch wrong.json
}
wrong_map "wrong.json:/launches/0/parameters/0: 'map NAME box=[N, ...]', and 'swizzle=32', 64 or 128 behind it, was expected" 's/map x box/map x bax/'
wrong_map "wrong.json:/launches/0/parameters/0: 'map NAME box=[N, ...]', and 'swizzle=32', 64 or 128 behind it, was expected" 's/128\] swizzle=128/128] swizzle=96/'
wrong_map "wrong.json:/launches/0/parameters/0: unknown tensor 'z'" 's/map x/map z/'
wrong_map "wrong.json:/launches/0/parameters/0: the box has 1 axes, and 'x' has 2." 's/\[64,128\]/[64]/'
wrong_map "wrong.json:/launches/0/parameters/0: the box of a map has 1 to 256 elements along each axis." 's/\[64,128\]/[64,512]/'
wrong_map "wrong.json:/launches/0/dependent: expected true or false." 's/"shared"/"dependent": 1, "shared"/'
wrong_map "'linear_f16' takes 8 bytes there, and 128 are given" 's/ptr bias/map bias box=[8]/'
refuses "--ptx requires --launch" "${run[@]}" --ptx "$ptx"
refuses "only the kernels of a --plugin run there" "${run[@]}" --ptx "$ptx" --launch "$launch" --backend host
refuses "none.json: " "${run[@]}" --ptx "$ptx" --launch none.json
verdict
