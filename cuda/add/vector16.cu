// SPDX-License-Identifier: Apache-2.0
// Packs of 16 bytes, four of each input in flight a thread, the rows of contiguous matrices as one; element by element where
// rows do not start at multiples of 16 bytes.
#include "cuda/core/pointwise.cuh"
#include "ops/add.hpp"

namespace assay::ROOM(add, vector16) {

KERNEL(add){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, pointwise::kThreads)},
    .numerics = {.accumulate = f32},
};

struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};

void run(const add::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    pointwise::binary<T>({a.a.as<T>(), a.a.stride[0]}, {a.b.as<T>(), a.b.stride[0]}, a.y.as<T>(), a.y.stride[0],
                         a.y.shape[0], a.y.shape[1], Plus{}, l.stream);
  });
}

}  // namespace assay::ROOM(add, vector16)
