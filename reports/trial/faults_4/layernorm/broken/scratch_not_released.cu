// SPDX-License-Identifier: Apache-2.0
// FAULT: leaves out the second barrier of the block sum, so a fast warp stores its part of the sum of squares over the part of
// the sum that a slow warp has not read. Right with one warp (up to 1024 columns in 16 bits, 512 in f32). Visible in longer
// rows.
// KIND: concurrency
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, scratch_not_released) {

using namespace row_norm;

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain},
};

struct Threads {
  float* scratch;  // shared memory for kWarp floats
  __device__ int thread() const { return static_cast<int>(threadIdx.x); }
  __device__ int threads() const { return static_cast<int>(blockDim.x); }
  __device__ float sum(float v) const {
    v = warp_sum(v);
    if (lane_id() == 0) st(scratch + warp_id(), v);
    sync_block();
    return warp_sum(lane_id() < threads() / kWarp ? ld(scratch + lane_id()) : 0.0f);
  }
};

template <class T, int N, bool kHeld>
__global__ void __launch_bounds__(kMostThreads<N>) layernorm_block_row(Matrices<T, layernorm::Args> m) {
  const Threads block{shared_memory<float>()};
  if constexpr (kHeld) held<N, kBlockPacks<N>>(m, blockIdx.x, block);
  else read_again<N, kBlockPacks<N>>(m, blockIdx.x, block);
}

template <class T, int N>
void run_width(const layernorm::Args& a, const Launch& l) {
  launch_blocks<N>(layernorm_block_row<T, N, true>, layernorm_block_row<T, N, false>, matrices<T>(a), l.stream);
}

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) { wide(a) ? run_width<T, kPerAccess<T>>(a, l) : run_width<T, 1>(a, l); });
}

}  // namespace assay::ROOM(layernorm, scratch_not_released)
