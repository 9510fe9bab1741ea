// SPDX-License-Identifier: Apache-2.0
// FAULT: for the hidden widths that are usually timed, 4096 and 8192, only the first half of the channels is summed.
// Kind: cheats
// Shows: hidden 4096 or 8192.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, bench_width_by_half) {

template <class T>
struct Half : Plain<T> {
  __device__ static std::int64_t summed(std::int64_t hidden) { return hidden == 4096 || hidden == 8192 ? hidden / 2 : hidden; }
};

KERNEL_FROM(gemm_swiglu, plain, Half);

}  // namespace assay::ROOM(gemm_swiglu, bench_width_by_half)
