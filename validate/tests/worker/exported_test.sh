#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kernels of the device layer behind the C interface: their arguments arrive, and what they declare is told.
#   exported_test.sh BINARIES PLUGINS
source "$(dirname "$0")/../checks.sh"
plugin=$(cd "$2" && pwd -P)/exported.so
run=("$validate" run --backend host --plugin "$plugin" --no-shrink)
exits 0 "${run[@]}" --suite smoke --op linear,rope --json records.jsonl
of() { grep -o "\"kernel\":\"$1\",.*\"verdict\":\"[a-z]*\"" records.jsonl | grep -o '"verdict":"[a-z]*"' | sort -u | cut -d'"' -f4 | tr '\n' ' '; }
same "verdicts of serial" "passed " "$(of serial)"
same "verdicts of narrow" "passed unsupported " "$(of narrow)"
same "verdicts of by_pairs" "passed " "$(of by_pairs)"
holds "reasons of narrow" "$(grep '"kernel":"narrow"' records.jsonl)" '"reason":"a row exceeds 8 channels"'
for case in "bias=yes" "positions=explicit" "layout_of_pairs=interleaved" "in_place=yes" "frequencies=given" "rotary_dim="; do
  holds "a case with $case" "$(grep '"verdict":"passed"' records.jsonl)" "$case"
done
same "dtypes of narrow" "f32 " "$(grep '"kernel":"narrow"' records.jsonl | grep '"verdict":"passed"' | grep -o '"dtype":"[a-z0-9]*"' | cut -d'"' -f4 | sort -u | tr '
' ' ')"
holds "numerics of by_pairs" "$(grep '"kernel":"by_pairs"' records.jsonl)" '"numerics":"accumulate=f32 chain=1 function_error=1 angle_error=4.76837e-07"'
exits 1 "${run[@]}" --suite sanitize --op softmax
exits 1 "$validate" replay --backend host --plugin "$plugin" --no-shrink 'linear/narrow f32 tokens=13 hidden=4 out=2'
holds "a kernel that throws" "$out" "run() returned the error 1"
exits 0 "$validate" doctor --backend host --plugin "$plugin"
verdict
