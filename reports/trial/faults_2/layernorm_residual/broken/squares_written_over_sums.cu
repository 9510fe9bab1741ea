// SPDX-License-Identifier: Apache-2.0
// FAULT: the sums of the warps and then their squares go through the same shared memory with one barrier each, so that a quick
// warp writes its squares while a slow one still reads the sums.
// Kind: concurrency
// Shows: rows of more than 256 columns, which have four warps.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, squares_written_over_sums) {

template <class T>
struct FourWarps : Plain<T> {
  __device__ static float block_total(float v) {
    float* const partial = shared_memory<float>();
    v = warp_sum(v);
    if (lane_id() == 0) st(partial + warp_id(), v);
    sync_block();
    float sum = 0;
    for (int w = 0; w < kPlainThreads / kWarp; ++w) sum += ld(partial + w);
    return sum;
  }
};
template <class T>
struct OneWarp : Plain<T> {
  static constexpr int kThreads = kWarp;
};

KERNEL(layernorm_residual) = plain_traits<OneWarp>();

void run(const layernorm_residual::Args& a, const Launch& l) {
  if (a.x.shape[1] <= 256) run_plain<OneWarp>(a, l);
  else run_plain<FourWarps>(a, l);
}

}  // namespace assay::ROOM(layernorm_residual, squares_written_over_sums)
