#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests what a project with kernels of its own uses: the installed package, by the commands of docs/door.md on examples/cmake; the
# tree as a part of that project; -DASSAY_KERNEL_DIRS.
#   package.sh SOURCE BUILD CMAKE FLAGS...     FLAGS: with which BUILD was configured
set -u
source=$1 build=$2 cmake=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log prefix=$work/prefix
fail() { echo "FAILED: $1"; [ ! -f "$log" ] || tail -40 "$log"; exit 1; }
unset ASSAY_DATASETS CMAKE_PREFIX_PATH
"$cmake" --install "$build" --prefix "$prefix" >"$log" 2>&1 || fail "cmake --install"

# --- the page's commands, in the user's folder
cp -r "$source/examples/cmake" "$work/my kernels" && cd "$work/my kernels" || exit 2
awk '/^## CMake/ { here = 1 } here && /^```/ { inside = $0 == "```sh" && !done; if (!inside && lines) done = 1; next } inside { print; lines = 1 }' \
  "$source/docs/door.md" >"$work/commands"
[ "$(grep -c . "$work/commands")" = 3 ] || fail "docs/door.md: three commands were expected: $(<"$work/commands")"
sed -i "s#\$HOME/assay#$prefix#; s#^cmake #$cmake #; s#^ctest #$(dirname "$cmake")/ctest #" "$work/commands"
bash -e "$work/commands" >"$log" 2>&1 || fail "the commands of docs/door.md"
suites=4
[[ " $* " != *" -DASSAY_CUDA=ON "* ]] || suites=7  # on a GPU too, but for the watch
grep -qE "100% tests passed(, 0 tests failed)? out of $suites\$" "$log" || fail "a test for each suite"  # as CMake 3 and 4 say it
[ "$(grep -c . CMakeLists.txt)" -le 5 ] || fail "more than 5 lines of CMake"
validate=$prefix/bin/validate
"$validate" run --worker "build/my_kernels simt" --suite sanitize --dtype f32 --json right.jsonl >"$log" 2>&1 || fail "run --worker"
grep -q '"not_checked":\["plain"\].*"counted":{"x":{"read_bytes":' right.jsonl || fail "each access by ld and st is seen, and bytes are counted"
build/my_kernels >"$log" 2>&1
[ $? = 2 ] || fail "a worker that is started by hand is bad input"
grep -q "softmax/my_softmax" "$log" || fail "a worker that is started by hand says what it is"
for backend in cuda what; do  # cuda: these tests run where there is no GPU, or refuse nothing
  "$validate" run --worker "build/my_kernels $backend" --suite fixed >"$log" 2>&1 || [ $? = 2 ] || fail "backend $backend"
done
grep -q "'what' is no backend of this program; simt or cuda was expected" "$log" || fail "another backend"

# --- wrong kernels: a block too few, and a race, which only a watched machine sees
sed -i 's/ceil_div(rows, kRows)/rows \/ kRows/' my_softmax.cu
"$cmake" --build build >"$log" 2>&1 || fail "the wrong kernel does not build"
"$(dirname "$cmake")/ctest" --test-dir build --output-on-failure -R smoke >"$log" 2>&1 && fail "a wrong kernel passes"
grep -q "FAILED  softmax/my_softmax" "$log" || fail "the test does not show the verdict"
"$validate" run --worker build/my_kernels --suite sanitize --dtype f32 --no-shrink --json wrong.jsonl >"$log" 2>&1
"$validate" compare right.jsonl wrong.jsonl >"$log" 2>&1
grep -q "passed, is failed now (binary changed)" "$log" || fail "the records have no hash of the code"
sed 's/my_softmax/races/g; s/  x += row/  if (lane_id() < 2) st(shared_memory<float>(), 1.0f);\n&/; s/kRows \* kWarp)}/kRows * kWarp), .shared_bytes = 4}/' \
  "$source/examples/cmake/my_softmax.cu" >races.cu
cp "$source/examples/cmake/my_softmax.cu" .
mkdir assay_kernels && echo '#include "other.hpp"' >assay_kernels/other.cpp && touch assay_kernels/other.hpp
sed -i 's#SOURCES my_softmax.cu#SOURCES my_softmax.cu races.cu assay_kernels/other.cpp#' CMakeLists.txt
"$cmake" --build build >"$log" 2>&1 || fail "two kernels in a program, and another source"
"$(dirname "$cmake")/ctest" --test-dir build --output-on-failure -R watch >"$log" 2>&1 && fail "a race is not seen"
grep -q "FAILED  softmax/races .* shared_race: .*(races.cu:[0-9]*)" "$log" || fail "the race"

# --- kernels of the tree, built as a user's, against the same built in: equal records
mkdir -p "$work/ours/cuda" && cd "$work/ours" || exit 2
kernels="softmax/warp_row layernorm/warp_row linear/fma_tiled"
{
  printf 'cmake_minimum_required(VERSION 3.24)\nproject(ours LANGUAGES CXX)\nfind_package(Assay REQUIRED)\n'
  for kernel in $kernels; do
    mkdir "cuda/${kernel%/*}" && cp "$source/cuda/${kernel%/*}"/*.cu* "cuda/${kernel%/*}/"
    printf 'assay_add_kernel(%s OP %s SOURCES cuda/%s.cu)\ntarget_include_directories(%s PRIVATE .)\n' "${kernel%/*}" "${kernel%/*}" "$kernel" "${kernel%/*}"
  done
} >CMakeLists.txt
{ "$cmake" -S . -B build "-DCMAKE_PREFIX_PATH=$prefix" && "$cmake" --build build; } >"$log" 2>&1 || fail "our own kernels as a user's"
outcomes() { grep '"record":"case"' "$1" | sed -E 's/"(loaded|code)":"[^"]*",|"seconds":[^,}]*,?//g' | sort; }
for kernel in $kernels; do
  "$validate" run --worker "build/${kernel%/*} simt" --suite smoke --json theirs.jsonl >"$log" 2>&1 || fail "$kernel as a user's"
  "$validate" run --backend simt --kernel "$kernel" --suite smoke --json ours.jsonl >"$log" 2>&1 || fail "$kernel, built in"
  [ "$(outcomes ours.jsonl | wc -l)" -gt 100 ] || fail "$kernel: cases"
  diff <(outcomes ours.jsonl) <(outcomes theirs.jsonl) >"$log" || fail "$kernel: verdicts, margins, bits and bytes differ"
done

# --- a plain CUDA file, and calls that cannot be right
mkdir "$work/plain" && cd "$work/plain" || exit 2
cat >plain.cu <<'END'
/* __syncthreads
   atomicAdd */
__global__ void row(const float* x, float* y) {  // __ballot_sync
  float max = x[threadIdx.x];
  for (int o = 16; o; o /= 2) max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, o));
  y[threadIdx.x] = max;
}
void launch_row(const float* x, float* y) { row<<<1, 32>>>(x, y); }
END
project() { printf 'cmake_minimum_required(VERSION 3.24)\nproject(plain LANGUAGES CXX)\nfind_package(Assay REQUIRED)\n%s\n' "$1" >CMakeLists.txt; }
configure() { "$cmake" -S . -B build "-DCMAKE_PREFIX_PATH=$prefix" >"$log" 2>&1; }
project 'assay_add_kernel(plain OP softmax SOURCES plain.cu)'
configure || fail "configure"
"$cmake" --build build >"$log" 2>&1 && fail "a plain CUDA file builds"
page=$prefix/share/doc/assay/device-words.md
[ -f "$page" ] || fail "no page of the words"
says() { grep -q -F -- "$1" <(tr '\n' ' ' <"$log" | tr -s ' ') || fail "no message: $1"; }
says "plain.cu:5: __shfl_xor_sync is a word of CUDA alone; write like \"*y = shuffle_xor(1.0f, 16);\" ($page)"
says "plain.cu:8: <<< is a word of CUDA alone; write like \"launch("
says "plain.cu: it opens no namespace assay::ROOM(softmax, plain); a kernel with a launcher of its own is judged as a plugin"
[ "$(grep -c "is a word of CUDA alone" "$log")" = 2 ] || fail "words in comments are none"
refuses() { project "$1"; configure && fail "accepted: $1"; says "$2"; }
refuses 'assay_add_kernel(plain OP softmx SOURCES plain.cu)' "there is no op 'softmx'"
refuses 'assay_add_kernel(plain OP softmax SOURCES none.cu)' "there is no file none.cu"
refuses $'set(kernels x)\nassay_add_kernel(plain OP softmax SOURCES)' "a file FILE.cu was expected in SOURCES"
refuses 'assay_add_kernel(plain softmax plain.cu)' "OP and SOURCES were expected"
refuses 'assay_discover_tests(plain)' "a program of assay_add_kernel() was expected"

# --- the tree as a part of the project: it configures, and the kernel compiles; and a kernel from a folder of ASSAY_KERNEL_DIRS
mkdir -p "$work/part/quick/softmax" && cd "$work/part" || exit 2
cp "$source/examples/cmake/my_softmax.cu" .
sed 's/my_softmax/quick/g' my_softmax.cu >quick/softmax/quick.cu
theirs="set(d x)\nset(kernels x)\nset(includes x)"  # variables of the project, of which nothing of ours may be made
sed "s#^find_package(Assay REQUIRED)#$theirs\nadd_subdirectory(\"$source\" assay)#" "$source/examples/cmake/CMakeLists.txt" >CMakeLists.txt
"$cmake" -G "Unix Makefiles" -S . -B build "-DASSAY_KERNEL_DIRS=$PWD/quick" "$@" >"$log" 2>&1 || fail "add_subdirectory"
make -C build -f CMakeFiles/my_kernels.dir/build.make CMakeFiles/my_kernels.dir/assay_kernels/my_kernels/my_softmax.cpp.o \
  >"$log" 2>&1 || fail "the kernel in a project of which Assay is a part"
make -C build -f assay/cuda/CMakeFiles/assay_own_kernels_simt.dir/build.make \
  "assay/cuda/CMakeFiles/assay_own_kernels_simt.dir$PWD/quick/softmax/quick.cu.o" >"$log" 2>&1 || fail "the kernel of ASSAY_KERNEL_DIRS"
grep '^x' build/assay/generated/*/*.cpp >"$log" && fail "what is generated holds variables of the project"
# The hash of its code is also that of what it includes beside it, and above.
hash_of_quick() {
  "$cmake" --build build --target assay_code_hashes >"$log" 2>&1 || fail "the hashes"
  grep '"softmax/quick"' build/assay/generated/code_hashes.cpp || fail "no hash"
}
sed -i '1i #include "beside.cuh"' quick/softmax/quick.cu
echo '#include "above.cuh"' >quick/softmax/beside.cuh && echo '#include "softmax/beside.cuh"' >quick/above.cuh
first=$(hash_of_quick)
echo '#define NEW' >>quick/above.cuh
[ "$first" != "$(hash_of_quick)" ] || fail "the hash of a kernel leaves out what it includes"
"$(dirname "$cmake")/ctest" --test-dir build -N >"$log" 2>&1
grep -q "Total Tests: $suites" "$log" || fail "the tests of the project alone"
# The same by FetchContent, which has what it would download.
sed "s#^find_package(Assay REQUIRED)#include(FetchContent)\nFetchContent_Declare(Assay GIT_REPOSITORY https://no.such.host/assay.git)\nFetchContent_MakeAvailable(Assay)#" \
  "$source/examples/cmake/CMakeLists.txt" >CMakeLists.txt
"$cmake" "-DFETCHCONTENT_SOURCE_DIR_ASSAY=$source" build >"$log" 2>&1 || fail "FetchContent"
make -C build -f CMakeFiles/my_kernels.dir/build.make CMakeFiles/my_kernels.dir/assay_kernels/my_kernels/my_softmax.cpp.o >"$log" 2>&1 ||
  fail "the kernel in a project that fetches Assay"
grep '^CMakeFiles/my_kernels.dir/all:' build/CMakeFiles/Makefile2 >"$log"
says "_deps/assay-build/validate/CMakeFiles/assay_worker.dir"
grep -q "quick/softmax/quick.cu" build/_deps/assay-build/cuda/CMakeFiles/assay_own_kernels_simt.dir/build.make || fail "the kernel of ASSAY_KERNEL_DIRS, with FetchContent"
mkdir quick/softmx && mv quick/softmax/quick.cu quick/softmx/
"$cmake" build >"$log" 2>&1 && fail "an unknown op in ASSAY_KERNEL_DIRS"
says "there is no op 'softmx'"
mkdir -p quick/softmax && cp my_softmax.cu quick/softmax/naive.cu && rm -r quick/softmx
"$cmake" build >"$log" 2>&1 && fail "a kernel of a name that is taken"
says "there is another kernel softmax/naive"
"$cmake" "-DASSAY_KERNEL_DIRS=$PWD/build" build >"$log" 2>&1 && fail "a folder without kernels"
says "holds no file OP/KERNEL.cu"
rm quick/softmax/naive.cu && cp my_softmax.cu quick/softmax/
"$cmake" "-DASSAY_KERNEL_DIRS=" "-DASSAY_OP_DIRS=$PWD/quick" build >"$log" 2>&1 && fail "a folder without ops"
says "holds no file OP.hpp"
touch quick/softmax.hpp
"$cmake" build >"$log" 2>&1 && fail "an op of a name that is taken"
says "there is another op 'softmax'"
echo "built from an installed package and as a part of a project; judged; refused what cannot be right"
