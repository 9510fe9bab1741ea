// SPDX-License-Identifier: Apache-2.0
// As vector16, but computes x sigmoid(x) without a division, in half the instructions and in 32 registers, so that all warps of a
// multiprocessor are at work.
#include "cuda/core/activation.cuh"
#include "cuda/core/pointwise.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, fast_silu) {

KERNEL(silu_mul){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, pointwise::kThreads)},
    .numerics = {.accumulate = f32,
                 .exponent_error = kFastSiluExponentError,
                 .quotient_error = kFastQuotientError,
                 .flushes_subnormals = true},
};

struct SiluTimes {
  __device__ float operator()(float gate, float up) const { return silu_fast(gate) * up; }
};

void run(const silu_mul::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    pointwise::binary<T>({a.gate.as<T>(), a.gate.stride[0]}, {a.up.as<T>(), a.up.stride[0]}, a.y.as<T>(), a.y.stride[0],
                         a.y.shape[0], a.y.shape[1], SiluTimes{}, l.stream);
  });
}

}  // namespace assay::ROOM(silu_mul, fast_silu)
