// SPDX-License-Identifier: Apache-2.0
// FAULT: silu as gate e^gate / (1 + e^gate): inf / inf from gate = 88.8 on.
// Caught by: the class of the result, wherever a gate is large: bends, large_mean_100, near_max.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, silu_overflows) {

KERNEL(silu_mul){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
struct Wrong {
  __device__ static float value(float g, float u, std::int64_t, std::int64_t) {
    const float e = expf(g);
    return g * e / (1.0f + e) * u;
  }
};

void run(const silu_mul::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(silu_mul, silu_overflows)
