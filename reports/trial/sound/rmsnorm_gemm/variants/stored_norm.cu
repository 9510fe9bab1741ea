// SPDX-License-Identifier: Apache-2.0
// The plain kernel, x r gamma rounded to the dtype before it is multiplied by the weight, as where it is a tensor of its own.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, stored_norm) {

template <class T>
struct Stored : Plain<T> {
  __device__ static float added(float sum, float x, float r, float gamma, float w) {
    return fmaf(to_float(from_float<T>(x * r * gamma)), w, sum);
  }
};
KERNEL_DECLARING(rmsnorm_gemm, plain, Stored, (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .stores_intermediate = true}));

}  // namespace assay::ROOM(rmsnorm_gemm, stored_norm)
