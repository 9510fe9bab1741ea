// SPDX-License-Identifier: Apache-2.0
// one_pack of one dtype.
#include "cuda/layernorm_residual/one_pack.cuh"

namespace assay::ROOM(layernorm_residual, packs) {

KERNEL(layernorm_residual) = one_pack_traits({f16});

void run(const layernorm_residual::Args& a, const Launch& l) { run_one_pack<half>(a, l); }

}  // namespace assay::ROOM(layernorm_residual, packs)
