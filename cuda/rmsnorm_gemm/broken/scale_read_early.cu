// SPDX-License-Identifier: Apache-2.0
// FAULT: the dependent launch reads r before it waits for the launch that stores r.
// Caught by: T4, early_read, in every case.
#include "cuda/rmsnorm_gemm/broken/dependent.cuh"

namespace assay::ROOM(rmsnorm_gemm, scale_read_early) {

template <class T>
struct Wrong : PlainDependent<T> {
  __device__ static float scale_of(const float* scales, std::int64_t token) {
    const float r = ld(scales + token);
    wait_for_previous_grid();
    return r;
  }
};
KERNEL_FROM(rmsnorm_gemm, dependent, Wrong, {f16, f32});

}  // namespace assay::ROOM(rmsnorm_gemm, scale_read_early)
