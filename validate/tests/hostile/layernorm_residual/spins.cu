// SPDX-License-Identifier: Apache-2.0
// HOSTILE: launches a thread that never ends.
// Expected: timeout.
#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, spins) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  launch(spin<char>, {.grid = dim3(1), .block = dim3(1)}, l.stream, a.gamma.as<char>());
}

}  // namespace assay::ROOM(layernorm_residual, spins)
