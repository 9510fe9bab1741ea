# SPDX-License-Identifier: Apache-2.0
# What builds validate-trial with packed kernels, for the scripts that source it in the root of the tree.

# unpacked FOLDER: unpacks reports/trial/FOLDER.tar.xz, and says where its kernels are.
unpacked() {
  local kernels=$PWD/build-trial/kernels
  mkdir -p "$kernels"
  rm -rf "${kernels:?}/$1"
  tar -xJf "reports/trial/$1.tar.xz" -C "$kernels"
  echo "$kernels/$1"
}

# built KERNELS TREE BUILD: builds validate-trial of the tree with these kernels in the place of its broken ones and variants.
built() {
  mkdir -p "$3"
  { cmake -S "$2" -B "$3" --log-level=WARNING -DASSAY_UNITY=ON -DASSAY_TESTS=ON -DASSAY_TRIAL="$1" &&
    cmake --build "$3" -j "$(nproc)" --target validate-trial; } >"$3/built.txt" 2>&1 ||
    { tail -30 "$3/built.txt" >&2; exit 1; }
}
