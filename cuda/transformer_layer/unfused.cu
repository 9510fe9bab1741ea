// SPDX-License-Identifier: Apache-2.0
// One kernel per step, as a framework runs the block: norms, every projection, scores, softmax, values, activation and residuals
// all go through memory.  The baseline for `fused`; its kernels are this tree's own.
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, unfused) {

KERNEL(transformer_layer) = traits_of<Layer>();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<Layer>(a, l); }

}  // namespace assay::ROOM(transformer_layer, unfused)
