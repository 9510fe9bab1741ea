// SPDX-License-Identifier: Apache-2.0
// FAULT: 64 partial sums side by side are declared, as the tiled kernel has them; this one adds all products to one sum.
// Kind: precision
// Shows: a large first product and many small ones, each less than half an ulp of it, with hidden beyond a few hundred.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, shorter_chain_declared) {

void run(const linear::Args& a, const Launch& l) { run_plain<Plain>(a, l); }
KERNEL(linear) = declaring(plain_traits<Plain>(), {.accumulate = f32, .chain = {.lanes = 64, .extra = 6}});

}  // namespace assay::ROOM(linear, shorter_chain_declared)
