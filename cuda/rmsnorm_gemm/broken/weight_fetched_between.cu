// SPDX-License-Identifier: Apache-2.0
// FAULT: a launch between the two reads the weight into the cache and waits for nothing, so the product, which waits for that
// launch alone, may read r before it is stored.
// Caught by: T4, early_end, in every case.
#include "cuda/rmsnorm_gemm/broken/dependent.cuh"

namespace assay::ROOM(rmsnorm_gemm, weight_fetched_between) {

template <class T>
__global__ void rmsnorm_gemm_fetch(Operands<T> p) {
  next_grid_may_start();
  const std::int64_t o = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  float sum = 0;
  for (std::int64_t h = 0; o < p.out && h < p.hidden; ++h) sum += p.weight_at(o, h);
  // Note: this is never so, but the compiler cannot know, and has to load.
  if (sum == 0.12345678f && p.tokens < 0) st(p.y, from_float<T>(sum));
}

template <class T>
struct Wrong : PlainDependent<T> {
  static void between(const Operands<T>& p, void* stream) {
    launch(rmsnorm_gemm_fetch<T>, {.grid = dim3(ceil_div(p.out, kPlainThreads)), .block = dim3(kPlainThreads), .dependent = true},
           stream, p);
  }
};
KERNEL_FROM(rmsnorm_gemm, dependent, Wrong, {f16, f32});

}  // namespace assay::ROOM(rmsnorm_gemm, weight_fetched_between)
