#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks who includes whom.  Prints FILE:LINE of each include that its room, its folder of validate/ or its part of simt/ must not
# have, and each cycle of includes within validate/, where a header and its source count as one.
#   arrows.sh SOURCE           checks the tree
#   arrows.sh --self-test      checks that each kind of violation is found, and nothing else
set -uo pipefail

arrows() {
  cd "$1" || exit 2
  find ops reference cuda simt validate include examples -type f \( -name '*.h' -o -name '*.c' -o -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) \
    ! -path '*/tests/*' | sort | xargs -r awk '
    BEGIN {
      # Each folder may include itself and those before it.  Folders from backends on may also include every room.
      count = split("base values cases problem ops worker records files tasks judge console backends opfile bench report probe model command", name, " ")
      for (i = 1; i <= count; ++i) place[name[i]] = i
      command = place["backends"]
      # Each part of the simulated machine may include itself and those before it; a comma joins the files of one part.
      count = split("where machine half special fiber space hooks options grid threads arena memory describe trouble findings ticks" \
        " sectors dependent guards watch,watch_inline,watch_async async asynchronous scheduler,rendezvous mbarrier register_pool" \
        " tensor_copy mma,mma_avx2 wgmma,wgmma_operands device,device_mma,device_hopper access report host launch canary observe", name, " ")
      for (i = 1; i <= count; ++i)
        for (j = split(name[i], file, ","); j > 0; --j) layer[file[j]] = i
    }
    function stem(path) { sub(/\.[a-z]*$/, "", path); return path }
    function wrong(rule) { printf "%s:%d: %s: %s\n", FILENAME, FNR, rule, $0; bad = 1 }
    /^[ \t]*#[ \t]*include/ {
      if (!match($0, /["<][^">]*[">]/)) { wrong("an include by macro"); next }
      what = substr($0, RSTART + 1, RLENGTH - 2)
      angled = substr($0, RSTART, 1) == "<"
      split(FILENAME, part, "/"); room = part[1]; folder = part[2]
      if (what ~ /(^|\/)\.\.?\//) { wrong("an include by relative path"); next }
      # An include root makes <ops/linear.hpp> the same as "ops/linear.hpp".
      own = !angled || what ~ /^(ops|reference|cuda|simt|include|validate)\//
      standard = what ~ /^[a-z_0-9]+$/
      if (room == "ops") {
        if (own ? what !~ /^ops\/core\// : !standard) wrong("ops may include the standard library and ops/core")
      } else if (room == "reference") {
        if (own ? what !~ /^(ops|reference)\// : !(standard || what ~ /^(Eigen|nlohmann)\// || what ~ /^(omp|malloc)\.h$/))
          wrong("reference may include ops, reference, Eigen, nlohmann")
      } else if (room == "cuda" && folder == "core") {
        machine = FILENAME == "cuda/core/device.cuh" && what == "device.hpp" ||
          FILENAME == "cuda/core/hopper.cuh" && what == "device_hopper.hpp"
        of_vendor = part[3] == "vendor" && what ~ /^(cub|thrust)\//
        if (own ? !(machine || what ~ /^(ops|cuda)\/core\//) : what ~ /\// && !of_vendor) wrong("cuda/core may include ops/core and cuda/core")
      } else if (room == "cuda") {
        if (own ? !(what ~ /^ops\// || what ~ /^cuda\/core\// || index(what, "cuda/" folder "/") == 1) : what ~ /\//)
          wrong("a kernel may include ops, cuda/core and its own room, and no library")
      } else if (room == "simt") {
        if (own && what ~ /\// || angled && !standard && what ~ /^(Eigen|fmt|nlohmann|cuda)/) wrong("simt may include itself")
        else if (own && folder ~ /\./) {
          mine = stem(folder); other = stem(what)
          if (!(mine in layer && other in layer)) wrong("a file without a place in the order of simt")
          # The device layer declares what any source may define.
          else if (layer[other] > layer[mine] && !(other ~ /^device/ && folder ~ /\.cpp$/)) wrong("simt/" mine " comes before simt/" other)
        }
      } else if (room == "examples" && folder == "plugin" && what ~ /^cuda_(fp16|runtime)\.h$/ && angled) {
      } else if (room == "examples" && FILENAME ~ /\.(cu|hpp)$/) {
        if (folder == "op" && what ~ /^[a-z_]+\.hpp$/) ;  # its own contract
        else if (own ? what !~ /^(ops|cuda\/core)\// : !standard) wrong("a kernel elsewhere includes ops and cuda/core")
      } else if (room == "examples" && folder == "op" && FILENAME ~ /\.cpp$/) {
        if (own ? !(what ~ /^(ops|reference)\// || what ~ /^[a-z_]+\.hpp$/) : !standard) wrong("a formula elsewhere includes ops and reference")
      } else if (room == "include" || room == "examples") {
        if (!standard && !(angled && what ~ /^(stddef|stdint|string|math)\.h$/ || room == "examples" && what == "assay.h"))
          wrong("a user of the C interface has it and the standard library")
      } else if (room == "validate") {
        split(what, part, "/")
        if (!(folder in place)) wrong("a folder without a place in the order of validate")
        else if (own && part[1] == "validate" && !(part[2] in place && place[part[2]] <= place[folder]))
          wrong("validate/" folder " comes before validate/" part[2])
        else if (place[folder] < command && (own && part[1] !~ /^(ops|include|validate)$/ || angled && what ~ /^(Eigen\/|cuda)/))
          wrong("the judge may include ops, include and validate")
      }
    }
    END { exit bad }' || return 1
  # A unit is a header and its source.
  find validate -type f \( -name '*.hpp' -o -name '*.cpp' \) ! -path '*/tests/*' | sort | xargs -r awk '
    function unit(path) { sub(/\.[a-z]*$/, "", path); return path }
    match($0, /^[ \t]*#[ \t]*include[ \t]*"validate\/[^"]*"/) {
      what = $0; sub(/^[^"]*"/, "", what); sub(/".*/, "", what)
      if (unit(what) != unit(FILENAME)) print unit(FILENAME), unit(what)
    }' | { tsort 2>&1 >/dev/null; } | sed -n 's/^tsort: \(validate.*\)/\1: in a cycle of includes/p' | { ! grep .; }
}

if [ "$1" != --self-test ]; then
  arrows "$1" && echo "every include goes the way of its arrow"
  exit $(($? != 0))
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
plant() {  # plant FILE LINE...: one include a line; "!" before a line marks a violation
  mkdir -p "$work/$(dirname "$1")"
  local file=$1 number=0 line
  shift
  for line in "$@"; do
    number=$((number + 1))
    case $line in !*) echo "$file:$number" >>"$work/expected" ;; esac
    echo "#include ${line#!}" >>"$work/$file"
  done
}
plant ops/a.hpp '<cmath>' '"ops/core/x.hpp"' '!"ops/b.hpp"' '!"reference/a.hpp"' '!<Eigen/Core>' '!<fmt/format.h>' '!<cuda_runtime.h>'
plant ops/core/x.hpp '<array>' '"ops/core/y.hpp"' '!"ops/a.hpp"'
plant reference/a.cpp '"ops/a.hpp"' '<Eigen/Core>' '"reference/core/load.hpp"' '!"validate/cases/case.hpp"' '!"cuda/core/kernel.cuh"' '!<cuda_fp16.h>'
plant cuda/core/device.cuh '"device.hpp"' '"ops/core/x.hpp"' '<cuda_fp16.h>' '!"ops/a.hpp"' '!"validate/cases/case.hpp"'
plant cuda/core/vendor/cub_gpu.cuh '<cub/device/device_reduce.cuh>' '!<fmt/format.h>'
plant cuda/core/plain.cuh '!<cub/device/device_reduce.cuh>' '!"device_hopper.hpp"'
plant cuda/core/hopper.cuh '"device_hopper.hpp"' '!"device.hpp"'
plant cuda/a/k.cu '"cuda/core/kernel.cuh"' '"cuda/a/row.cuh"' '"ops/a.hpp"' '!"cuda/b/row.cuh"' '!"reference/core/load.hpp"' '!"device.hpp"' '!<fmt/format.h>'
plant cuda/a/broken/k.cu '"cuda/a/row.cuh"' '!<validate/cases/case.hpp>' '!"../k.cu"'
plant simt/scheduler.cpp '"scheduler.hpp"' '<vector>' '<sys/mman.h>' '!"ops/core/x.hpp"' '!"validate/cases/case.hpp"' '!"mbarrier.hpp"' '"threads.hpp"' '"device_hopper.hpp"'
plant simt/rendezvous.cpp '"scheduler.hpp"' '"watch_inline.hpp"' '!"report.hpp"'
plant simt/threads.hpp '"hooks.hpp"' '!"findings.hpp"' '!"device.hpp"'
plant simt/new.cpp '!"threads.hpp"'
plant simt/options.hpp '"machine.hpp"' '!"new.hpp"'
plant simt/ptx/a.cpp '"launch.hpp"' '"memory.hpp"'
plant validate/cases/case.cpp '"validate/cases/case.hpp"' '"ops/core/x.hpp"' '<nlohmann/json.hpp>' '!"reference/core/load.hpp"' '!"cuda/core/kernel.cuh"' '!"validate/command/commands.hpp"' '!"device.hpp"'
plant validate/ops/a.cpp '"ops/a.hpp"' '!<Eigen/Core>' '"validate/problem/op.hpp"' '!"validate/judge/judge.hpp"'
plant validate/worker/a.cpp '"validate/problem/op.hpp"' '"validate/worker/b.hpp"' '!"validate/records/record.hpp"' '!"validate/tests/a.hpp"'
plant include/assay.h '<stddef.h>' '!"ops/core/x.hpp"' '!<fmt/format.h>'
plant examples/plugin/a.cu '<cuda_fp16.h>' '!<mma.h>' '!"cuda_runtime.h"'
plant examples/plugin/a.c '"assay.h"' '<math.h>' '!"validate/base/error.hpp"' '!"include/assay.h"'
plant examples/op/a.hpp '"ops/core/contract.hpp"' '<cmath>' '!"reference/core/load.hpp"'
plant examples/op/a.cpp '"a.hpp"' '"reference/formula/linked_formula.hpp"' '!"validate/problem/op.hpp"'
plant examples/op/a/naive.cu '"a.hpp"' '"cuda/core/kernel.cuh"' '!"simt/scheduler.hpp"'
plant examples/cmake/a.cu '"cuda/core/kernel.cuh"' '"ops/a.hpp"' '<cmath>' '!"cuda/a/row.cuh"' '!"simt/scheduler.hpp"'
plant validate/worker/b.cpp '"include/assay.h"'
plant validate/new/a.cpp '!"validate/base/error.hpp"'
plant validate/backends/a.cpp '"simt/machine.hpp"' '!"validate/bench/bench.hpp"'
plant validate/command/run.cpp '"reference/core/load.hpp"'
plant validate/tests/a_test.cpp '"cuda/core/kernel.cuh"'
arrows "$work" | sed -E 's/^([^:]*:[0-9]+):.*/\1/' | sort >"$work/found"
sort "$work/expected" | diff - "$work/found" || { echo "< missed   > false alarm"; exit 1; }
arrows "$work" >/dev/null && { echo "violations do not fail the check"; exit 1; }
rm -r "${work:?}"/*/
mkdir -p "$work"/{ops,reference,cuda,simt,include,examples}
plant validate/values/a.hpp '<cmath>'
plant validate/values/a.cpp '"validate/values/a.hpp"' '"validate/values/b.hpp"'
arrows "$work" || { echo "a false alarm"; exit 1; }
plant validate/values/b.hpp '"validate/values/a.hpp"'
cycle=$(arrows "$work") && { echo "a cycle does not fail the check"; exit 1; }
[[ $cycle == *"validate/values/b: in a cycle of includes"* ]] || { echo "a cycle was not found"; exit 1; }
echo "$(wc -l <"$work/found") planted includes found, no false alarm"
