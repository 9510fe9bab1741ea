// SPDX-License-Identifier: Apache-2.0
// FAULT: a warp hands its maximum over in f16 and its sum relative to the maximum before: right where f16 holds the maximum.
// Kind: precision
// Caught by: the bound, with tokens=1 vocab=2 (f32).
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, maximum_in_half_between_warps) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static fold::LogSumExp seen(const T* x, std::int64_t vocab) {
    fold::LogSumExp f;
    fold::take_packs<1, 1>(f, x, threadIdx.x, vocab, kPlainThreads);
    f = fold::join_warp(f);
    f = lane_id() == 0 ? fold::LogSumExp{to_float(from_float<half>(f.max)), f.sum} : fold::LogSumExp{};
    return fold::join_block(f, shared_memory<fold::LogSumExp>());
  }
};
KERNEL_FROM(cross_entropy, plain, Wrong, {f32});

}  // namespace assay::ROOM(cross_entropy, maximum_in_half_between_warps)
