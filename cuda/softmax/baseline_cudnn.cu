// SPDX-License-Identifier: Apache-2.0
// cuDNN's softmax over each row with its "accurate" algorithm, which subtracts the row's maximum first.
#include "cuda/core/kernel.cuh"
#include "cuda/core/vendor/cudnn.hpp"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, baseline_cudnn) {

Legality supports(const softmax::Args& a) { return vendor::cudnn::supports(vendor::cudnn::Softmax{a.x, a.y}); }

// Note: cuDNN does not document how it sums; assumed: at least a warp shares a row, and its exp flushes subnormals.  16-bit
// results are rounded to the dtype twice, and a row of only -inf gives zeros, not NaN.
KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .finite_inputs = true,
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kWarp, .extra = 5},
                 .stores = "exps",
                 .flushes_subnormals = true,
                 .rescales = {.lanes = kWarp, .extra = 5}},
    .available = vendor::cudnn::available,
    .supports = supports,
};

void run(const softmax::Args& a, const Launch& l) { vendor::cudnn::run(vendor::cudnn::Softmax{a.x, a.y}, l); }

}  // namespace assay::ROOM(softmax, baseline_cudnn)
