// SPDX-License-Identifier: Apache-2.0
// What the kernels of this folder that remember earlier calls share: a call's addresses and extents, and a key of some elements.
#pragma once

#include "cuda/core/kernel.cuh"

namespace assay::ASSAY_FLAVOUR::kept {

struct Call {
  const void* tensors[6];
  std::int64_t extents[4];
  DType dtype;
  bool operator==(const Call&) const = default;
};

// Whether the call is the one before once more, by its addresses and extents.
inline bool again(Call& before, const Call& now) {
  const bool same = before == now;
  before = now;
  return same;
}

// The workspace: the key, whether it is the one of the call before, and from byte 256 on what is kept.
inline unsigned* key_of(const Launch& l) { return static_cast<unsigned*>(l.workspace); }
template <class T>
T* store_of(const Launch& l) {
  return reinterpret_cast<T*>(static_cast<char*>(l.workspace) + 256);
}

// A hash of the rows first, first + step, ... and of their columns first_col, first_col + col_step, ... before end_col.
template <class T>
struct Hash {
  const T* x;
  std::int64_t first, end, step, first_col, end_col, col_step, stride;
  __device__ unsigned operator()() const {
    unsigned h = 2166136261u;
    for (std::int64_t r = first; r < end; r += step)
      for (std::int64_t c = first_col; c < end_col; c += col_step)
        h = (h ^ __builtin_bit_cast(unsigned, to_float(ld(x + r * stride + c)))) * 16777619u;
    return h;
  }
};

// The same key always: what is kept counts as long as its workspace was not touched.
struct Mark {
  __device__ unsigned operator()() const { return 0x6b657074u; }
};

template <class F>
__global__ void decide(unsigned* key, bool repeated, F f) {
  const unsigned now = f();
  st(key + 1, repeated && ld(key) == now ? 1u : 0u);
  st(key, now);
}
template <class F>
void run_decide(const Launch& l, bool repeated, F f) {
  launch(decide<F>, {.grid = dim3(1), .block = dim3(1)}, l.stream, key_of(l), repeated, f);
}

}  // namespace assay::ASSAY_FLAVOUR::kept
