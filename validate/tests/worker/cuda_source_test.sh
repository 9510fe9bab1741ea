#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A CUDA source is compiled, by nvcc or by NVRTC, and judged as its PTX is; what is wrong is told in a sentence.  The program nvcc
# is one of ours that copies PTX; with a real nvcc, or with the NVRTC that ASSAY_NVRTC names, those are used too.
#   cuda_source_test.sh BINARIES
source "$(dirname "$0")/../checks.sh"
real=$(command -v nvcc)
nvrtc=${ASSAY_NVRTC:-}
unset ASSAY_NVRTC
launch=$sources/examples/ptx/softmax.json
mkdir bin tmp
export TMPDIR=$PWD/tmp
cp "$sources/examples/ptx/softmax.cu" mine.cu
cat >bin/nvcc <<'E2'
#!/bin/sh
echo "$@" >called
for last; do :; done
grep -q broken mine.cu && { echo 'mine.cu(3): error: identifier "broken" is undefined'; echo '1 error'; exit 1; }
cp module.ptx "$last"
E2
chmod +x bin/nvcc
cp "$sources/examples/ptx/softmax.ptx" module.ptx
PATH=$PWD/bin:/usr/bin:/bin

exits 0 "$validate" run --suite sanitize --cu mine.cu --launch "$launch" --watch --json records.jsonl
holds "how nvcc is called" "$(<called)" "-O3 -std=c++17 -arch=sm_80 -lineinfo -ptx mine.cu -o "
same "verdicts" passed "$(grep '"dtype":"f32"' records.jsonl | grep -o '"verdict":"[a-z]*"' | sort -u | cut -d'"' -f4)"
holds "how a case is repeated" "$(<records.jsonl)" "\"loaded\":\"--cu mine.cu --launch $launch\""
same "what is left" "" "$(ls tmp)"
exits 0 "$validate" doctor --cu mine.cu --launch "$launch"
sed 's/setp.ge.s64\(.*%rd65;\)/setp.gt.s64\1/' "$sources/examples/ptx/softmax.ptx" >module.ptx
exits 1 "$validate" replay --no-shrink --cu mine.cu --launch "$launch" 'softmax/warp_per_row f32 rows=3 cols=65'
holds "the line of the source" "$out" "(softmax.cu:11)"

refuses "--cu requires --launch" "$validate" run --cu mine.cu
refuses "--launch: only a --ptx or a --cu has a launch file" "$validate" run --launch "$launch"
refuses "none.cu: there is no such file that can be read" "$validate" run --cu none.cu --launch "$launch"
echo broken >>mine.cu
refuses 'mine.cu: nvcc refuses it: mine.cu(3): error: identifier "broken" is undefined' "$validate" run --cu mine.cu --launch "$launch"
ASSAY_NVRTC=none.so refuses "ASSAY_NVRTC names 'none.so', which cannot be opened" "$validate" run --cu mine.cu --launch "$launch"
ASSAY_NVRTC=libm.so.6 refuses "is no NVRTC: it lacks nvrtcCreateProgram" "$validate" run --cu mine.cu --launch "$launch"

for compiler in "$real" "$nvrtc"; do
  [ -n "$compiler" ] || continue
  [ "$compiler" = "$nvrtc" ] && export ASSAY_NVRTC=$nvrtc || PATH=$(dirname "$real"):$PATH
  for source in "$sources"/datasets/ptx/*.cu; do
    exits 0 "$validate" run --suite sanitize --watch --quiet --cu "$source" --launch "${source%.cu}.json"
  done
done
same "what is left" "" "$(ls tmp)"
verdict
