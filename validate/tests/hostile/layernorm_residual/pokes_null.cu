// SPDX-License-Identifier: Apache-2.0
// HOSTILE: writes through a null pointer on the device, which ends a CUDA context.
// Expected: failed: out_of_bounds on simt, an illegal address on a GPU.
#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, pokes_null) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  launch(poke<int>, {.grid = dim3(1), .block = dim3(1)}, l.stream, static_cast<int*>(nullptr));
}

}  // namespace assay::ROOM(layernorm_residual, pokes_null)
