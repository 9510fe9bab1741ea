#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests validate probe: its own records match, and each difference is found and named.
source "$(dirname "$0")/../checks.sh"

works "$validate" probe --backend simt --json probes.jsonl
whole_lines probes.jsonl "probe --json"
checks=$((checks + 1))
(($(wc -c <probes.jsonl) < 300000)) || fail "probe --json" "a file that can be committed" "$(wc -c <probes.jsonl) bytes"
for instruction in 'mma_m16n8k16<half>' 'mma_m16n8k8<bfloat16>' 'ldmatrix_trans<4>' 'cp_async<16>' 'unpack<half>' exp2_approx; do
  holds "probe --json" "$(field probes.jsonl instruction)" "$instruction"
done

exits 0 "$validate" probe --backend simt --against probes.jsonl
holds "$called" "$out" " 0 different, 0 not there"
exits 0 "$validate" probe --backend simt --against simt
holds "$called" "$out" " 0 different, 0 not there"

# A changed result, changed inputs, a missing instruction.
digest=$(grep '"mma_m16n8k8<half>","class":"cancelling"' probes.jsonl | grep -o '[0-9a-f]\{16\}' | tail -1)
sed "s/$digest/0123456789abcdef/" probes.jsonl >result.jsonl
exits 1 "$validate" probe --backend simt --against result.jsonl
holds "$called" "$out" "DIFFERENT in 1 of 64 digests; first in instructions 4032 to 4095"
holds "$called" "$out" " 1 different, "
same "$called" 1 "$(grep -c '^  mma_m16n8k8<half> *cancelling .* DIFFERENT' <<<"$out")"
inputs=$(grep '"cp_async<8>"' probes.jsonl | grep -o '[0-9a-f]\{16\}' | head -1)
sed "s/$inputs/0123456789abcdef/" probes.jsonl >inputs.jsonl
exits 2 "$validate" probe --backend simt --against inputs.jsonl
holds "$called" "$err" "was made with other inputs"
grep -v 'ldmatrix<2>' probes.jsonl >fewer.jsonl
exits 0 "$validate" probe --backend simt --against fewer.jsonl
holds "$called" "$out" " 0 different, 1 not there"

# Forms of PTX.
works "$validate" probe --ptx -k shf. --backend simt --json shf.jsonl
holds "probe --ptx" "$out" "results of 4 forms on simt"
exits 0 "$validate" probe --ptx -k shf. --backend simt --against shf.jsonl
holds "$called" "$out" "4 classes the same, 0 different"
digest=$(grep shf.l.wrap shf.jsonl | grep -o '[0-9a-f]\{16\}' | tail -1)
sed "s/$digest/0123456789abcdef/" shf.jsonl >result.jsonl
exits 1 "$validate" probe --ptx -k shf. --backend simt --against result.jsonl
same "$called" 1 "$(grep -c '^  shf.l.wrap.b32 .*DIFFERENT in 1 of 8 digests; first in instructions 3584 to 4095' <<<"$out")"
exits 0 "$validate" probe --ptx -k shf. --digests 7 --backend simt --against result.jsonl  # the last is another
holds "$called" "$out" "1835008 results of 4 forms"
refuses "--digests requires --ptx" "$validate" probe --digests 1
works "$validate" probe --ptx -k tanh --backend simt --json tanh.jsonl  # modelled: it need not be the same
digest=$(grep tanh tanh.jsonl | grep -o '[0-9a-f]\{16\}' | tail -1)
sed "s/$digest/0123456789abcdef/" tanh.jsonl >result.jsonl
exits 0 "$validate" probe --ptx -k tanh --backend simt --against result.jsonl
holds "$called" "$out" "modelled, and differs in 1 of 8"
refuses "-k rubbish: no instruction has this in its name" "$validate" probe --ptx -k rubbish

# Files that are missing or hold no probes.
refuses "cannot read 'nowhere.jsonl'" "$validate" probe --backend simt --against nowhere.jsonl
head -1 probes.jsonl >head.jsonl
refuses "holds no probe" "$validate" probe --backend simt --against head.jsonl
{ head -1 probes.jsonl; sed -n 2p probes.jsonl | head -c 50; } >cut.jsonl
refuses "line 2 is not a record" "$validate" probe --backend simt --against cut.jsonl
refuses "cannot write" "$validate" probe --backend simt --json /nowhere/probes.jsonl
refuses "unknown flag '--agianst'. Did you mean '--against'?" "$validate" probe --agianst simt
if "$validate" list backends | grep -q '^cuda *not usable'; then
  exits 77 "$validate" probe --backend cuda --skip-exit 77
  refuses "backend cuda cannot be used" "$validate" probe --backend cuda
  refuses "no GPU can be used here" "$validate" probe --require-gpu
fi
verdict
