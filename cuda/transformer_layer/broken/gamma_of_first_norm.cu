// SPDX-License-Identifier: Apache-2.0
// FAULT: the second norm is scaled by the gamma of the first.
// Caught by: the bound of stage norm2, where the gammas differ.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, gamma_of_first_norm) {

struct Wrong final : Layer {
  using Layer::Layer;
  void norm_second() override { norm(parallel ? a.x : a.h, a.gamma1, a.beta2, a.norm2); }
};
KERNEL_FROM(transformer_layer, plain, Wrong);

}  // namespace assay::ROOM(transformer_layer, gamma_of_first_norm)
