// SPDX-License-Identifier: Apache-2.0
// FAULT: threads without a feature return before the barrier, and their part of the squares is missing.
// Caught by: T4, the divergent barrier on simt; on a GPU T1. Features no multiple of 8.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, early_return_before_barrier) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr int kThreads = 8;
  static constexpr std::size_t kSharedBytes = kThreads * sizeof(float);
  static constexpr Numerics kNumerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = kThreads}};
  template <class F>
  __device__ static float squares(const Operands<T>& p, std::int64_t token) {
    float* const parts = shared_memory<float>();  // [kThreads]
    float part = 0, squares = 0;
    for (std::int64_t h = threadIdx.x; h < p.hidden; h += kThreads) part = fmaf(p.x_at(token, h), p.x_at(token, h), part);
    st(parts + threadIdx.x, part);
    sync_block();
    for (int i = 0; i < kThreads; ++i) squares += ld(parts + i);
    return squares;
  }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(rmsnorm_gemm, early_return_before_barrier)
