// SPDX-License-Identifier: Apache-2.0
// The kernels of this tree for sm_90a (hopper.cuh): products and attention by wgmma and tensor copies, the residual with the norm
// after it, and gate, up and SwiGLU (or the bias and GELU) in one product.
#include "cuda/core/kernel_family.cuh"
#include "cuda/transformer_layer/hopper.cuh"

namespace assay::ROOM(transformer_layer, sm90_wgmma) {

KERNEL_FROM(transformer_layer, hopper, Hopper);

}  // namespace assay::ROOM(transformer_layer, sm90_wgmma)
