// SPDX-License-Identifier: Apache-2.0
// FAULT: the block's sum returns without a barrier after its result is read, so the first thread into the second sum overwrites
// the mean before the others have read it.  Right for cols = 1, where only that thread has work.
// Caught by: the bound, in the orders that let thread 0 run first (forward, shuffle; mostly right in reverse), any random fill
// with cols > 1; as a shared-memory race wherever races are watched.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, missing_second_barrier) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr int kExtra = 7;
  static std::size_t shared_bytes(const Rows<T>&) { return kPlainThreads * sizeof(float); }
  __device__ static float block_total(float v) {
    float* const tree = shared_memory<float>();
    const int thread = static_cast<int>(threadIdx.x);
    st(tree + thread, v);
    sync_block();
    for (int half = kPlainThreads / 2; half > 0; half /= 2) {
      if (thread < half) st(tree + thread, ld(tree + thread) + ld(tree + thread + half));
      sync_block();
    }
    return ld(tree);
  }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, missing_second_barrier)
