#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests in a copy of the tree that a kernel is one new file (the README's) and an op three, with no existing file changed, that the
# verdicts on that kernel in README and tutorial are right, and that mismatched files fail to configure or compile.  Objects of
# unchanged sources come from BUILD (reuse.sh).
#   add_a_room.sh SOURCE BUILD CMAKE CMAKE_ARGUMENT...
set -u
source=$1 build=$2 cmake=$3
shift 3
here=$(dirname "$(realpath "$0")")
copy=$build/room_copy
log=$build/room.log

fail() { echo "FAILED: $1"; [ ! -s "$log" ] || grep -m 20 -E 'rror|undefined|FAILED|bad' "$log" || tail -5 "$log"; exit 1; }
say() { echo "$(($(date +%s) - start)) s  $1"; }
make_it() { "$cmake" --build "$copy/build" --target validate -j 2 >"$log" 2>&1; }
must_not_make() {  # must_not_make WORDS: the build must fail with WORDS in its output
  if make_it; then fail "$2"; fi
  grep -q -F "$1" "$log" || fail "the message does not say '$1'"
}
compiled() {  # compiled MOST: the last build compiled no more files than that
  local files
  files=$(grep -c 'Building CXX object' "$log")
  [ "$files" -le "$1" ] || fail "$files files were compiled, at most $1 were expected"
}
unchanged() {  # unchanged NEW: no existing file may differ, and exactly NEW files are new
  (cd "$copy" && sha256sum --quiet -c "$build/room.sums" >"$log" 2>&1) || fail "files that were there have changed"
  local files
  files=$(cd "$copy" && find . -path ./build -prune -o -type f -print | wc -l)
  [ "$files" -eq $(($(wc -l <"$build/room.sums") + $1)) ] || fail "not exactly $1 new files"
}
start=$(date +%s)

# Copy the tree with its uncommitted changes.
rm -rf "$copy"
mkdir -p "$copy"
cd "$source" || exit 2
if ! git ls-files -co --exclude-standard >"$build/room.files" 2>/dev/null; then
  find . \( -name 'build*' -o -name .git \) -prune -o -type f -print >"$build/room.files"
fi
while read -r file; do [ ! -f "$file" ] || echo "$file"; done <"$build/room.files" | xargs -d '\n' cp --parents -p -t "$copy"
(cd "$copy" && find . -type f -print0 | xargs -0 sha256sum) >"$build/room.sums"
export ASSAY_REUSE="$source $build"
"$cmake" -S "$copy" -B "$copy/build" -DASSAY_TESTS=OFF "-DASSAY_CCACHE=bash;$here/reuse.sh" "$@" >"$log" 2>&1 || fail "the copy does not configure"
make_it || fail "the copy does not build"
say "a copy of $(wc -l <"$build/room.sums") files, built"

# A kernel: one file, the README's first block of C++.  The tutorial breaks it by a line of its own, twice.
validate=$copy/build/bin/validate
kernel=$copy/cuda/softmax/my_softmax.cu
tutorial=docs/tutorial.md
block() { awk -v type="$2" -v nth="$3" '/^```/ { inside = $0 == "```" type && ++n == nth; next } inside' "$source/$1"; }
run_it() { "$validate" run --backend simt --op softmax --kernel my_softmax "$@" >"$log" 2>&1; }
said() {  # said PAGE NTH: the lines of its nth block of text must be in the log; times, versions, `...` and commands are not compared
  local lines line
  lines=$(block "$1" text "$2" | sed -E "s/( ·)? +[0-9.]+ s\$//; s/ judge=[0-9a-f]+'\$//; /^(\.\.\.|\\$ .*|)\$/d")
  while IFS= read -r line; do
    { [ -n "$line" ] && grep -q -F -- "$line" "$log"; } || fail "$1 has a line in block $2 that is not said: $line"
  done <<<"$lines"
}
put() {  # put NTH WORDS: the line of the kernel with WORDS becomes the tutorial's nth block of C++
  awk -v line="$(block $tutorial cpp "$1")" -v words="$2" 'index($0, words) { $0 = line } { print }' "$kernel" >"$log"
  cmp -s "$log" "$kernel" && fail "the tutorial's line changes nothing: $2"
  cp "$log" "$kernel"
}
"$validate" list kernels | grep -q my_softmax && fail "my_softmax is there already"
block README.md cpp 1 >"$kernel"
make_it || fail "the new kernel does not build"
compiled 3  # the kernels of softmax, and what is read of the sources at every build
run_it || fail "the new kernel does not pass"
judged=$(grep '^[1-9][0-9]* passed · 0 failed · 0 suspect' "$log") || fail "the new kernel was not judged"
said README.md 2
said $tutorial 1
unchanged 1
say "my_softmax: $judged, one file"
put 1 'launch(my_softmax<T>'
make_it || fail "the broken kernel does not build"
run_it --shrink 600 && fail "the broken kernel passes"
said README.md 1
said $tutorial 2
run_it --suite fixed || fail "the suite fixed finds the broken kernel"
said $tutorial 3
"$validate" replay --backend simt "$(block $tutorial text 4 | sed -n "s/^\$ .* replay '\(.*\)'/\1/p")" >"$log" 2>&1
said $tutorial 4
say "my_softmax with a block too few: fails as README and tutorial show"
block README.md cpp 1 >"$kernel"
put 2 'sum += expf('
make_it || fail "the kernel with rounded sums does not build"
run_it --shrink 600 && fail "the kernel with rounded sums passes"
said $tutorial 5
say "my_softmax with rounded sums: fails as the tutorial shows"
rm "$kernel"

# A vendor baseline needs a GPU: a build without one neither compiles nor lists it.
if [[ " $* " == *" -DASSAY_CUDA=OFF "* ]]; then
  echo '#error "not for simt"' >"$copy/cuda/layernorm_residual/baseline_cudnn.cu"
  make_it || fail "a baseline was compiled for simt"
  "$validate" list kernels | grep -q baseline_ && fail "list kernels shows a baseline that is not built"
  rm "$copy/cuda/layernorm_residual/baseline_cudnn.cu"
  say "baseline_cudnn: left out"
fi

# An op: contract, formula and kernel, its cases come from edges/common.json.
mkdir "$copy/cuda/difference"
cp "$here/room/difference.hpp" "$copy/ops/"
cp "$here/room/difference.cpp" "$copy/reference/"
cp "$here/room/naive.cu" "$copy/cuda/difference/"
make_it || fail "the new op does not build"
compiled 7  # contract, formula and kernel, with others that share their first letter, and what is read of the sources
"$validate" list ops | grep -q '^ *difference\b' || fail "list ops does not show the new op"
"$validate" run --backend simt --op difference --suite smoke >"$log" 2>&1 || fail "the new op does not pass"
judged=$(grep '^[1-9][0-9]* passed · 0 failed · 0 suspect' "$log") || fail "the new op was not judged"
unchanged 3
say "difference: $judged, three files"
bash "$here/arrows.sh" "$copy" >"$log" 2>&1 || fail "the new files include what they may not"
bash "$here/kernel_rules.sh" "$copy" >"$log" 2>&1 || fail "the new kernels break the rules"

# An op without a formula does not configure.
rm "$copy/reference/difference.cpp"
must_not_make "reference/difference.cpp" "an op without a formula was built"
say "without a formula: refused"

# A mistake in a formula is told with its file and line.
mistaken() {  # mistaken FROM TO WORDS: the formula with this edit builds, and every command that knows ops says WORDS
  sed "s/$1/$2/" "$here/room/difference.cpp" >"$copy/reference/difference.cpp"
  make_it || fail "a formula with '$2' does not build"
  "$validate" list ops >"$log" 2>&1
  [ $? = 2 ] || fail "a mistake in a formula is not bad input"
  grep -q -F "$3" "$log" || fail "the message does not say '$3'"
}
line=$(grep -n 'f.out("y"' "$here/room/difference.cpp" | cut -d: -f1)
mistaken 'f.in("b")' 'f.in("c")' "reference/difference.cpp:$line: there is no input 'c'"
mistaken 'f.in("b")' 'sum(Axis("col"))(f.in("b"))' "reference/difference.cpp:$line: there is no axis 'col'"
mistaken 'f.in("a") -' 'f.in("a") \/ 0.0 -' "reference/difference.cpp:$line: a division by 0"
cp "$here/room/difference.cpp" "$copy/reference/"
say "three mistakes in a formula: told with file and line"

# A kernel whose room is not its file's name does not compile.
sed 's/ROOM(difference, naive)/ROOM(difference, plain)/' "$here/room/naive.cu" >"$copy/cuda/difference/naive.cu"
must_not_make "a file cuda/OP/STEM.cu opens namespace assay::ROOM(OP, STEM)" "a kernel whose room is not its file's name was compiled"
say "a kernel in another room: refused"

# Once repaired, the same files build.
cp "$here/room/naive.cu" "$copy/cuda/difference/"
make_it || fail "the mended copy does not build"
unchanged 3
say "mended: built"

# An op from elsewhere, contract and formula: that of the page.
rm -r "$copy/cuda/difference" "$copy/ops/difference.hpp" "$copy/reference/difference.cpp" "$build/own_op" 2>/dev/null
cp -r "$source/examples/op" "$build/own_op"
"$cmake" "-DASSAY_OP_DIRS=$build/own_op" "$copy/build" >"$log" 2>&1 || fail "ASSAY_OP_DIRS does not configure"
make_it || fail "the op from elsewhere does not build"
compiled 12  # the ops, their formulas and its kernel, those that shared a unit with the op that is gone, and what is read of the sources
"$validate" run --backend simt --op scale_cols --suite smoke --all-relations --json "$build/own_op/records" >"$log" 2>&1 || fail "the op from elsewhere does not pass"
judged=$(grep '^[1-9][0-9]* passed · 0 failed · 0 suspect' "$log") || fail "the op from elsewhere was not judged"
for relation in rows_permuted first_rows cols_permuted first_cols; do
  grep -q "\"relations\":\[[^]]*\"$relation\"" "$build/own_op/records" || fail "the relation $relation was not checked"
done
"$validate" run --backend simt --op scale_cols --suite watch --watch >"$log" 2>&1 || fail "the op from elsewhere is not watched"
# Another, with an axis that no other op has, and an extent that follows from it.
"$validate" run --backend simt --op scale_blocks --suite smoke >"$log" 2>&1 || fail "the op with an axis of its own does not pass"
of_blocks=$(grep '^[1-9][0-9]* passed · 0 failed · 0 suspect' "$log") || fail "the op with an axis of its own was not judged"
"$validate" describe scale_blocks | grep -q 'scale  *\[tokens, channels/128\]' || fail "the op with an axis of its own is not described"
# And a recurrence, whose last state is an output of another dtype than the case's.
"$validate" run --backend simt --op gated_scan --suite smoke >"$log" 2>&1 || fail "the op with a recurrence does not pass"
"$validate" run --backend simt --op gated_scan --suite edges >"$log" 2>&1 || fail "the op with a recurrence does not pass edges, as where a state overflows"
of_scan=$(grep '^[1-9][0-9]* passed · 0 failed · 0 suspect' "$log") || fail "the op with a recurrence was not judged"
line='scale_blocks/naive f16 tokens=3 channels=130 seed=7'
"$validate" golden "$line" -o "$build/own_op/answers.safetensors" >"$log" 2>&1 || fail "the op with an axis of its own has no golden"
"$validate" replay --backend simt "$line" >"$log" 2>&1 || fail "the line of the op with an axis of its own is not replayed"
sed -i 's/ld(scale + col)/ld(scale + (col \& ~1))/' "$build/own_op/scale_cols/naive.cu"
sed -i 's/channel \/ scale_blocks::kBlock)/(channel - 1) \/ scale_blocks::kBlock)/' "$build/own_op/scale_blocks/naive.cu"
sed -i 's/h = open \* h + to_float/h = to_float(from_float<T>(open * h)) + to_float/' "$build/own_op/gated_scan/naive.cu"
make_it || fail "the wrong kernel of the op from elsewhere does not build"
"$validate" run --backend simt --op scale_cols --suite smoke --no-shrink >"$log" 2>&1 && fail "a wrong kernel of the op from elsewhere passes"
grep -q "^FAILED  scale_cols/naive" "$log" || fail "the wrong kernel has no verdict"
"$validate" run --backend simt --op scale_blocks --suite smoke --no-shrink >"$log" 2>&1 && fail "a wrong kernel of the op with an axis of its own passes"
grep -q "^FAILED  scale_blocks/naive" "$log" || fail "the wrong kernel of the op with an axis of its own has no verdict"
"$validate" run --backend simt --op gated_scan --suite smoke --no-shrink >"$log" 2>&1 && fail "a wrong kernel of the op with a recurrence passes"
grep -q "^FAILED  gated_scan/naive" "$log" || fail "the wrong kernel of the op with a recurrence has no verdict"
rm "$build/own_op/scale_cols.cpp"
must_not_make "has no formula" "an op from elsewhere without a formula was built"
unchanged 0
rm -rf "$copy" "$build/own_op"
say "scale_cols, from another folder: $judged"
say "scale_blocks, with an axis of its own: $of_blocks"
say "gated_scan, a recurrence: $of_scan"
