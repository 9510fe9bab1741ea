// SPDX-License-Identifier: Apache-2.0
// FAULT: channels are summed four at a time, and the rest after the last four begins at the wrong end: it is counted down from
// hidden, one short.
// Kind: offsets
// Shows: a hidden that leaves 1, 2 or 3 channels over: the first channel of the rest is not summed.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, channels_in_fours) {

template <class T>
struct Fours : Plain<T> {
  template <class F>
  __device__ static float product(const T* x, const T* w, std::int64_t hidden) {
    float sum = 0;
    std::int64_t h = 0;
    for (; h + 4 <= hidden; h += 4)
#pragma unroll
      for (int j = 0; j < 4; ++j) sum = fmaf(to_float(ld(x + h + j)), to_float(ld(w + h + j)), sum);
    for (std::int64_t rest = hidden - 1; rest > h; --rest) sum = fmaf(to_float(ld(x + rest)), to_float(ld(w + rest)), sum);
    return sum;
  }
};

KERNEL_FROM(gemm_swiglu, plain, Fours);

}  // namespace assay::ROOM(gemm_swiglu, channels_in_fours)
