// SPDX-License-Identifier: Apache-2.0
// Sums and maxima over a warp and over a block.  Every thread gets the same bits of the result.
#pragma once

#include "cuda/core/device.cuh"

namespace assay::ASSAY_FLAVOUR {

// Adds by a butterfly, 5 additions deep.
__device__ inline float warp_sum(float v) {
  return butterfly(v, [](float a, float b) { return a + b; });
}

// Adds in two levels, 10 additions deep: each warp its own values, then every warp the warps' sums.  `partial` is shared memory
// for kWarp floats and may be reused at once.  All threads of the block, at most 1024, must call it.
__device__ inline float block_sum(float v, float* partial) {
  const int warps = static_cast<int>(blockDim.x * blockDim.y * blockDim.z + kWarp - 1) / kWarp;
  v = warp_sum(v);
  if (lane_id() == 0) st(partial + warp_id(), v);
  sync_block();
  v = warp_sum(lane_id() < warps ? ld(partial + lane_id()) : 0.0f);
  sync_block();
  return v;
}

// The maximum by fmaxf: NaN is ignored unless all are NaN.
__device__ inline float warp_max(float v) {
  return butterfly(v, [](float a, float b) { return fmaxf(a, b); });
}

// `partial` as in block_sum.
__device__ inline float block_max(float v, float* partial) {
  const int warps = static_cast<int>(blockDim.x * blockDim.y * blockDim.z + kWarp - 1) / kWarp;
  v = warp_max(v);
  if (lane_id() == 0) st(partial + warp_id(), v);
  sync_block();
  v = warp_max(lane_id() < warps ? ld(partial + lane_id()) : -INFINITY);
  sync_block();
  return v;
}

}  // namespace assay::ASSAY_FLAVOUR
