#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the rules for kernel files (cuda/OP/**, not cuda/core), and for the lines that the edits of cuda/OP/{faults,variants}.txt put into
# them.  Prints FILE:LINE of each violation.
#   kernel_rules.sh SOURCE           checks the tree
#   kernel_rules.sh --self-test      checks that each rule finds its violation, without false alarms in comments and sound code
set -uo pipefail

kernel_rules() {
  cd "$1" || exit 2
  find cuda -type f \( -name '*.cu' -o -name '*.cuh' -o -name faults.txt -o -name variants.txt \) ! -path 'cuda/core/*' | sort | xargs -r awk '
    function wrong(line, rule) { printf "%s:%d: %s\n", file, line, rule; bad = 1 }
    function word(name) { return code ~ "(^|[^A-Za-z0-9_])(" name ")([^A-Za-z0-9_]|$)" }
    function finish() {
      if (file == "") return
      if (edits) return
      if (head > 6 && !broken) wrong(2, "a head comment of " head " lines; 6 at most")
      if (kernel && !room) wrong(1, "opens no namespace assay::ROOM(" op ", " stem ")")
      if (broken && !fault) wrong(2, "a broken kernel begins with // FAULT: what is wrong")
      if (broken && !caught) wrong(2, "a broken kernel says // Caught by: the check, and where")
    }
    FNR == 1 {
      finish()
      file = FILENAME
      n = split(file, part, "/"); op = part[2]; stem = part[n]; sub(/\.[^.]*$/, "", stem)
      edits = file ~ /\/(faults|variants)\.txt$/
      kernel = file ~ /\.cu$/; broken = kernel && file ~ /\/broken\//
      if (broken && !(op in faulty)) faulty[op] = file
      if (file ~ /\/broken\/plain\.cuh$/) plain[op] = 1
      room = fault = caught = head = block = 0; in_head = 1
      if (edits) next
      if ($0 != "// SPDX-License-Identifier: Apache-2.0") wrong(1, "the first line is // SPDX-License-Identifier: Apache-2.0")
      next
    }
    edits && /^fault: / { edited[op] = 1 }
    edits && !sub(/^\+/, "") { next }
    in_head && /^\/\// {
      head++
      if (head == 1 && /^\/\/ FAULT: ./) fault = 1
      if (/^\/\/ Caught by: ./) caught = 1
      next
    }
    {
      in_head = 0
      code = $0
      while (block || match(code, /\/\*/)) {  # block comments
        if (block) {
          if (!match(code, /\*\//)) { code = ""; break }
          code = substr(code, RSTART + 2); block = 0
        } else {
          before = substr(code, 1, RSTART - 1); rest = substr(code, RSTART + 2)
          if (match(rest, /\*\//)) code = before " " substr(rest, RSTART + 2)
          else { code = before; block = 1; break }
        }
      }
      sub(/\/\/.*/, "", code)
      if (code ~ /^namespace assay::ROOM\(/) {
        want = "namespace assay::ROOM(" op ", " stem ") {"
        room = 1
        if (code !~ /\{[ \t]*$/ || index(code, want) != 1) wrong(FNR, "the room is not that of the path: " want)
      }
      if (file ~ /\/steps\.cuh$/) steps[op] = 1
      if (match(code, /[a-z0-9_]+_room::/) && substr(code, RSTART, RLENGTH) != op "_room::" && !(op in others)) others[op] = file ":" FNR
      if (word("asm|__asm__|__asm")) wrong(FNR, "inline assembly belongs to the device layer")
      if (word("memcpy|memmove|memset|__builtin_memcpy")) wrong(FNR, "memcpy is not watched: ld and st")
      if (word("__activemask")) wrong(FNR, "__activemask: name the lanes")
      if (code ~ /<<</) wrong(FNR, "launch through launch()")
      if (code ~ /__(shfl|sync|ballot|any_sync|all_sync|match_|reduce_|ldg|ldcs|stcs)/ || word("atomicAdd|cooperative_groups"))
        wrong(FNR, "the words of the device layer: shuffle, sync_block, ballot, ld, atomic_add")
      if (code ~ /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)/) wrong(FNR, "no conditional compilation: one source for both machines")
      if (word("__shared__")) wrong(FNR, "shared_memory<T>() is the one arena")
    }
    END {
      finish()
      for (op in others) {
        if (op in steps) continue
        printf "%s: kernels of other ops are declared in steps.cuh of this folder, by which the build knows it\n", others[op]
        bad = 1
      }
      for (op in faulty) {
        file = faulty[op]
        if (!(op in plain) && !(op in edited)) wrong(1, "the op has broken kernels, and no edit in faults.txt and no broken/plain.cuh")
      }
      exit bad
    }'
}

if [ "$1" != --self-test ]; then
  kernel_rules "$1" && echo "kernel files keep the rules"
  exit $(($? != 0))
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
spdx='// SPDX-License-Identifier: Apache-2.0'
kernel() {  # kernel FILE ROOM LINE...: a kernel file; lines that begin with "!" are violations
  local file=$1 room=$2 number=3 line
  shift 2
  mkdir -p "$work/$(dirname "$file")"
  printf '%s\n// Idea.\nnamespace assay::ROOM(%s) {\n' "$spdx" "$room" >"$work/$file"
  for line in "$@"; do
    number=$((number + 1))
    case $line in !*) echo "$file:$number" >>"$work/expected" ;; esac
    echo "${line#!}" >>"$work/$file"
  done
}
kernel cuda/op/sound.cu 'op, sound' '// asm, memcpy, <<<, __syncthreads() in words' '/* __activemask' 'asm */ int x; /* asm */' \
  '#pragma unroll' 'float plasma = my_memcpy_count; launch(f, {});' 'x = a << b; // __shfl_sync'
kernel cuda/op/words.cu 'op, words' '!  asm volatile("bar.sync 0;");' '!  memcpy(&a, &b, 4);' '!  std::memset(p, 0, 4);' '!unsigned m = __activemask();' \
  '!f<<<1, 32>>>(x);' '!v = __shfl_xor_sync(m, v, 1);' '!  __syncthreads();' '!#ifdef __CUDACC__' '!#endif' '!# if 1' \
  '!extern __shared__ float s[];' '!__shared__ float t[32];' '!atomicAdd(p, 1.0f);' 'int y; /* a */ int z;' '!/* a */ asm("x");'
kernel cuda/layer/sound.cu 'layer, sound' 'linear_room::naive::run(a, l);' 'layer_room::other::run(a, l);'
kernel cuda/layer/steps.cuh 'layer, steps' 'linear_room::naive::run(a, l);'
kernel cuda/bare/calls.cu 'bare, calls' 'bare_room::naive::run(a, l);' '!linear_room::naive::run(a, l);'
kernel cuda/op/shared.cuh 'op, shared' '!  __syncwarp();'
kernel cuda/op/other_name.cu 'op, name' 'int x;'
kernel cuda/op/other_op.cu 'ops, other_op' 'int x;'
kernel cuda/op/broken/unsaid.cu 'op, unsaid' 'int x;'
kernel cuda/op/broken/shared.cuh 'op, shared' '!  __syncwarp();' 'int x;'
kernel cuda/op/broken/plain.cuh 'op, plain' 'int x;'
mkdir -p "$work/cuda/bare/broken"
printf '%s\n// FAULT: f.\n// Caught by: b.\nnamespace assay::ROOM(bare, alone) {\n' "$spdx" >"$work/cuda/bare/broken/alone.cu"
printf '%s\n// FAULT: f.\n// Caught by: b.\nnamespace assay::ROOM(bare, other) {\n' "$spdx" >"$work/cuda/bare/broken/other.cu"
mkdir -p "$work/cuda/edited/broken"
printf '%s\n// FAULT: f.\n// Caught by: b.\nnamespace assay::ROOM(edited, alone) {\n' "$spdx" >"$work/cuda/edited/broken/alone.cu"
printf '%s\n' '[wrong]' 'fault: memcpy' 'kernel: naive' '-  memcpy(&a, &b, 4);' '   __syncthreads();' '+  __syncthreads();' '+  sync_block();' \
  '+f<<<1, 32>>>(x);' 'tier: T1' >"$work/cuda/edited/faults.txt"
printf '%s\n' '[other]' 'variant: memcpy' 'kernel: naive' '-  x;' '+  __syncwarp();' >"$work/cuda/bare/variants.txt"
printf '%s\n// FAULT: f.\n// Caught by: b.\nnamespace assay::ROOM(op, said) {\n' "$spdx" >"$work/cuda/op/broken/said.cu"
printf '%s\n// 1\n// 2\n// 3\n// 4\n// 5\n// 6\n// 7\nnamespace assay::ROOM(op, wordy) {\n' "$spdx" >"$work/cuda/op/wordy.cu"
printf '// No licence.\nint x;\n' >"$work/cuda/op/roomless.cu"
mkdir -p "$work/cuda/core"
printf 'asm("");\n' >"$work/cuda/core/device_gpu.cuh"
printf '%s\n' cuda/op/other_name.cu:3 cuda/op/other_op.cu:3 cuda/op/broken/unsaid.cu:2 cuda/op/broken/unsaid.cu:2 cuda/op/wordy.cu:2 \
  cuda/op/roomless.cu:1 cuda/op/roomless.cu:1 cuda/bare/broken/alone.cu:1 cuda/edited/faults.txt:6 cuda/edited/faults.txt:8 cuda/bare/variants.txt:5 >>"$work/expected"
kernel_rules "$work" | sed -E 's/^([^:]*:[0-9]+):.*/\1/' | sort >"$work/found"
sort "$work/expected" | diff - "$work/found" || { echo "< missed   > false alarm"; exit 1; }
kernel_rules "$work" >/dev/null && { echo "violations do not fail the check"; exit 1; }
echo "$(wc -l <"$work/found") planted violations found, no false alarm"
