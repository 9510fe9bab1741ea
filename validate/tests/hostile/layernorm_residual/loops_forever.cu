// SPDX-License-Identifier: Apache-2.0
// HOSTILE: never comes back.
// Expected: timeout.
#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, loops_forever) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  for (volatile int forever = 1; forever;) {
  }
}

}  // namespace assay::ROOM(layernorm_residual, loops_forever)
