// SPDX-License-Identifier: Apache-2.0
// FAULT: for 16-bit types the warps of a block exchange their sums in half precision.
// Kind: precision
// Shows: f16, where the sum of a warp has more than 11 bits.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, sums_of_warps_in_half) {

template <class T>
struct Steps : Plain<T> {
  static __device__ float group_sum(float v) {
    if constexpr (std::is_same_v<T, float>) return block_sum(v, shared_memory<float>());
    half* const partial = shared_memory<half>();
    const int warps = kPlainThreads / kWarp;
    v = warp_sum(v);
    if (lane_id() == 0) st(partial + warp_id(), from_float<half>(v));
    sync_block();
    v = warp_sum(lane_id() < warps ? to_float(ld(partial + lane_id())) : 0.0f);
    sync_block();
    return v;
  }
};
KERNEL_FROM(softmax, plain, Steps);

}  // namespace assay::ROOM(softmax, sums_of_warps_in_half)
