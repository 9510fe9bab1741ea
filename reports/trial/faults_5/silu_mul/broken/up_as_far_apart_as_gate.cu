// SPDX-License-Identifier: Apache-2.0
// FAULT: where all rows start at multiples of 16 bytes, rows of up are taken to be as far apart as those of gate, as in the
//   output of one merged projection.
// KIND: layout
// Right on: silu_mul f16 rows=64 cols=256 fill=normal seed=1
// Wrong on: silu_mul f16 rows=16 cols=64 layout=mixed16 fill=normal seed=1
#include "cuda/core/activation.cuh"
#include "cuda/core/pointwise.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, up_as_far_apart_as_gate) {

KERNEL(silu_mul){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, pointwise::kThreads)},
    .numerics = {.accumulate = f32},
};

struct SiluTimes {
  __device__ float operator()(float gate, float up) const { return silu(gate) * up; }
};

void run(const silu_mul::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const bool aligned = a.gate.rows_aligned(16) && a.up.rows_aligned(16) && a.y.rows_aligned(16);
    const std::int64_t up_stride = aligned ? a.gate.stride[0] : a.up.stride[0];
    pointwise::binary<T>({a.gate.as<T>(), a.gate.stride[0]}, {a.up.as<T>(), up_stride}, a.y.as<T>(), a.y.stride[0], a.y.shape[0],
                         a.y.shape[1], SiluTimes{}, l.stream);
  });
}

}  // namespace assay::ROOM(silu_mul, up_as_far_apart_as_gate)
