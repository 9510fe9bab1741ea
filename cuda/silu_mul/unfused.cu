// SPDX-License-Identifier: Apache-2.0
// Two kernels, as a framework runs them: s = silu(gate), rounded to the dtype, into y; then y = s up.  The baseline for the fused
// kernel: 16-byte packs, several in flight.
#include "cuda/core/activation.cuh"
#include "cuda/core/pointwise.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, unfused) {

KERNEL(silu_mul){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, pointwise::kThreads)},
    .numerics = {.accumulate = f32, .stores = "s"},
};

struct Silu {
  __device__ float operator()(float gate) const { return silu(gate); }
};
struct Times {
  __device__ float operator()(float s, float up) const { return s * up; }
};

void run(const silu_mul::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    T* const y = a.y.as<T>();
    const std::int64_t stride = a.y.stride[0], rows = a.y.shape[0], cols = a.y.shape[1];
    pointwise::unary<T>({a.gate.as<T>(), a.gate.stride[0]}, y, stride, rows, cols, Silu{}, l.stream);
    pointwise::binary<T>({y, stride}, {a.up.as<T>(), a.up.stride[0]}, y, stride, rows, cols, Times{}, l.stream);
  });
}

}  // namespace assay::ROOM(silu_mul, unfused)
