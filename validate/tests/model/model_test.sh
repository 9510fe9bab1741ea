#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests validate model: tokens, the check with right and broken kernels, and what it refuses.
source "$(dirname "$0")/../checks.sh"
tiny=$sources/validate/tests/model/llama
checkpoint=$sources/datasets/checkpoints/bytes
trial=$bin/validate-trial
text=(--text "$checkpoint/heldout.txt" --tokens 40 --decode 2 --page-size 16 --samples 2 --backend simt --kernel naive)

# Kernels and the golden decoder generate the same tokens, in batches of unequal lengths, over pages of any size.
prompts=(--prompt-ids 3,1,4,1 --prompt-ids 5 --tokens 6)
works "$validate" model "$tiny" --golden "${prompts[@]}"
golden=$out
for more in "" "--page-size 1" "--ops steps" "--ops joined" "--kernel naive" "--dtype f32 --kernel linear/fma_tiled@1"; do
  works "$validate" model "$tiny" --backend simt "${prompts[@]}" $more
  same "model $more" "$golden" "$out"
done
works "$validate" model "$tiny" --config "$tiny/config.json" --weights "$tiny/model.safetensors" --golden "${prompts[@]}"
same "--config and --weights" "$golden" "$out"
works "$validate" model "$tiny" --golden "${prompts[@]}" --temperature 2 --seed 7
drawn=$out
works "$validate" model "$tiny" --backend simt "${prompts[@]}" --temperature 2 --seed 7
same "a seed" "$drawn" "$out"
works "$validate" model "$tiny" --backend simt "${prompts[@]}" --temperature 2 --seed 8
checks=$((checks + 1))
[[ $out != "$drawn" ]] || fail "$called" "other tokens with another seed" "$out"

# Weights of a shape alone: the same with the same seed.
works "$validate" model --config "$tiny/config.json" --random-weights --backend simt "${prompts[@]}"
drawn=$out
same "lines of random weights" 2 "$(wc -l <<<"$out")"
works "$validate" model --config "$tiny/config.json" --random-weights --golden --dtype f32 --prompt-ids 3,1 --tokens 2
works "$validate" model --config "$tiny/config.json" --random-weights --backend simt "${prompts[@]}"
same "random weights again" "$drawn" "$out"

# The check.
exits 0 "$validate" model "$checkpoint" --check "${text[@]}" --json right.json
holds "$called" "$out" " within their bounds"
same "$called" right "$(tail -1 <<<"$out")"
holds "--json" "$(cat right.json)" '"right": true'
exits 0 "$validate" model "$tiny" --backend simt --check --tokens 12
exits 1 "$trial" model "$checkpoint" --check "${text[@]}" --kernel rope/turned_backwards@1 --json wrong.json
holds "$called" "$out" "first wrong  rope/turned_backwards, 'q' of layer 1, prefill"
same "$called" wrong "$(tail -1 <<<"$out")"
holds "--json" "$(cat wrong.json)" '"kernel": "rope/turned_backwards"'
exits 1 "$trial" model "$checkpoint" --check "${text[@]}" --dtype f16 --kernel linear/default_stream
holds "$called" "$out" "stopped      linear/default_stream, 'attn' of layer 0: "
exits 1 "$trial" model "$checkpoint" --check "${text[@]}" --kernel embedding/copied_on_the_host
holds "$called" "$out" "crashed      embedding/copied_on_the_host, 'x' of layer -1: Segmentation fault"
exits 1 "$trial" model "$checkpoint" --backend simt --kernel naive,linear/default_stream --dtype f16 \
  --prompt-text "forty bytes of a text, or a little more than that"
holds "$called" "$out" "stopped: linear/default_stream, 'attn' of layer 0: "

# A field of config.json that is not computed here is refused, unless it is named.  Then that is told.
sed 's/^{/{"sliding_window": 16, "foo": [1],/' "$tiny/config.json" >windowed.json
windowed=(--config windowed.json --weights "$tiny")
exits 2 "$validate" model "${windowed[@]}" --golden "${prompts[@]}"
holds "$called" "$err" "'windowed.json': 'foo' is [1], 'sliding_window' is 16 instead of null, and that is not computed here"
exits 2 "$validate" model "${windowed[@]}" --golden "${prompts[@]}" --ignore-field foo
holds "$called" "$err" "not computed here  (--ignore-field sliding_window computes as if it were not there)"
exits 2 "$validate" model "$tiny" --golden "${prompts[@]}" --ignore-field foo
holds "$called" "$err" "--ignore-field foo: '$tiny/config.json' has no such field"
exits 2 "$validate" model "$tiny" --golden "${prompts[@]}" --ignore-field use_cache
holds "$called" "$err" "is not refused, so there is nothing to ignore"
lifted=("${windowed[@]}" --ignore-field foo --ignore-field sliding_window --backend simt)
exits 0 "$validate" model "${lifted[@]}" "${prompts[@]}"
same "tokens with --ignore-field" "$golden" "$out"
holds "$called" "$err" "ignored      'sliding_window' of config.json, which is 16"
exits 0 "$validate" model "${lifted[@]}" --check --tokens 12 --json lifted.json
holds "$called" "$out" "ignored      'foo' of config.json, which is [1]"
holds "--json" "$(tr -d '\n' <lifted.json)" '"ignored_fields": {  "foo": "[1]",  "sliding_window": "16" }'
exits 2 "$validate" model --config windowed.json --random-weights --golden --prompt-ids 1
holds "$called" "$err" "not computed here"

refuses() {  # refuses SENTENCE ARGUMENT...
  local sentence=$1
  exits 2 "$validate" model "${@:2}"
  holds "$called" "$err" "$sentence"
}
refuses "model takes a folder, or --config and --weights"
refuses "model generates from a prompt" "$tiny"
refuses "--bench measures times, and backend simt has no clock" --config "$tiny/config.json" --random-weights --bench --backend simt
refuses "--bench makes its prompts" "$tiny" --bench --prompt-ids 1
refuses "--bench takes --tokens from 3 on" "$tiny" --bench --tokens 2
refuses "--json takes the figures of --check or --bench" "$tiny" --prompt-ids 1 --json x
refuses "--random-weights and --weights exclude each other" "$tiny" --random-weights --weights "$tiny" --prompt-ids 1
refuses "--check takes its tokens from --text" "$tiny" --check --prompt-ids 1
refuses "token ids with commas between them were expected" "$tiny" --prompt-ids 1,,2
refuses "token ids with commas between them were expected" "$tiny" --prompt-ids 1,2,
refuses "the token 32 is not one of 0 to 31" "$tiny" --backend simt --prompt-ids 1,32
refuses "the token 32 is not one of 0 to 31" "$tiny" --golden --prompt-ids 1,32
refuses "a sequence would have 65 positions, and the model takes 64" "$tiny" --backend simt --prompt-ids 1 --tokens 65
refuses "a sequence would have 65 positions, and the model takes 64" "$tiny" --golden --prompt-ids 1 --tokens 65
refuses "more pages of 2 positions, and 0 of the 3 in the cache are free; --pages 4 would do" "$tiny" --backend simt \
  --prompt-ids 1,2,3 --tokens 5 --page-size 2 --pages 3
refuses "the model has 32 tokens, and 256, one for each byte, were expected" "$tiny" --prompt-text hello
refuses "has 4096 bytes, and 100 texts of 64 tokens were expected" "$checkpoint" --check --text "$checkpoint/heldout.txt" \
  --tokens 64 --batch 100 --backend simt
refuses "a text of 5 tokens, of which 4 are decoded, is too short; 6 were expected at least" "$tiny" --check --tokens 5 --backend simt
refuses "--kernel lineal/naive: unknown op of this model 'lineal'. Did you mean 'linear'?" "$tiny" --backend simt --prompt-ids 1 \
  --kernel lineal/naive
refuses "--kernel linear/nave: unknown kernel 'nave'. Did you mean 'naive'?" "$tiny" --backend simt --prompt-ids 1 --kernel linear/nave
refuses "no step of this model has a kernel of that name in that layer" "$tiny" --backend simt --prompt-ids 1 --kernel rope/naive@2
refuses "behind the @ the number of a layer was expected" "$tiny" --backend simt --prompt-ids 1 --kernel rope/naive@x
refuses "linear/sm75_mma cannot compute 'attn' of layer 0: declares no f32" "$tiny" --backend simt --prompt-ids 1 --dtype f32 \
  --kernel linear/sm75_mma
for wrong in nan -1 1e3 x; do refuses "is not a number from 0 to 100" "$tiny" --prompt-ids 1 --temperature=$wrong; done
for wrong in -1 1.5 99999999999999999999; do refuses "is not a whole number from 0 to 2^64 - 1" "$tiny" --prompt-ids 1 --seed=$wrong; done
refuses "unknown dtype 'f64'" "$tiny" --prompt-ids 1 --dtype f64
refuses "cannot write '/nowhere/x'" "$tiny" --check --json /nowhere/x

# The demo.
works bash "$sources/examples/generate/generate.sh" "$bin"
holds "generate.sh" "$out" "kernels  The word hacker means"

verdict
