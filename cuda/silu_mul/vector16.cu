// SPDX-License-Identifier: Apache-2.0
// 16-byte packs, four loads per input in flight in a thread; contiguous matrices are processed as one row.  Falls back to single
// elements where rows are not 16-byte aligned.
#include "cuda/core/activation.cuh"
#include "cuda/core/pointwise.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, vector16) {

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
    pointwise::binary<T>({a.gate.as<T>(), a.gate.stride[0]}, {a.up.as<T>(), a.up.stride[0]}, a.y.as<T>(), a.y.stride[0],
                         a.y.shape[0], a.y.shape[1], SiluTimes{}, l.stream);
  });
}

}  // namespace assay::ROOM(silu_mul, vector16)
