// SPDX-License-Identifier: Apache-2.0
// cuDNN's softmax over each row, by its accurate algorithm: the row's maximum is subtracted first.
#include "cuda/core/kernel.cuh"
#include "cuda/core/vendor/cudnn.hpp"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, baseline_cudnn) {

Legality supports(const softmax::Args& a) { return vendor::cudnn::supports(vendor::cudnn::Softmax{a.x, a.y}); }

// Note: how the library sums is not said; that a warp shares a row at least, and that its exp flushes, is taken for granted.
// What it gives for 16 bits has been rounded to them twice, and a row of nothing but -inf gives zeros, not NaN.
KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .finite_inputs = true,
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kWarp, .extra = 5},
                 .stores_intermediate = true,
                 .flushes_subnormals = true,
                 .rescales = {.lanes = kWarp, .extra = 5}},
    .available = vendor::cudnn::available,
    .supports = supports,
};

void run(const softmax::Args& a, const Launch& l) { vendor::cudnn::run(vendor::cudnn::Softmax{a.x, a.y}, l); }

}  // namespace assay::ROOM(softmax, baseline_cudnn)
