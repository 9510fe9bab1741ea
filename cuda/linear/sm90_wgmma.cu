// SPDX-License-Identifier: Apache-2.0
// Hopper's own instructions (cuda/core/hopper_gemm.cuh): boxes copied into a ring, wgmma by two warpgroups, the bias added to the
// accumulators, y stored by boxes.  The tile's shape is the one whose waves of tiles cost least.
#include "cuda/core/hopper_gemm.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, sm90_wgmma) {

KERNEL(linear){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::out, 256), tile(Axis::hidden, 64)},
    .numerics = {.accumulate = f32, .mma_terms = 16},
    .supports = [](const linear::Args& a) { return hopper_gemm::takes({&a.x, &a.weight}, a.y); },
};

struct AddBias {
  static constexpr int kTileCycles = 300;
  const void* bias;
  int columns;
  template <class T>
  __device__ void apply(float (&v)[8], const float* /*second*/, hopper_gemm::Place at) const {
    hopper_gemm::add_bias<T>(v, bias, at, columns);
  }
};

void run(const linear::Args& a, const Launch& l) {
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    hopper_gemm::product<T>(a.x, a.weight, a.y, AddBias{a.bias.data, static_cast<int>(a.y.shape[1])}, l);
  });
}

}  // namespace assay::ROOM(linear, sm90_wgmma)
