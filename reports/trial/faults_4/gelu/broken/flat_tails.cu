// SPDX-License-Identifier: Apache-2.0
// FAULT: returns x above 4 and 0 below -4 without computing anything. Visible in f32 (and in 16 bits for negative x, whose
// results are small): gelu(-4.5) is -1.5e-5, not 0.
// KIND: ranges
#include "cuda/core/activation.cuh"
#include "cuda/core/pointwise.cuh"
#include "ops/gelu.hpp"

namespace assay::ROOM(gelu, flat_tails) {

KERNEL(gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, pointwise::kThreads)},
    .numerics = {.accumulate = f32},
};

template <Activation kForm>
struct Gelu {
  __device__ float operator()(float z) const {
    if (z > 4.0f) return z;
    if (z < -4.0f) return 0.0f;
    return activate<kForm>(z);
  }
};

void run(const gelu::Args& a, const Launch& l) {
  if (a.x.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      pointwise::unary<T>({a.x.as<T>(), a.x.stride[0]}, a.y.as<T>(), a.y.stride[0], a.y.shape[0], a.y.shape[1],
                          Gelu<kForm>{}, l.stream);
    });
  });
}

}  // namespace assay::ROOM(gelu, flat_tails)
