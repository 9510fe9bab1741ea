// SPDX-License-Identifier: Apache-2.0
// FAULT: gptneox in series: its second norm reads x + attn, not x.
// Caught by: the bound of stage norm2, of gptneox.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, branches_in_series) {

struct Wrong final : Layer {
  using Layer::Layer;
  void norm_second() override { norm(a.h, a.gamma2, a.beta2, a.norm2); }
};
KERNEL_FROM(transformer_layer, plain, Wrong);

}  // namespace assay::ROOM(transformer_layer, branches_in_series)
