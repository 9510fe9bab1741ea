// SPDX-License-Identifier: Apache-2.0
// sm90_whole_sums of one dtype.
#include "cuda/core/hopper_whole_product.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, whole) {

KERNEL(linear){
    .dtypes = {f16},
    .only_arch = 90,
    .tiles = {tile(Axis::out, hopper_whole::kFeatures), tile(Axis::hidden, hopper_whole::kChannels)},
    .numerics = {.accumulate = f32, .mma_terms = 16},
    .supports =
        [](const linear::Args& a) {
          return hopper_gemm::takes_few({&a.x, &a.weight}, a.y, a.bias.data);
        },
};

void run(const linear::Args& a, const Launch& l) {
  const hopper_gemm::AddBias epilogue{a.bias.data, static_cast<int>(a.y.shape[1])};
  hopper_whole::product<half>(a.x, a.weight, a.y, epilogue, l.stream);
}

}  // namespace assay::ROOM(linear, whole)
