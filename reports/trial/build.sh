# SPDX-License-Identifier: Apache-2.0
# What builds the set `trial` with packed kernels, for the scripts that source it in the root of the tree.

# unpacked FOLDER [WORDS]: unpacks reports/trial/FOLDER.tar.xz, and says where its kernels are.  WORDS `as_written`: with the words
# of numerics as they were; else with those of this tree.
unpacked() {
  local kernels=$PWD/build-trial/kernels
  mkdir -p "$kernels"
  rm -rf "${kernels:?}/$1"
  tar -xJf "reports/trial/$1.tar.xz" -C "$kernels"
  [ "${2-}" = as_written ] || python3 reports/trial/renamed.py "$kernels/$1"
  echo "$kernels/$1"
}

# targets_of TREE: what has the kernels that it is put on trial with; an older tree has a program of its own for them.
targets_of() {
  if grep -q 'assay_set(trial' "$1/validate/CMakeLists.txt"; then echo validate set_trial; else echo validate-trial; fi
}

# built KERNELS TREE BUILD: builds validate and the set `trial` of the tree with these kernels in the place of its broken ones and variants.
built() {
  mkdir -p "$3"
  { cmake -S "$2" -B "$3" --log-level=WARNING -DASSAY_UNITY=ON -DASSAY_TESTS=ON -DASSAY_TRIAL="$1" &&
    cmake --build "$3" -j "$(nproc)" --target $(targets_of "$2"); } >"$3/built.txt" 2>&1 ||
    { tail -30 "$3/built.txt" >&2; exit 1; }
}
